"""Signed checkpoints of a tape, for anyone who wants to check it."""

import msgspec
from sqlalchemy import Connection, select

from tapeline.store.tables.tape import checkpoints


class Checkpoint(msgspec.Struct, frozen=True):
    seq: int
    link: str
    at: float
    key_id: str
    signature: str
    """Ed25519 over the statement that docs/tape.md describes, hex."""


def listed(
    connection: Connection, tape: int, *, before: int | None, limit: int
) -> tuple[list[Checkpoint], int | None]:
    query = (
        select(checkpoints)
        .where(checkpoints.c.tape == tape)
        .order_by(checkpoints.c.seq.desc())
        .limit(limit)
    )
    if before is not None:
        query = query.where(checkpoints.c.seq < before)
    rows = connection.execute(query).all()
    found = [
        Checkpoint(row.seq, row.link.hex(), row.at, row.key_id, row.signature.hex()) for row in rows
    ]
    return found, found[-1].seq if len(found) == limit else None
