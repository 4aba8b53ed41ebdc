"""Appends all waiting events in one transaction: rows, folded state and links of the chain.

Costs are per group, not per event: one look at the tapes, one at the keys, one statement per table.
A tape's row is locked while its group is being written, so its order is total on any number of
servers.
"""

import math
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection, func, select

from tapeline.errors import NoSuchModel, Problem, WrongKey
from tapeline.ids import new_id
from tapeline.store import bulk
from tapeline.store.backends import announcing
from tapeline.store.tables.tape import checkpoints, pages
from tapeline.tape.append import permissions
from tapeline.tape.append.fold import Fold
from tapeline.tape.append.permissions import WriteRight
from tapeline.tape.append.quotas import tape_full
from tapeline.tape.events.event import Event, Submission
from tapeline.tape.events.kinds import BESIDE, PLAIN, SEALED, Kind
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.pages import paged
from tapeline.tape.proof import seals, signing_keys
from tapeline.tape.proof.signer import Hand, Signer

SIGNED_EVERY = 10.0  # seconds: a checkpoint vouches for all that came before it

UNBOUNDED = 2**62

_HEADS = """
select t.no, t.model_id, t.seq, t.link, t.counts, t.signed_at, m.project_id, t.bytes
from tapes t join models m on m.id = t.model_id where t.no in ({}) order by t.no {}
"""
_MOVE = "update tapes set seq = ?, link = ?, counts = ?, signed_at = ?, bytes = ? where no = ?"

_GROW = "update tapes set bytes = bytes + ? where no = ?"

_counts = msgspec.json.Decoder(dict[int, int])


class Head(NamedTuple):
    """Where a tape stands, and whose it is."""

    no: int
    model_id: str
    seq: int
    link: bytes
    counts: bytes
    signed_at: float
    project_id: str
    bytes: int


class Appended(msgspec.Struct, frozen=True):
    """What one group added to one model's tape, for its watchers."""

    model_id: str
    records: list[StoredEvent]


Beside = Callable[[Connection, int, Sequence[bytes]], int]
"""Stores packed events of a tape that are not on it, and returns the bytes that they take."""


class Appender:
    def __init__(
        self, signer: Signer, total: int = UNBOUNDED, beside: Beside | None = None
    ) -> None:
        self.signer = signer
        self._registered = ""
        """The key that the database is known to have."""
        self._beside = beside
        self.total = total
        """Bytes that a tape may hold."""
        self.name = new_id()
        """The name by which other servers recognise our notices."""
        self.pushed_at = -math.inf
        """When somebody last pushed events with a key, on the steady clock."""

    def append(
        self, connection: Connection, submissions: Sequence[Submission]
    ) -> tuple[list[Problem | None], list[Appended]]:
        """Store the events of every submission that may be stored; return the reason for each that
        may not."""
        if any(one.key_id is not None for one in submissions):
            self.pushed_at = time.monotonic()
        shares = [_by_tape(one.events) for one in submissions]
        heads = _locked_tapes(connection, {no for share in shares for no in share})
        rights = permissions.of_keys(
            connection, {one.key_id for one in submissions if one.key_id is not None}
        )
        refusals = [
            _refusal(one.key_id, share, heads, rights) or self._over_quota(one, share, heads)
            for one, share in zip(submissions, shares, strict=True)
        ]
        by_tape: dict[int, list[Event]] = defaultdict(list)
        beside: dict[int, list[bytes]] = defaultdict(list)
        for submission, share, refusal in zip(submissions, shares, refusals, strict=True):
            if refusal is None:
                _note_run(submission, rights)
                for no, events in share.items():
                    if on_tape := _on_the_tape(events):
                        by_tape[no] += on_tape
                if submission.prices:
                    (no,) = share  # a request is about one tape
                    beside[no] += submission.prices
        extended = [self._extend(connection, heads[no], some) for no, some in by_tape.items()]
        appended = [one for one in extended if one is not None]
        for no, packed in beside.items():
            assert self._beside is not None, "nothing was given that stores these"
            bulk.run(connection, _GROW, (self._beside(connection, no, packed), no))
        announcing.announce(connection, self.name, [one.model_id for one in appended])
        return refusals, appended

    def check(self, connection: Connection, key_id: str, tape: int) -> None:
        """Raise the error with which `append` would refuse this key on this tape."""
        known = permissions.of_keys(connection, {key_id}).get(key_id)
        head = _locked_tapes(connection, {tape}).get(tape)
        problem = WrongKey() if known is None else _on_tape(head, known)
        if problem is not None:
            raise problem

    def _over_quota(
        self, submission: Submission, tapes: Iterable[int], heads: dict[int, Head]
    ) -> Problem | None:
        """Events of the platform itself, and vital ones, are always stored."""
        if submission.key_id is None or all(heads[no].bytes < self.total for no in tapes):
            return None
        is_vital = any(event.kind.is_vital for event in submission.events)
        return None if is_vital else tape_full(self.total)

    def _extend(self, connection: Connection, head: Head, events: list[Event]) -> Appended | None:
        """One tape's share of the group: pages, fold, one link. None if all of it were retries."""
        kinds, fold = {event.kind for event in events}, None
        if kinds <= PLAIN:
            group = _plain_group(events, head.seq, kinds)
        else:
            fold = Fold(connection, head.no, events, kinds)
            group = _folded_group(events, head.seq, fold)
        records, contents, by_channel = group
        if not records:
            return None
        nonce = None
        if any(record.salt is None for record in records):
            nonce = os.urandom(seals.NONCE_BYTES)
        link = seals.link(head.link, records, contents, nonce)
        _put_link(records, by_channel, link, nonce)
        rows = [
            (head.no, channel, *page)
            for channel, some in by_channel.items()
            for page in paged(some)
        ]
        bulk.insert(connection, pages, ("tape", "channel", "first", "content"), rows)
        if fold is not None:
            fold.write()
        size = sum(len(content) for *_, content in rows) + (fold.staged if fold else 0)
        self._move_head(connection, head, records, link, size)
        return Appended(head.model_id, records)

    def _move_head(
        self, connection: Connection, head: Head, records: list[StoredEvent], link: bytes, size: int
    ) -> None:
        seq, now, signed_at = records[-1].seq, records[-1].received_at, head.signed_at
        counts = Counter(_counts.decode(head.counts))
        counts.update([record.kind for record in records])
        if now - signed_at >= SIGNED_EVERY:
            signed_at = now
            self._sign(connection, head, seq, link, now)
        moved = (seq, link, msgspec.json.encode(counts), signed_at, head.bytes + size, head.no)
        bulk.run(connection, _MOVE, moved)

    def sign_head(self, connection: Connection, no: int) -> None:
        """Sign the current end of a tape, unless its last checkpoint does so already."""
        head = _locked_tapes(connection, {no}).get(no)
        if head is None:  # deleted in the meantime
            raise NoSuchModel
        newest = select(func.max(checkpoints.c.seq)).where(checkpoints.c.tape == no)
        if head.seq > (connection.scalar(newest) or 0):
            self._sign(connection, head, head.seq, head.link, time.time())

    @property
    def is_registered(self) -> bool:
        """Whether the key that signs now is known to be published."""
        return self._registered == self.signer.key_id

    def register_keys(self, connection: Connection) -> None:
        """Store the public keys of this server, which records carry."""
        key_id = self.signer.key_id
        if self._registered != key_id and not signing_keys.register(connection, self.signer.chain):
            self._registered = key_id  # a transaction before this one stored it, and committed

    def own_hand(self, connection: Connection) -> Hand:
        """The key that signs now, once the database has it: what it signs can be checked."""
        self.signer.refresh()
        self.register_keys(connection)
        return self.signer.hand()

    def _sign(self, connection: Connection, head: Head, seq: int, link: bytes, at: float) -> None:
        self.signer.refresh()
        self.register_keys(connection)
        signed = self.signer.sign(head.model_id, seq, link, at)
        row = (head.no, seq, link, at, self.signer.key_id, signed)
        bulk.insert(
            connection, checkpoints, ("tape", "seq", "link", "at", "key_id", "signature"), [row]
        )


def _locked_tapes(connection: Connection, wanted: set[int]) -> dict[int, Head]:
    # In the order of their numbers: servers that lock several never wait for each other in a ring.
    if not wanted:
        return {}
    lock = "" if connection.dialect.name == "sqlite" else "for update of t"
    query = _HEADS.format(bulk.marks(len(wanted)), lock)
    return {row[0]: Head(*row) for row in bulk.fetch(connection, query, sorted(wanted))}


def _by_tape(events: list[Event]) -> dict[int, list[Event]]:
    if len({event.tape for event in events}) == 1:  # as those of one request are
        return {events[0].tape: events}
    found: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        found[event.tape].append(event)
    return found


def _on_the_tape(events: list[Event]) -> list[Event]:
    if not any(event.kind in BESIDE for event in events):  # as nearly always
        return events
    return [event for event in events if event.kind not in BESIDE]


def _note_run(submission: Submission, rights: dict[str, WriteRight]) -> None:
    """Events that come with a run's key belong to that run."""
    run_id = None if submission.key_id is None else rights[submission.key_id].run_id
    if run_id is not None:
        for event in submission.events:
            event.run_id = run_id


def _refusal(
    key_id: str | None, tapes: Iterable[int], heads: dict[int, Head], rights: dict[str, WriteRight]
) -> Problem | None:
    known = None if key_id is None else rights.get(key_id)
    if key_id is not None and known is None:
        return WrongKey()
    for no in tapes:
        problem = _on_tape(heads.get(no), known)
        if problem is not None:
            return problem
    return None


def _on_tape(head: Head | None, known: WriteRight | None) -> Problem | None:
    if head is None:
        return NoSuchModel()
    return None if known is None else known.refusal(head.model_id, head.project_id)


class _Group(NamedTuple):
    """A tape's part of a commit."""

    records: list[StoredEvent]
    contents: list[bytes]
    """What the chain commits to, for each event."""
    by_channel: dict[int, list[StoredEvent]]


def _plain_group(events: list[Event], seq: int, kinds: set[Kind]) -> _Group:
    """For events without folded state, as nearly all are. It makes no call per event, which would
    be most of their cost in a batch."""
    records = [
        StoredEvent(number, one.kind.number, one.time, one.received_at, one.body, one.run_id)
        for number, one in enumerate(events, seq + 1)
    ]
    by_channel = {
        kind.channel: [record for record in records if record.kind == kind.number] for kind in kinds
    }
    return _Group(records, [one.body for one in events], by_channel)


def _folded_group(events: list[Event], seq: int, fold: Fold) -> _Group:
    records, contents, by_channel = group = _Group([], [], defaultdict(list))
    # All salts of the group at once: to ask the system for each would cost as much as to seal it.
    fields = sum(len(event.fields) for event in events if event.kind in SEALED)
    salts = BytesIO(os.urandom(seals.SALT_BYTES * fields))
    for event in events:
        channel = fold.take(event, seq + 1)
        if channel is None:
            continue
        seq += 1
        kind, content, salt = event.kind, event.body, None
        if kind in SEALED:
            salt = salts.read(seals.SALT_BYTES * len(event.fields))
            content = seals.commitment(event.fields, salt)
        record = StoredEvent(
            seq, kind.number, event.time, event.received_at, event.body, event.run_id,
            event.backtest_id, salt,
        )  # fmt: skip
        records.append(record)
        contents.append(content)
        by_channel[channel].append(record)
    return group


def _put_link(
    records: list[StoredEvent],
    by_channel: dict[int, list[StoredEvent]],
    link: bytes,
    nonce: bytes | None,
) -> None:
    """On the last event of the group, wherever it is read."""
    last = records[-1]
    linked = msgspec.structs.replace(last, link=link, nonce=nonce)
    for some in (records, *by_channel.values()):
        if some[-1] is last:
            some[-1] = linked
