"""Whether the content of a database was moved to another one: two would run its models twice."""

from sqlalchemy import Connection

from tapeline.store import facts, upsert
from tapeline.store.tables.core import facts as table

NAME = "moved_to"


def mark(connection: Connection, destination: str) -> None:
    upsert.claim(connection, table, name=NAME, value=destination)


def destination(connection: Connection) -> str | None:
    return facts.get(connection, NAME)


def forget(connection: Connection) -> None:
    facts.forget(connection, NAME)
