"""Statements straight to the driver, because a query builder is too slow for the hot path.

They are written with `?` for a value. On SQLite they bypass SQLAlchemy, which would cost several
times as much as SQLite itself; on PostgreSQL the network costs more than either.
"""

import sqlite3
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Any

from sqlalchemy import Connection, LargeBinary, Table
from sqlalchemy.exc import DBAPIError

from tapeline.store.portions import batches

# Rows in one statement on SQLite. One statement of many rows is not only quicker: its driver lets
# other threads run at every statement, and getting the turn back is what the writer waits for most.
PORTION = 128
SHORT = 4_096  # bytes: longer values are not copied to save a look-up

Row = tuple[Any, ...]


def run(connection: Connection, statement: str, values: Sequence[Any]) -> None:
    if connection.dialect.name == "sqlite":
        _on_sqlite(connection, statement, values)
    else:
        connection.exec_driver_sql(_for_psycopg(statement), tuple(values))


def fetch(connection: Connection, statement: str, values: Sequence[Any]) -> Sequence[Row]:
    if connection.dialect.name == "sqlite":
        return _on_sqlite(connection, statement, values).fetchall()
    found = connection.exec_driver_sql(_for_psycopg(statement), tuple(values))
    return [tuple(row) for row in found]


def marks(count: int) -> str:
    """Places for so many values: `?, ?, ?`."""
    return ", ".join(["?"] * count)


def insert(
    connection: Connection,
    table: Table,
    columns: tuple[str, ...],
    rows: Sequence[Row],
    *,
    replace: tuple[str, ...] = (),
    keep: bool = False,
) -> None:
    """Insert rows; rows whose primary key exists get the columns in `replace` updated.

    With `keep` they stay as they are, and no page of the database is written for them.
    """
    if not rows:
        return
    if connection.dialect.name != "sqlite":
        statement = _for_psycopg(_insertion(table, columns, replace, 1, keep))
        connection.exec_driver_sql(statement, list(rows))
        return
    binary = _binary_places(table, columns)
    for some in batches(rows, PORTION):
        values = list(chain.from_iterable(some))
        for place in binary:
            values[place :: len(columns)] = map(_bindable, values[place :: len(columns)])
        _on_sqlite(connection, _insertion(table, columns, replace, len(some), keep), values)


@cache
def _insertion(
    table: Table, columns: tuple[str, ...], replace: tuple[str, ...], rows: int, keep: bool
) -> str:
    names = ", ".join(f'"{name}"' for name in columns)
    places = ", ".join([f"({marks(len(columns))})"] * rows)
    keys = ", ".join(f'"{column.name}"' for column in table.primary_key)
    changes = ", ".join(f'"{name}" = excluded."{name}"' for name in replace)
    conflict = f" on conflict ({keys}) do update set {changes}" if replace else ""
    conflict = " on conflict do nothing" if keep else conflict
    return f'insert into "{table.name}" ({names}) values {places}{conflict}'  # noqa: S608


@cache
def _binary_places(table: Table, columns: tuple[str, ...]) -> list[int]:
    return [at for at, name in enumerate(columns) if isinstance(table.c[name].type, LargeBinary)]


def _bindable(value: bytes | None) -> bytes | bytearray | None:
    # For each `bytes` SQLite's driver looks for somebody to adapt it, which takes longer than to
    # insert a row. A `bytearray` it takes as it is.
    return bytearray(value) if value is not None and len(value) < SHORT else value


def _on_sqlite(connection: Connection, statement: str, values: Sequence[Any]) -> sqlite3.Cursor:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    try:
        return driver.execute(statement, values)
    except sqlite3.Error as error:
        # As SQLAlchemy raises it, so that one place judges all failures.
        raise DBAPIError.instance(
            statement, None, error, sqlite3.Error, hide_parameters=True, dialect=connection.dialect
        ) from error


@cache
def _for_psycopg(statement: str) -> str:
    return statement.replace("?", "%s")
