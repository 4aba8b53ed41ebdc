"""Checks a record offline: the chain, the signatures, the lists of results. No store here.

It proves that nothing was edited, removed or inserted since it was signed, and it also says what it
cannot prove.
"""

import base64
import binascii
import struct
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

import msgspec

from tapeline.tape.backtest_results import result_format
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.lateness import DATED, late_by
from tapeline.tape.proof import older_seals, seals
from tapeline.tape.proof.checkpoints import Checkpoint
from tapeline.tape.proof.seals import GENESIS
from tapeline.tape.proof.signer import is_signed, statement

LATE_AFTER = 300.0  # seconds

_NUMBERS = {kind.name: kind.number for kind in kinds.KINDS}


class Broken(Exception):
    """Where a record differs from what was signed."""

    def __init__(self, seq: int, reason: str) -> None:
        super().__init__(reason)
        self.seq = seq
        self.reason = reason


class Late(msgspec.Struct, frozen=True):
    seq: int
    seconds: float
    kind: str = ""


class Change(msgspec.Struct, frozen=True):
    """Of how positions are kept or of the capital: by the model's owner, or at an upgrade."""

    seq: int
    received_at: float
    fields: dict[str, Any]
    """As far as they are shown."""


class Checked(msgspec.Struct, kw_only=True):
    """The result of checking a record."""

    model_id: str = ""
    key_id: str = ""
    public_key: str = ""
    events: int = 0
    hidden: int = 0
    """Events that are hidden completely."""
    partly: int = 0
    """Orders with hidden fields."""
    removed: dict[str, int] = {}
    """Events that the server says its retention removed, by kind."""
    removed_until: float = 0.0
    """When the newest of them was received."""
    lists: int = 0
    """Long lists of results whose digests match."""
    first: Checkpoint | None = None
    last: Checkpoint | None = None
    late: list[Late] = []
    """Orders, prices, cash and positions that arrived long after their own time."""
    replaced: list[int] = []
    """Cash that replaced other cash, as far as its ids are shown."""
    changes: list[Change] = []
    broken_at: int | None = None
    """The first event that differs from what was signed."""
    reason: str | None = None

    @property
    def is_whole(self) -> bool:
        return self.reason is None


class _Line(msgspec.Struct, kw_only=True):
    tapeline: str | None = None
    version: int | None = None
    model_id: str = ""
    public_key: str = ""
    key_id: str = ""
    seq: int = 0
    kind: str | None = None
    time: float = 0.0
    received_at: float = 0.0
    run_id: str | None = None
    backtest_id: str | None = None
    body: msgspec.Raw = msgspec.Raw()
    blind: str | None = None
    fields: dict[str, tuple[Any, str]] | None = None
    hidden: list[str] = []
    until: int | None = None
    digest: str | None = None
    removed: dict[str, int] | None = None
    link: str | None = None
    rule: int = 0
    checkpoint: Checkpoint | None = None
    list: str | None = None
    piece: int = 0
    first: int = 0
    items: msgspec.Raw = msgspec.Raw()
    sealed: str | None = None


_line = msgspec.json.Decoder(_Line)


def check(
    lines: Iterable[bytes], late_after: float = LATE_AFTER, earlier: Checked | None = None
) -> Checked:
    """Check a record from its first line to its last. It must contain everything that was signed in
    `earlier`, a record of the same tape."""
    reader = _Reader(late_after, earlier)
    found = reader.found
    try:
        for number, text in enumerate(lines, 1):
            if not text.strip():
                continue
            try:
                line = _line.decode(text)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                raise Broken(reader.next, f"Line {number} cannot be read.") from None
            try:
                reader.take(line)
            except (
                ValueError,
                binascii.Error,
                KeyError,
                OverflowError,
                msgspec.MsgspecError,
            ):
                raise Broken(reader.next, f"Line {number} is not a line of a record.") from None
        reader.end()
    except Broken as broken:
        found.broken_at, found.reason = broken.seq, broken.reason
    return found


class _Reader:
    def __init__(self, late_after: float, earlier: Checked | None) -> None:
        self.found = Checked()
        self.next = 1
        self._earlier = earlier
        self._awaited = None if earlier is None else earlier.last
        self._late_after = late_after
        self._previous = GENESIS
        self._key = b""
        self._claimed: int | None = None
        self._group: list[tuple[_Line, StoredEvent | None, bytes]] = []
        self._cash: set[str] = set()
        self._results: dict[int, dict[str, str]] = {}
        self._lists: dict[tuple[int, str], tuple[seals.PiecesDigest, int]] = {}

    def take(self, line: _Line) -> None:
        if self._claimed is None:
            self._begin(line)
        elif line.checkpoint is not None:
            self._take_checkpoint(line.checkpoint)
        elif line.list is not None:
            self._take_list(line)
        elif line.link is not None:
            self._close(line)
        else:
            self._take_event(line)

    def end(self) -> None:
        if self._claimed is None:
            raise Broken(1, "The file is empty.")
        if self._group or self.next - 1 != self._claimed:
            raise Broken(self.next, f"It should go to event {self._claimed}, but ends before.")
        if self._awaited is not None:
            raise Broken(
                self.next,
                f"The earlier record goes to event {self._awaited.seq}; this one does not.",
            )
        for (seq, name), (digest, _) in self._lists.items():
            if self._results[seq].get(name) != digest.hex():
                raise Broken(seq, f"The list {name} of the result is not what was signed.")
            self.found.lists += 1

    def _begin(self, line: _Line) -> None:
        if line.tapeline != "record" or line.version != 1:
            raise Broken(1, "This is not a record of Tapeline that this version can check.")
        self._claimed, self._key = line.seq, bytes.fromhex(line.public_key)
        if not line.model_id or len(self._key) != 32:
            raise Broken(1, "The first line does not name the model and the key that signs.")
        found = self.found
        found.model_id, found.key_id = line.model_id, line.key_id
        found.public_key = line.public_key
        kept = self._earlier
        if kept is not None and (kept.model_id, kept.public_key) != (
            found.model_id,
            found.public_key,
        ):
            raise Broken(1, "The two records are of different models or signed by different keys.")

    def _take_event(self, line: _Line) -> None:
        if line.seq != self.next:
            raise Broken(self.next, f"Event {self.next} is missing.")
        if line.digest is not None:
            until = line.seq if line.until is None else line.until
            if until < line.seq:
                raise ValueError
            self._group.append((line, None, bytes.fromhex(line.digest)))
            if line.removed is None:
                self.found.hidden += until - line.seq + 1
            else:
                self._note_removed(line)
            self.next = until + 1
            return
        record, content = _understood(line)
        self._group.append((line, record, content))
        self.found.partly += bool(line.hidden)
        self._note_times(line, record)
        if record.kind == kinds.ACCOUNT_SETTINGS.number:
            shown = {name: value for name, (value, _) in (line.fields or {}).items()}
            self.found.changes.append(Change(record.seq, record.received_at, shown))
        if record.kind == kinds.BACKTEST_RESULT.number:
            self._results[record.seq] = msgspec.json.decode(record.body)["digests"]
        self.next += 1

    def _note_times(self, line: _Line, record: StoredEvent) -> None:
        """What counts at another time than it arrived at, and cash that replaced other cash."""
        late = late_by(record.time, record.received_at, self._late_after)
        if late is not None and record.kind in DATED:
            self.found.late.append(Late(record.seq, late, line.kind or ""))
        cash_id, _ = (line.fields or {}).get("id", (None, ""))
        if record.kind == kinds.CASH.number and isinstance(cash_id, str):
            if cash_id in self._cash:
                self.found.replaced.append(record.seq)
            self._cash.add(cash_id)

    def _note_removed(self, line: _Line) -> None:
        if sum((line.removed or {}).values()) != (line.until or line.seq) - line.seq + 1:
            raise ValueError
        for kind, count in (line.removed or {}).items():
            self.found.removed[kind] = self.found.removed.get(kind, 0) + count
        self.found.removed_until = max(self.found.removed_until, line.received_at)

    def _close(self, line: _Line) -> None:
        """At the end of a group: check that its link follows from its events."""
        if not self._group or line.seq != self.next - 1:
            raise Broken(self.next, "A link stands where no group of events ends.")
        digests = _older_digests(self._group) if line.rule == 1 else _digests(self._group)
        if line.rule == 1:
            link = older_seals.chained(self._previous, digests)
        else:
            link = seals.chained(self._previous, digests, is_blind=line.rule == 3)
        if link.hex() != line.link:
            first = self._group[0][0].seq
            where = f"event {first}" if first == line.seq else f"events {first} to {line.seq}"
            raise Broken(first, f"The chain breaks at {where}: something there was changed.")
        self._previous, self._group = link, []
        self.found.events = line.seq
        if self._awaited is not None and self._awaited.seq == line.seq:
            if self._awaited.link != line.link:
                raise Broken(
                    line.seq, f"Up to event {line.seq} it differs from the earlier record."
                )
            self._awaited = None

    def _take_checkpoint(self, one: Checkpoint) -> None:
        if self._group or one.seq != self.next - 1 or one.link != self._previous.hex():
            raise Broken(one.seq, f"The checkpoint at event {one.seq} belongs to another tape.")
        signed = statement(self.found.model_id, one.seq, self._previous, one.at)
        if not is_signed(self._key, bytes.fromhex(one.signature), signed):
            raise Broken(one.seq, f"The signature at event {one.seq} is not of this key.")
        self.found.first = self.found.first or one
        self.found.last = one

    def _take_list(self, line: _Line) -> None:
        name = line.list or ""
        if line.seq not in self._results or name not in self._results[line.seq]:
            raise Broken(line.seq, f"There is a list {name} that no result speaks of.")
        digest, piece = self._lists.get((line.seq, name), (seals.PiecesDigest(), 0))
        if line.piece != piece:
            raise Broken(line.seq, f"A piece of the list {name} is missing.")
        items = _as_sealed(line)
        if name not in {"account_values", "trades"}:
            items = _doubles(msgspec.json.decode(items, type=list[dict[str, float | None]]))
        digest.add(line.piece, line.first, items)
        self._lists[line.seq, name] = (digest, piece + 1)


def _as_sealed(line: _Line) -> bytes:
    """The bytes of a list's piece that its digest was made of."""
    items = bytes(line.items)
    if line.sealed is None:
        return items
    sealed = base64.b64decode(line.sealed, validate=True)
    if result_format.compacted(sealed) != items:
        raise Broken(line.seq, f"The list {line.list} shows something else than what was signed.")
    return sealed


def _understood(line: _Line) -> tuple[StoredEvent, bytes]:
    """The event of a line, and what the chain commits to of it."""
    is_order = line.fields is not None
    record = StoredEvent(
        line.seq,
        _NUMBERS[line.kind or ""],
        line.time,
        line.received_at,
        bytes(line.body),
        line.run_id,
        line.backtest_id,
        b"" if is_order else None,
    )
    if line.fields is None:
        return record, record.body
    leaves = {
        name: seals.leaf(name, value, base64.b64decode(salt, validate=True))
        for name, (value, salt) in line.fields.items()
    }
    rest = {f"\0{place}": bytes.fromhex(one) for place, one in enumerate(line.hidden)}
    return record, seals.root(leaves | rest)


def _digests(group: list[tuple[_Line, StoredEvent | None, bytes]]) -> list[bytes]:
    digests: list[bytes] = []
    run: list[bytes] = []
    for line, record, content in group:
        if record is not None and record.salt is None:
            if not run:
                run = [bytes.fromhex(line.blind or "")]
            run.append(seals.frame(record, content))
            continue
        if run:
            digests.append(sha256(b"".join(run)).digest())
            run = []
        is_hidden = record is None
        digests.append(content if is_hidden else sha256(_framed(record, content)).digest())
    if run:
        digests.append(sha256(b"".join(run)).digest())
    return digests


def _framed(record: StoredEvent | None, content: bytes) -> bytes:
    assert record is not None
    return seals.frame(record, content)


def _older_digests(group: list[tuple[_Line, StoredEvent | None, bytes]]) -> list[bytes]:
    return [
        content if record is None else older_seals.digest(record, content)
        for _, record, content in group
    ]


def _doubles(items: list[dict[str, float | None]]) -> bytes:
    nan = float("nan")
    doubles = [one["time"] or 0.0 for one in items]
    doubles += [nan if (value := one["value"]) is None else value for one in items]
    return struct.pack(f"<{len(doubles)}d", *doubles)
