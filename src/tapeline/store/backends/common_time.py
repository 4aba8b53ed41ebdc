"""The wall clock by which all servers on one database agree: the database's own.

What one server writes and another compares goes by it: leases, signs of life, when a run is due.
The clock of one of their machines may be wrong. On SQLite there is one machine.
"""

import time

from sqlalchemy import Connection, func, select


def now(connection: Connection) -> float:
    """Not that of the transaction's start."""
    if connection.dialect.name == "sqlite":
        return time.time()
    query = select(func.extract("epoch", func.clock_timestamp()))
    return float(connection.execute(query).scalar_one())
