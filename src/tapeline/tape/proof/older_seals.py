"""The first version of the hash chain: it writes nothing now, but tapes sealed by it stay valid.

Every event had a digest, and every field of an order two hashes, with a salt derived from the
order's.
"""

import struct
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import msgspec

from tapeline.tape.events.stored_event import StoredEvent

SALT_BYTES = 16  # for the whole order

_head = struct.Struct(">QQdd?").pack
_encode = msgspec.json.Encoder(order="deterministic").encode


def link(previous: bytes, group: Sequence[StoredEvent]) -> bytes:
    return chained(previous, [digest(record, content(record)) for record in group])


def chained(previous: bytes, digests: Sequence[bytes]) -> bytes:
    return sha256(previous + b"".join(digests)).digest()


def digest(record: StoredEvent, content: bytes) -> bytes:
    by_field = record.salt is not None
    head = _head(record.seq, record.kind, record.time, record.received_at, by_field)
    return sha256(head + _encode([record.run_id, record.backtest_id]) + content).digest()


def content(record: StoredEvent) -> bytes:
    return record.body if record.salt is None else _root(record.body, record.salt)


def own_salt(salt: bytes, name: str) -> bytes:
    """Of one field."""
    return sha256(salt + name.encode()).digest()


def _root(body: bytes, salt: bytes) -> bytes:
    fields = msgspec.json.decode(body, type=dict[str, Any])
    leaves = (
        sha256(own_salt(salt, name) + _encode([name, value])).digest()
        for name, value in fields.items()
    )
    return sha256(b"".join(sorted(leaves))).digest()
