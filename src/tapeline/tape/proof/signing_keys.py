"""The keys that ever signed tapes in this database, of every server: what records carry."""

from collections.abc import Iterable

import msgspec
from sqlalchemy import Connection, select

from tapeline.store import upsert
from tapeline.store.tables.tape import signing_keys
from tapeline.tape.proof.key_chain import Key


def listed(connection: Connection) -> list[Key]:
    """Each after the key before it, so that a reader can check them in one pass."""
    rows = connection.execute(
        select(signing_keys).order_by(signing_keys.c.made_at.nulls_first(), signing_keys.c.key_id)
    )
    waiting = [
        Key(row.public_key, row.made_at, row.previous, row.signature, row.acceptance)
        for row in rows
    ]
    found: list[Key] = []
    while waiting:
        have = {one.public_key for one in found}
        ready = [one for one in waiting if one.previous is None or one.previous in have]
        if not ready:  # the key before it was never stored here
            break
        found += ready
        waiting = [one for one in waiting if one not in ready]
    return found


def register(connection: Connection, keys: Iterable[Key]) -> bool:
    """Store those that are not there yet; return whether there were any."""
    known = set(connection.scalars(select(signing_keys.c.key_id)))
    new = [one for one in keys if one.key_id not in known]
    for one in new:
        upsert.claim(connection, signing_keys, key_id=one.key_id, **msgspec.structs.asdict(one))
    return bool(new)
