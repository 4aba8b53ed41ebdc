"""INSERT … ON CONFLICT in the dialect of the database at hand; both spell it the same."""

from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import sqlite


def insert(connection: Connection, table: Table) -> Any:
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql  # noqa: PLC0415 - start-up on SQLite stays light

        return postgresql.insert(table)
    return sqlite.insert(table)


def claim(connection: Connection, table: Table, **values: Any) -> bool:
    """Insert unless the key is taken; return whether this call inserted it.

    Another server's claim of the same key is waited for until it commits or fails. The row itself
    is returned, because SQLAlchemy reports -1 as the row count of an insert on PostgreSQL.
    """
    key = table.primary_key.columns.values()[0]
    row = insert(connection, table).values(**values).on_conflict_do_nothing().returning(key)
    return connection.execute(row).first() is not None
