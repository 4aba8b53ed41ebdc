"""Copies everything from one database to another, and checks that it arrived unchanged. The old one
is marked: two with the same content would run its models twice.

Rows are compared by a digest that does not depend on their order, because databases sort texts
differently. All of it happens in one transaction of the target: it gets everything, or nothing.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

import msgspec
from sqlalchemy import (
    JSON,
    Connection,
    Table,
    Text,
    cast,
    delete,
    func,
    inspect,
    select,
    text,
    true,
)

from tapeline.errors import CannotMove
from tapeline.store import bulk, facts, tables
from tapeline.store.tables.core import metadata
from tapeline.store.tables.runs import hosts
from tapeline.store.tables.tape import signing_keys

for part in pkgutil.iter_modules(tables.__path__):  # for the tables they add to the metadata
    importlib.import_module(f"{tables.__name__}.{part.name}")

SAID_AT_START = (signing_keys, hosts)
"""What a server that only started has noted: which key it has and where it runs."""
AT_ONCE = 500  # rows
MOVED_TO = "moved_to"
_LARGE = 1 << 256

Row = tuple[Any, ...]
Told = Callable[[str, int], None]


class Tally(msgspec.Struct, frozen=True):
    """What a table holds: how many rows, and a digest over all of them in any order."""

    rows: int = 0
    digest: int = 0

    def plus(self, rows: list[Row]) -> "Tally":
        added = sum(int.from_bytes(sha256(_text(row)).digest()) for row in rows)
        return Tally(self.rows + len(rows), (self.digest + added) % _LARGE)


def mark(connection: Connection, destination: str) -> None:
    """Remember in the old database where its content is now."""
    facts.claim(connection, MOVED_TO, destination)


def destination(connection: Connection) -> str | None:
    return facts.get(connection, MOVED_TO)


def forget(connection: Connection) -> None:
    facts.forget(connection, MOVED_TO)


def refuse_if_used(target: Connection) -> None:
    """A target must be empty: rows of two installations cannot be told apart afterwards."""
    for table in _tables(target):
        if table in SAID_AT_START:
            continue
        lasting = facts.is_lasting() if table.name == "facts" else true()
        if target.scalar(select(func.count()).select_from(table).where(lasting)):
            raise CannotMove(
                f"The new database is not empty: its table {table.name} has rows."
                " Give an empty one."
            )


def copy(source: Connection, target: Connection, told: Told) -> dict[str, Tally]:
    """Copy all tables; return what each one held when it was read."""
    facts.forget_passing(target)
    for table in SAID_AT_START:
        target.execute(delete(table))
    copied: dict[str, Tally] = {}
    for table in _tables(source):
        tally = Tally()
        for rows in _rows(source, table):
            _insert(target, table, rows)
            tally = tally.plus(rows)
        copied[table.name] = tally
        if tally.rows:
            told(table.name, tally.rows)
    for table in metadata.sorted_tables:
        _carry_on_numbering(source, target, table)
    return copied


def compare(target: Connection, copied: dict[str, Tally]) -> None:
    """Read everything again where it is now."""
    for table in _tables(target):
        tally = Tally()
        for rows in _rows(target, table):
            tally = tally.plus(rows)
        if tally != copied[table.name]:
            raise CannotMove(
                f"The table {table.name} changed while it was copied; nothing was kept."
                " Stop whatever else writes to either database, and try again."
            )


def _text(row: Row) -> bytes:
    # SQLite knows no negative zero.
    same = [value + 0.0 if isinstance(value, float) else value for value in row]
    return repr(same).encode()


def _tables(connection: Connection) -> list[Table]:
    """All tables, referenced ones first. An unknown table is an error, because its rows would be
    lost."""
    known = metadata.sorted_tables
    odd = set(inspect(connection).get_table_names()) ^ {table.name for table in known}
    if odd - {"alembic_version"}:
        raise CannotMove(f"These tables are unknown or missing: {', '.join(sorted(odd))}.")
    return known


def _rows(connection: Connection, table: Table) -> Iterator[list[Row]]:
    # JSON as the text it is: the null of JSON and the one of SQL are two things, and stay so.
    columns = [
        cast(column, Text).label(column.name) if isinstance(column.type, JSON) else column
        for column in table.columns
    ]
    found = connection.execute(
        select(*columns), execution_options={"stream_results": True, "max_row_buffer": AT_ONCE}
    )
    for some in found.partitions(AT_ONCE):
        yield [tuple(row) for row in some]


def _insert(target: Connection, table: Table, rows: list[Row]) -> None:
    if target.dialect.name == "sqlite":
        bulk.insert(target, table, tuple(column.name for column in table.columns), rows)
        return
    from tapeline.store.backends import postgres  # noqa: PLC0415 - SQLite stays light

    postgres.copy_rows(target, table, rows)


def _carry_on_numbering(source: Connection, target: Connection, table: Table) -> None:
    """A number that was used once is not used again, even if its row is gone."""
    numbered = [column.name for column in table.columns if column.autoincrement is True]
    for column in numbered:
        last = _last_number(source, table.name, column)
        if last is None:
            continue
        this = {"table": table.name, "column": column, "last": last}
        if target.dialect.name == "sqlite":
            target.execute(text("delete from sqlite_sequence where name = :table"), this)
            target.execute(text("insert into sqlite_sequence values (:table, :last)"), this)
        else:
            target.execute(
                text("select setval(pg_get_serial_sequence(:table, :column), :last)"), this
            )


def _last_number(source: Connection, table: str, column: str) -> int | None:
    """None when there never was one."""
    if source.dialect.name == "sqlite":
        query, this = "select seq from sqlite_sequence where name = :table", {"table": table}
    else:
        query = (
            "select pg_sequence_last_value(cast(pg_get_serial_sequence(:table, :column) as"
            " regclass))"
        )
        this = {"table": table, "column": column}
    last = source.scalar(text(query), this)
    return None if last is None else int(last)
