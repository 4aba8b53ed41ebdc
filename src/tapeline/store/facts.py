"""Small facts about this installation, one row each."""

import time

from sqlalchemy import ColumnElement, Connection, delete, select

from tapeline.store import upsert
from tapeline.store.tables.core import facts

PASSING = "now:"
"""Facts whose names begin like this say what is so at the moment. A server that starts writes them
again, so they neither move with a database nor make it one that is in use."""


def claim(connection: Connection, name: str, value: str) -> bool:
    """Set a fact that can be set once; False for everyone who comes later, on any server."""
    return upsert.claim(connection, facts, name=name, value=value)


def get(connection: Connection, name: str) -> str | None:
    value: str | None = connection.scalar(select(facts.c.value).where(facts.c.name == name))
    return value


def get_all(connection: Connection, names: list[str]) -> dict[str, str]:
    rows = connection.execute(select(facts.c.name, facts.c.value).where(facts.c.name.in_(names)))
    return {row.name: row.value for row in rows}


def beginning_with(connection: Connection, prefix: str) -> list[str]:
    """Their names."""
    query = select(facts.c.name).where(facts.c.name.startswith(prefix, autoescape=True))
    return list(connection.scalars(query))


def is_claimed(connection: Connection, name: str) -> bool:
    return connection.scalar(select(facts.c.name).where(facts.c.name == name)) is not None


def forget(connection: Connection, name: str) -> None:
    connection.execute(delete(facts).where(facts.c.name == name))


def is_lasting() -> ColumnElement[bool]:
    return ~facts.c.name.startswith(PASSING)


def forget_passing(connection: Connection) -> None:
    connection.execute(delete(facts).where(~is_lasting()))


def prove_writable(connection: Connection) -> None:
    """A real write, so that a store that takes none is noticed before a user notices it."""
    put(connection, "ready_at", str(time.time()))


def put(connection: Connection, name: str, value: str) -> None:
    """Set a fact that changes."""
    insert = upsert.insert(connection, facts).values(name=name, value=value)
    connection.execute(
        insert.on_conflict_do_update(index_elements=["name"], set_={"value": insert.excluded.value})
    )
