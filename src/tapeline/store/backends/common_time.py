"""The wall clock by which all servers on one database agree: the database's own.

What one server writes and another compares goes by it: leases, signs of life, when a run is due.
The clock of one of their machines may be wrong. On SQLite there is one machine.
"""

import time

from sqlalchemy import Connection, func, select

from tapeline.store.backends import steady


def put_right(connection: Connection, stamp: float) -> float:
    """What this clock would have shown at a stamp of its own, had it been set then as it is now. Of
    a database on another machine nobody knows."""
    return steady.put_right(connection, stamp) if connection.dialect.name == "sqlite" else stamp


def now(connection: Connection) -> float:
    """Not that of the transaction's start."""
    if connection.dialect.name == "sqlite":
        return time.time()
    query = select(func.extract("epoch", func.clock_timestamp()))
    return float(connection.execute(query).scalar_one())
