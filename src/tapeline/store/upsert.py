"""INSERT … ON CONFLICT in the dialect of the database at hand; both spell it the same."""

from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import sqlite


def insert(connection: Connection, table: Table) -> Any:
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql  # noqa: PLC0415 - start-up on SQLite stays light

        return postgresql.insert(table)
    return sqlite.insert(table)
