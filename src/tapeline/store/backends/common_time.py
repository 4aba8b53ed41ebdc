"""The wall clock by which all servers on one database agree: the database's own.

What one server writes and another compares goes by it: leases, signs of life, when a run is due.
The clock of one of their machines may be wrong. On SQLite there is one machine.
"""

import time

from sqlalchemy import Connection, func, select

from tapeline.store.backends import steady


def ahead(connection: Connection) -> float:
    """How far it is ahead of a clock that does not jump. Of a database on another machine nobody
    knows."""
    return steady.clock_of(connection).ahead if connection.dialect.name == "sqlite" else 0.0


def put_right(connection: Connection, stamp: float) -> float:
    """What it would have shown at a stamp of its own, had it been set then as it is now. Not to be
    kept."""
    return steady.put_right(connection, stamp) if connection.dialect.name == "sqlite" else stamp


def steadily(connection: Connection) -> float:
    """That clock."""
    return (
        steady.with_pauses(connection) if connection.dialect.name == "sqlite" else now(connection)
    )


def now(connection: Connection) -> float:
    """Not that of the transaction's start."""
    if connection.dialect.name == "sqlite":
        return time.time()
    query = select(func.extract("epoch", func.clock_timestamp()))
    return float(connection.execute(query).scalar_one())
