"""Small facts about this installation, one row each."""

import time

from sqlalchemy import Connection

from tapeline.store import upsert
from tapeline.store.tables import facts


def claim(connection: Connection, name: str, value: str) -> bool:
    """Set a fact that can be set once; False for everyone who comes later, on any server."""
    insert = upsert.insert(connection, facts).values(name=name, value=value)
    return bool(connection.execute(insert.on_conflict_do_nothing()).rowcount)


def prove_writable(connection: Connection) -> None:
    """A real write, so that a full or read-only disk is noticed before a user notices it."""
    insert = upsert.insert(connection, facts).values(name="ready_at", value=str(time.time()))
    connection.execute(
        insert.on_conflict_do_update(index_elements=["name"], set_={"value": insert.excluded.value})
    )
