"""The hash chain over a model's tape: any later edit, removal or insertion of an event shows.

Each event has a digest, each commit group a link over the digests since the last link. Orders and
their updates commit to every field by itself, salted, so that some can be shown and others hidden.
Pure functions; `append` writes what they make, `verify` reads it back.
"""

import struct
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

import msgspec

GENESIS = bytes(32)
SALT_BYTES = 16

_head = struct.Struct(">QQdd?").pack
_encode = msgspec.json.Encoder(order="deterministic").encode


class Record(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An event as it stands on the tape. Pages keep the fields in this order: add at the end."""

    seq: int
    kind: int
    time: float
    received_at: float
    body: bytes
    run_id: str | None = None
    backtest_id: str | None = None
    salt: bytes | None = None
    link: bytes | None = None


def digest(record: Record, fields: Mapping[str, Any] | None = None) -> bytes:
    """What the chain commits to for one event; `fields` spares decoding a body that was read."""
    if record.salt is None:
        content = record.body
    else:
        content = root(leaves(fields or msgspec.json.decode(record.body), record.salt))
    return commitment(
        record.seq,
        record.kind,
        record.time,
        record.received_at,
        record.run_id,
        record.backtest_id,
        content,
        by_field=record.salt is not None,
    )


def commitment(
    seq: int,
    kind: int,
    time: float,
    received_at: float,
    run_id: str | None,
    backtest_id: str | None,
    content: bytes,
    *,
    by_field: bool,
) -> bytes:
    """SHA-256 over number, kind and the two times, eight bytes each, big-endian, times as IEEE 754;
    one byte, 1 when the content is a root over fields and 0 when it is the body itself, so that
    neither passes for the other; the JSON of `[run_id, backtest_id]`; the content."""
    head = _head(seq, kind, time, received_at, by_field)
    if run_id is None and backtest_id is None:
        return sha256(head + b"[null,null]" + content).digest()
    return sha256(head + _encode([run_id, backtest_id]) + content).digest()


def leaves(fields: Mapping[str, Any], salt: bytes) -> dict[str, bytes]:
    """One commitment per field; without its salt a hidden value cannot be guessed."""
    return {name: leaf(name, value, field_salt(salt, name)) for name, value in fields.items()}


def leaf(name: str, value: Any, own_salt: bytes) -> bytes:
    """What whoever is shown a field with its salt recomputes."""
    return sha256(own_salt + _encode([name, value])).digest()


def field_salt(salt: bytes, name: str) -> bytes:
    """Derived, so that one field can be opened without giving away the others."""
    return sha256(salt + name.encode()).digest()


def root(committed: Mapping[str, bytes]) -> bytes:
    # Sorted by commitment, not by name: the order must not tell which field is hidden.
    return sha256(b"".join(sorted(committed.values()))).digest()


class PiecesDigest:
    """Over one long list of a backtest's result, piece by piece; the result's header keeps it."""

    def __init__(self) -> None:
        self._hash = sha256()

    def add(self, piece: int, first: int, content: bytes) -> None:
        self._hash.update(b"%d,%d," % (piece, first) + sha256(content).digest())

    def hex(self) -> str:
        return self._hash.hexdigest()


def link(previous: bytes, digests: Iterable[bytes]) -> bytes:
    return sha256(previous + b"".join(digests)).digest()


def first_break(records: Iterable[Record], head: tuple[int, bytes]) -> int | None:
    """The sequence number where a tape stops agreeing with its chain; None when it is whole.

    `head` is the last sequence number and link, as the store or a signed checkpoint has them.
    """
    previous, expected, gathered = GENESIS, 1, []
    for record in records:
        if record.seq != expected or not _is_normal(record):
            return expected
        gathered.append(digest(record))
        if record.link is not None:
            if record.link != link(previous, gathered):
                return record.seq
            previous, gathered = record.link, []
        expected += 1
    if gathered or (expected - 1, previous) != head:
        return expected
    return None


def _is_normal(record: Record) -> bool:
    """Leaves commit to values, so the body around them must be exactly what we would write."""
    if record.salt is None:
        return True
    try:
        fields = msgspec.json.decode(record.body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return _encode(fields) == record.body
