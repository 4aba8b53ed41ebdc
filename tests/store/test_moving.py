"""Moving to another database: every row of every table, the numbers that come next, or nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Connection,
    Double,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    func,
    insert,
    null,
    select,
)

from tapeline import compose
from tapeline.errors import CannotMove
from tapeline.ids import new_id
from tapeline.settings import Settings
from tapeline.store import moving
from tapeline.store.store import Store
from tapeline.store.tables import core
from tapeline.store.tables.core import metadata
from tests.conftest import database_url, run_sql

ROWS = 3
Empty = Callable[[str], Settings]


@pytest.fixture
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Empty:
    """Settings of an empty database of either kind."""

    def make(kind: str) -> Settings:
        data = tmp_path / new_id()
        data.mkdir(mode=0o700)
        if kind == "sqlite":
            return Settings(data=data)
        server: str = request.getfixturevalue("postgres_server")
        name = f"t_{new_id()}"
        run_sql(server, f"create database {name}")
        return Settings(data=data, database=database_url(server, name))

    return make


def value_of(column: Column[Any], row: int) -> Any:  # noqa: PLR0911 - a line for each type
    """Something for any column: what is awkward between two databases, most of all."""
    if column.foreign_keys:
        (key,) = column.foreign_keys
        return f"{key.column.table.name}-{row}"
    if column.nullable and row == 1:
        return null()
    if isinstance(column.type, JSON):
        return [{"a": [1, 2.5, "ü"], "b": None}, {}, None][row]
    if isinstance(column.type, Boolean):
        return row == 0
    if isinstance(column.type, LargeBinary):
        return [b"\x00\xff'\"\\", b"", bytes(range(256))][row]
    if isinstance(column.type, Double):
        return [0.1 + 0.2, -0.0, 1e300][row]
    if isinstance(column.type, Integer):
        largest = 30_000 if isinstance(column.type, SmallInteger) else 2_000_000_000
        return [1, 2, largest][row] if column.primary_key else row
    return f"{column.table.name}-{row}" if column.name == "id" else f'Zoë\'s "{row}" %s ?\\'


def fill(connection: Connection) -> None:
    for table in metadata.sorted_tables:
        for row in range(ROWS):
            values = {column.name: value_of(column, row) for column in table.columns}
            connection.execute(insert(table).values(values))


def everything(connection: Connection, table: Table) -> set[str]:
    """As texts; SQLite knows no negative zero."""
    return {repr(tuple(row)).replace("-0.0", "0.0") for row in connection.execute(select(table))}


def moved(source: Store, target: Store) -> dict[str, moving.Tally]:
    with (
        source.database.reading.begin() as reading,
        target.database.writing.begin() as writing,
    ):
        moving.refuse_if_used(writing)
        copied = moving.copy(reading, writing, lambda _table, _rows: None)
        moving.compare(writing, copied)
    return copied


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("here", "there"), [("sqlite", "postgresql"), ("postgresql", "sqlite"), ("sqlite", "sqlite")]
)
def test_every_row_of_every_table_is_the_same_there(empty: Empty, here: str, there: str) -> None:
    with compose.open_store(empty(here)) as source, compose.open_store(empty(there)) as target:
        with source.database.writing.begin() as connection:
            fill(connection)
        copied = moved(source, target)
        assert {tally.rows for tally in copied.values()} == {ROWS}
        for table in metadata.sorted_tables:
            was = source.read_now(everything, table)
            assert target.read_now(everything, table) == was, table.name


def test_null_of_json_and_null_of_sql_stay_two_things_on_postgresql(empty: Empty) -> None:
    with (
        compose.open_store(empty("sqlite")) as source,
        compose.open_store(empty("postgresql")) as target,
    ):
        with source.database.writing.begin() as connection:
            fill(connection)
        moved(source, target)
        runs = metadata.tables["runs"]
        missing = select(func.count()).select_from(runs).where(runs.c.arguments.is_(null()))
        before = source.read_now(lambda connection: connection.scalar(missing))
        assert target.read_now(lambda connection: connection.scalar(missing)) == before == 1


@pytest.mark.parametrize(("here", "there"), [("sqlite", "postgresql"), ("postgresql", "sqlite")])
def test_a_number_that_was_given_out_is_not_given_out_again(
    empty: Empty, here: str, there: str
) -> None:
    entry = {
        "at": 0.0, "actor_kind": "", "actor": "", "action": "", "subject": "", "details": {},
        "address": "",
    }  # fmt: skip
    with compose.open_store(empty(here)) as source, compose.open_store(empty(there)) as target:
        with source.database.writing.begin() as connection:
            for _ in range(5):
                connection.execute(insert(core.audit).values(entry))
            connection.execute(core.audit.delete().where(core.audit.c.seq > 3))
        moved(source, target)
        with target.database.writing.begin() as connection:
            connection.execute(insert(core.audit).values(entry))
            assert connection.scalar(select(func.max(core.audit.c.seq))) == 6


def test_a_database_that_is_used_gets_nothing(empty: Empty) -> None:
    with (
        compose.open_store(empty("sqlite")) as source,
        compose.open_store(empty("sqlite")) as target,
    ):
        with target.database.writing.begin() as connection:
            connection.execute(insert(core.facts).values(name="x", value="y"))
        with pytest.raises(CannotMove, match="not empty: its table facts"):
            moved(source, target)


@pytest.mark.heavy
def test_what_does_not_arrive_as_it_was_is_noticed(empty: Empty) -> None:
    with (
        compose.open_store(empty("sqlite")) as source,
        compose.open_store(empty("sqlite")) as target,
        source.database.writing.begin() as connection,
    ):
        fill(connection)
        with target.database.writing.begin() as writing:
            copied = moving.copy(connection, writing, lambda _table, _rows: None)
            writing.execute(core.users.update().values(name="Eve"))
            with pytest.raises(CannotMove, match="users changed while it was copied"):
                moving.compare(writing, copied)


def test_a_table_that_nobody_knows_is_not_left_behind(empty: Empty) -> None:
    with (
        compose.open_store(empty("sqlite")) as source,
        compose.open_store(empty("sqlite")) as target,
    ):
        with source.database.writing.begin() as connection:
            connection.exec_driver_sql("create table strange (a integer)")
        with pytest.raises(CannotMove, match="strange"):
            moved(source, target)
