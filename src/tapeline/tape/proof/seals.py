"""The hash chain over a model's tape: any later edit, removal or insertion of an event shows.

Each commit group has a link over the digests of its events. Consecutive plain events share a
digest, blinded by the group's nonce; orders, prices and events about the account have their own,
which commits to every field separately, with a salt, so that some can be shown and others hidden.
Pure functions: `append` writes their results, `verify` reads them back.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import count, islice
from typing import Any

import msgspec

from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof import older_seals, removed

GENESIS = bytes(32)
SALT_BYTES = 16  # for each field
NONCE_BYTES = 16  # for each group
PORTION = 4_000  # records checked at once

_RULE = b"tapeline 2"  # what is hashed by this rule was never hashed by the older one
_BLIND_RULE = b"tapeline 3"  # the same, for groups with plain events, which have a nonce
_NO_IDS = b"[null,null]"
_frame = struct.Struct(">QQdd?Q").pack
_bare_frame = struct.Struct(f">QQdd?Q{len(_NO_IDS)}s").pack
_encode = msgspec.json.Encoder(order="deterministic").encode


def link(
    previous: bytes,
    records: Sequence[StoredEvent],
    contents: Sequence[bytes],
    nonce: bytes | None = None,
) -> bytes:
    """Over a group of records; the content of one is its body, or with a salt its root."""
    apart = [place for place, one in enumerate(records) if one.salt is not None or not one.kind]
    if not apart:
        return chained(previous, [digest_of_run(frames(records), nonce, 0)], is_blind=bool(nonce))
    digests: list[bytes] = []
    runs, start = count(), 0  # of plain ones: hashed in one go, which is much quicker
    for place in apart:
        if start < place:
            digests.append(digest_of_run(frames(records[start:place]), nonce, next(runs)))
        if records[place].kind == removed.KIND:
            digests.append(records[place].body)
            next(runs)
        else:
            digests.append(sha256(frame(records[place], contents[place])).digest())
        start = place + 1
    if start < len(records):
        digests.append(digest_of_run(frames(records[start:]), nonce, next(runs)))
    is_blind = nonce is not None or records[-1].kind == removed.KIND
    return chained(previous, digests, is_blind=is_blind)


def frame(record: StoredEvent, content: bytes) -> bytes:
    """Everything of one event that the chain commits to, with its content."""
    head = _frame(
        record.seq,
        record.kind,
        record.time,
        record.received_at,
        record.salt is not None,
        len(content),
    )
    if record.run_id is None and record.backtest_id is None:
        return head + _NO_IDS + content
    return head + _encode([record.run_id, record.backtest_id]) + content


def frames(plain: Iterable[StoredEvent]) -> list[bytes]:
    """The same for events without a salt, whose content is their body. In one go, because batches
    consist of them."""
    return [
        (
            _bare_frame(one.seq, one.kind, one.time, one.received_at, False, len(body), _NO_IDS)
            if one.run_id is None and one.backtest_id is None
            else _frame(one.seq, one.kind, one.time, one.received_at, False, len(body))
            + _encode([one.run_id, one.backtest_id])
        )
        + body
        for one in plain
        for body in [one.body]
    ]


def digest_of_run(frames: Iterable[bytes], nonce: bytes | None, number: int) -> bytes:
    """The digest of consecutive plain events. Without the blind, anyone who knows the digest of a
    hidden run could try symbols and prices until they match."""
    blinded = b"" if nonce is None else blind(nonce, number)
    return sha256(blinded + b"".join(frames)).digest()


def blind(nonce: bytes, number: int) -> bytes:
    """Of the group's run of this number, counted from zero: one can be opened without others."""
    return sha256(nonce + number.to_bytes(8)).digest()


def chained(previous: bytes, digests: Iterable[bytes], *, is_blind: bool) -> bytes:
    rule = _BLIND_RULE if is_blind else _RULE
    return sha256(rule + previous + b"".join(digests)).digest()


def commitment(fields: Mapping[str, Any], salt: bytes) -> bytes:
    """The root over the leaves of all fields, with nothing hidden. Every order and every price pays
    for it, so it is written out instead of using `leaf` and `salts`: half the calls."""
    committed, start = [], 0
    for name in sorted(fields):
        end = start + SALT_BYTES
        committed.append(sha256(salt[start:end] + _encode((name, fields[name]))).digest())
        start = end
    return _root(committed)


def content(record: StoredEvent) -> bytes:
    """What the chain commits to in addition to an event's number, kind, times and ids."""
    if record.salt is None:
        return record.body
    return commitment(msgspec.json.decode(record.body), record.salt)


def leaves(fields: Mapping[str, Any], salt: bytes) -> dict[str, bytes]:
    """One commitment per field; without its salt a hidden value cannot be guessed."""
    return {name: leaf(name, fields[name], own) for name, own in salts(fields, salt)}


def leaf(name: str, value: Any, own_salt: bytes) -> bytes:
    """The leaf that a reader recomputes from a shown field and its salt."""
    return sha256(own_salt + _encode((name, value))).digest()


def salts(fields: Iterable[str], salt: bytes) -> Iterator[tuple[str, bytes]]:
    """A piece of the salt for each field, in the order of their names: one can be opened without
    giving away the others."""
    for start, name in zip(count(0, SALT_BYTES), sorted(fields), strict=False):
        yield name, salt[start : start + SALT_BYTES]


def root(committed: Mapping[str, bytes]) -> bytes:
    return _root(list(committed.values()))


def _root(committed: list[bytes]) -> bytes:
    # Sorted by commitment, not by name: the order must not tell which field is hidden.
    committed.sort()
    return sha256(b"".join(committed)).digest()


class PiecesDigest:
    """Over one long list of a backtest's result, piece by piece; the result's header keeps it."""

    def __init__(self) -> None:
        self._hash = sha256()

    def add(self, piece: int, first: int, content: bytes) -> None:
        self._hash.update(b"%d,%d," % (piece, first) + sha256(content).digest())

    def hex(self) -> str:
        return self._hash.hexdigest()


def first_break(records: Iterable[StoredEvent], head: tuple[int, bytes]) -> int | None:
    """The sequence number where a tape stops agreeing with its chain; None when it is whole.

    `head` is the last sequence number and link, as the store or a signed checkpoint has them.
    """
    previous, expected = GENESIS, 1
    begun: Sequence[StoredEvent] = []  # the group that is not complete yet
    reading = iter(records)
    while portion := list(islice(reading, PORTION)):
        ordered, following = _in_order(portion, expected)
        groups, size = removed.grouped(found := [*begun, *ordered])
        for group in groups:
            link = _linked(previous, group)
            if link is None:
                return group[-1].seq
            previous = link
        if len(ordered) < len(portion):
            return following
        begun, expected = found[size:], following
    if begun or (expected - 1, previous) != head:
        return expected
    return None


def _in_order(portion: Sequence[StoredEvent], first: int) -> tuple[Sequence[StoredEvent], int]:
    """The records before the first gap, and the number that follows them."""
    end = first + len(portion)
    if [one.seq for one in portion if one.kind] == list(range(first, end)):
        return portion, end
    for place, one in enumerate(portion):
        if one.seq != first:
            return portion[:place], first
        first = removed.last(one) + 1
    return portion, first


def _linked(previous: bytes, group: Sequence[StoredEvent]) -> bytes | None:
    """The link of a group; None if it is not the one that was stored."""
    last = group[-1]
    if not all(map(_is_normal, [one for one in group if one.salt is not None])):
        return None
    if [one for one in group if one.nonce is not None and one is not last]:
        return None
    contents = [one.body if one.salt is None else content(one) for one in group]
    found = link(previous, group, contents, last.nonce)
    if last.link in (found, None):  # without one, the next link or the head shows whether it fits
        return found
    is_older = last.nonce is None and older_seals.link(previous, group) == last.link
    return last.link if is_older else None


def _is_normal(record: StoredEvent) -> bool:
    """Leaves commit to values, so the body must be exactly what we would write."""
    try:
        fields = msgspec.json.decode(record.body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    wanted = (SALT_BYTES * len(fields), older_seals.SALT_BYTES)
    return _encode(fields) == record.body and len(record.salt or b"") in wanted
