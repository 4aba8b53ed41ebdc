"""Migrations lead to exactly the tables of the code, once, and all or nothing."""

import importlib
import pkgutil
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine, inspect, text

import tapeline.store.backends
from tapeline.errors import CannotStart
from tapeline.ids import new_id
from tapeline.settings import Settings
from tapeline.store import migrate, tables
from tapeline.store.backends.database import Database, open_database
from tapeline.store.tables import watch
from tapeline.store.tables.core import metadata
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof import older_seals, seals
from tapeline.tape.reading import whole_tape
from tapeline.tape.record import verify
from tests.conftest import database_url, run_sql
from tests.waiting import A_PROGRAM

for module in pkgutil.iter_modules(tables.__path__):
    importlib.import_module(f"{tables.__name__}.{module.name}")

MODEL = (
    "insert into models (id, project_id, name, type, description, created_at)"
    " values ('m', 'p', 'One', 'strategy', '', 0)"
)

UPGRADE = """
from pathlib import Path
from tapeline import logs
from tapeline.settings import Settings
from tapeline.store.backends.database import open_database
from tapeline.store.migrate import migrate
import sys
logs.start("info", "text")
print("ready", flush=True)
sys.stdin.readline()
database = open_database(Settings(data=Path(sys.argv[1]), database=sys.argv[2]))
migrate(database)
database.dispose()
print("alembic" in sys.modules)
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of a database with nothing in it, not even tables."""
    data = tmp_path / "empty"
    data.mkdir(mode=0o700)
    if request.param == "sqlite":
        return Settings(data=data)
    server: str = request.getfixturevalue("postgres_server")
    name = f"t_{new_id()}"
    run_sql(server, f"create database {name}")
    return Settings(data=data, database=database_url(server, name))


@pytest.fixture
def database(empty: Settings) -> Iterator[Database]:
    opened = open_database(empty)
    yield opened
    opened.dispose()


@pytest.fixture
def versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of migrations, to which a test may add the next one."""
    copy = tmp_path / "migrations"
    shutil.copytree(migrate.MIGRATIONS, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(migrate, "MIGRATIONS", copy)
    return copy / "versions"


def add_migration(versions: Path, body: str) -> str:
    before = migrate.head()
    revision = f"{int(before) + 1:04}"
    (versions / f"{revision}_next.py").write_text(
        "import sqlalchemy as sa\nfrom alembic import op\n"
        f"revision = '{revision}'\ndown_revision = '{before}'\n"
        f"def upgrade() -> None:\n{body}"
    )
    return revision


def test_migrations_give_exactly_the_tables_of_the_code(database: Database) -> None:
    migrate.migrate(database)
    with database.writing.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        migrated = _described(connection)
    assert migrated == _described_by_create_all(database)


def _described_by_create_all(database: Database) -> dict[str, Any]:
    """What the same database looks like when the code itself makes its tables."""
    if database.file is not None:
        engine = create_engine("sqlite://")
        with engine.begin() as connection:
            metadata.create_all(connection)
            described = _described(connection)
        engine.dispose()
        return described
    with database.writing.connect() as connection, connection.begin() as transaction:
        connection.execute(text("create schema twin"))
        connection.execute(text("set local search_path to twin"))
        metadata.create_all(connection)
        described = _described(connection, "twin")
        transaction.rollback()
    return described


def _described(connection: Connection, schema: str | None = None) -> dict[str, Any]:
    """Columns, keys, indexes and foreign keys by name, with what they do on a delete."""
    look = inspect(connection)
    return {
        table: {
            "columns": [
                (one["name"], str(one["type"]), one["nullable"])
                for one in sorted(
                    look.get_columns(table, schema), key=lambda column: str(column["name"])
                )
            ],
            "key": look.get_pk_constraint(table, schema)["constrained_columns"],
            "key name": look.get_pk_constraint(table, schema)["name"],
            "uniques": sorted(
                (str(one["name"]), one["column_names"])
                for one in look.get_unique_constraints(table, schema)
            ),
            "indexes": sorted(
                (str(one["name"]), one["column_names"], bool(one["unique"]))
                for one in look.get_indexes(table, schema)
            ),
            "foreign keys": sorted(
                (
                    str(one["name"]),
                    one["constrained_columns"],
                    one["referred_table"],
                    one["referred_columns"],
                    one["options"].get("ondelete"),
                )
                for one in look.get_foreign_keys(table, schema)
            ),
        }
        for table in look.get_table_names(schema)
        if table != "alembic_version"
    }


@pytest.mark.parametrize("empty", ["sqlite"], indirect=True)
def test_sqlite_keeps_the_same_statements_as_the_code_would_make(database: Database) -> None:
    """What reflection does not tell: AUTOINCREMENT, WITHOUT ROWID, the order of the key."""
    migrate.migrate(database)
    engine = create_engine("sqlite://")
    with engine.begin() as made, database.reading.connect() as migrated:
        metadata.create_all(made)
        assert _statements(migrated) == _statements(made)
    engine.dispose()


def _statements(connection: Connection) -> dict[str, set[str]]:
    rows = connection.execute(
        text("select name, sql from sqlite_master where sql is not null and name not like :own"),
        {"own": "alembic%"},
    )
    return {row.name: _pieces(row.sql) for row in rows if not row.name.startswith("sqlite_")}


def _pieces(statement: str) -> set[str]:
    """Without regard to white space, to quotes (a copied table's name has them) and to the order
    of columns and constraints."""
    head, _, rest = " ".join(statement.replace('"', "").split()).partition("(")
    inside, _, tail = rest.rpartition(")")
    return {head.strip(), tail.strip(), *_split(inside)}


def _split(columns: str) -> set[str]:
    """At commas, but not at those inside of brackets."""
    deep, pieces = 0, [""]
    for letter in columns:
        deep += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not deep:
            pieces.append("")
        else:
            pieces[-1] += letter
    return {piece.strip() for piece in pieces}


@pytest.mark.heavy
def test_a_second_time_there_is_nothing_to_do(empty: Settings) -> None:
    assert _finish(_begin(empty)) == "True", "the first one needs Alembic"
    assert _finish(_begin(empty)) == "False", "the next ones start without it"


@pytest.mark.heavy
def test_two_processes_at_the_same_time_migrate_once(empty: Settings) -> None:
    processes = [_begin(empty) for _ in range(3)]
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=A_PROGRAM) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], outputs
    assert sum(err.count("migrated") for _, err in outputs) == 1


def _begin(settings: Settings) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", UPGRADE, str(settings.data), settings.database],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


def _finish(process: "subprocess.Popen[str]") -> str:
    out, err = process.communicate("go\n", timeout=A_PROGRAM)
    assert process.returncode == 0, err
    return out.strip()


def test_a_migration_that_fails_leaves_nothing_half_made(
    database: Database, versions: Path
) -> None:
    migrate.migrate(database)
    before = migrate.head()
    add_migration(
        versions,
        "    op.create_table('half', sa.Column('id', sa.String(), primary_key=True))\n"
        "    op.add_column('users', sa.Column('half', sa.String()))\n"
        "    op.execute(\"insert into facts (name, value) values ('half', '')\")\n"
        "    raise RuntimeError('this migration is wrong')\n",
    )
    with pytest.raises(RuntimeError, match="is wrong"):
        migrate.migrate(database)
    with database.reading.connect() as connection:
        look = inspect(connection)
        assert not look.has_table("half")
        assert "half" not in {column["name"] for column in look.get_columns("users")}
        assert connection.scalar(text("select count(*) from facts")) == 0
        assert connection.scalar(text("select version_num from alembic_version")) == before


def test_a_failed_first_migration_leaves_an_empty_database(
    database: Database, versions: Path
) -> None:
    add_migration(versions, "    raise RuntimeError('this migration is wrong')\n")
    with pytest.raises(RuntimeError, match="is wrong"):
        migrate.migrate(database)
    with database.reading.connect() as connection:
        assert inspect(connection).get_table_names() == []


def test_changing_a_table_keeps_the_rows_that_refer_to_it(
    database: Database, versions: Path
) -> None:
    """SQLite copies the table and drops the old one, which must not cascade."""
    migrate.migrate(database)
    with database.writing.begin() as connection:
        connection.execute(text("insert into projects values ('p', 'Alpha', '', 0)"))
        connection.execute(text(MODEL))
    add_migration(
        versions,
        "    with op.batch_alter_table('projects', recreate='auto') as table:\n"
        "        table.alter_column('description', nullable=True)\n",
    )
    migrate.migrate(database)
    with database.writing.connect() as connection:
        assert connection.scalar(text("select count(*) from models")) == 1
        columns = inspect(connection).get_columns("projects")
        assert {one["name"]: one["nullable"] for one in columns}["description"]
        if database.file is not None:
            assert connection.scalar(text("pragma foreign_keys")) == 1


def test_events_of_an_earlier_version_are_carried_over(database: Database, versions: Path) -> None:
    """Row by row until 0004, in pages since: the same records, and their seals still fit."""
    later = [file for file in versions.glob("*.py") if file.name >= "0004"]
    kept = {file: file.read_text() for file in later}
    for file in later:
        file.unlink()
    migrate.migrate(database)
    records = _sealed(2_500)
    with database.writing.begin() as connection:
        for record in records:
            row = msgspec.structs.asdict(record) | {"tape": 1, "channel": record.kind}
            del row["nonce"]  # there was none then
            names = ", ".join(row)
            places = ", ".join(f":{name}" for name in row)
            connection.execute(text(f"insert into events ({names}) values ({places})"), row)
        connection.execute(
            text("insert into tapes values (1, 'm', :seq, :link, '{}', 0)"),
            {"seq": records[-1].seq, "link": records[-1].link},
        )
    for file, content in kept.items():
        file.write_text(content)
    migrate.migrate(database)
    with database.reading.connect() as connection:
        assert list(whole_tape.records(connection, 1)) == records
        assert verify.first_break(connection, 1) is None
        assert connection.scalar(text("select count(*) from pages")) < 10


def test_models_of_an_earlier_version_stay_long_only_and_their_books_are_made_again(
    database: Database, versions: Path
) -> None:
    kept = _without(versions, "0013")
    migrate.migrate(database)
    model = "insert into models (id, project_id, name, type, description, created_at) values"
    with database.writing.begin() as connection:
        connection.execute(text("insert into projects values ('p', 'P', '', 0)"))
        connection.execute(text(f"{model} ('old', 'p', 'M', 'strategy', '', 0)"))
        old = "insert into ledgers values (1, 7, 9, false, 2, '{}', '{}')"
        connection.execute(text(old))
    for file, content in kept.items():
        file.write_text(content)
    migrate.migrate(database)
    with database.writing.begin() as connection:
        connection.execute(text(f"{model} ('new', 'p', 'M', 'strategy', '', 0)"))
        found = connection.execute(text("select id, positions from models")).all()
        assert {row.id: row.positions for row in found} == {"old": "long_only", "new": "signed"}
        assert connection.scalar(text("select count(*) from ledgers")) == 0


def test_earlier_trials_are_of_results_that_stand(database: Database, versions: Path) -> None:
    kept = _without(versions, "0034")
    migrate.migrate(database)
    columns, rows = (
        "no, tape, id, created_at, result_seq",
        "(1, 5, 'a', 0, 7), (2, 5, 'b', 0, null)",
    )
    with database.writing.begin() as connection:
        connection.execute(text(f"insert into backtests ({columns}) values {rows}"))
        connection.execute(text("insert into trials values (5, 1, 0.5, 365), (5, 2, 0.25, 365)"))
    for file, content in kept.items():
        file.write_text(content)
    migrate.migrate(database)
    with database.reading.connect() as connection:
        found = connection.execute(text("select * from trials_by_result")).all()
        assert [tuple(one) for one in found] == [(5, 1, 7, 0.5, 365)]


def test_books_by_the_rules_of_an_earlier_version_are_made_again(
    database: Database, versions: Path
) -> None:
    kept = _without(versions, "0035")
    migrate.migrate(database)
    book = "insert into books values (1, 0, false, 'BTC-USD-SWAP', 'SWAP', false, 1, 1, '{}')"
    with database.writing.begin() as connection:
        connection.execute(text(book))
    for file, content in kept.items():
        file.write_text(content)
    migrate.migrate(database)
    with database.reading.connect() as connection:
        assert connection.scalar(text("select count(*) from books")) == 0


@pytest.mark.parametrize("empty", ["sqlite"], indirect=True)
def test_what_rules_remember_is_moved_to_the_clock_that_does_not_jump(
    database: Database, versions: Path
) -> None:
    kept = _without(versions, "0037")
    migrate.migrate(database)
    clock = '{"periods": [{"since": 0, "ahead": 0}, {"since": 9, "ahead": 100, "paused": 40}]}'
    made = {"scope": "server", "name": "", "created_at": 0, "created_by": "ada"}
    rule = made | {"spec": {}, "source": "", "revision": 1, "changed_at": 0, "changed_by": ""}
    state = {"rule_id": "r", "state": "ok", "since": 0, "held_since": 300, "revision": 1}
    memories = {"a": {"at": 500.0, "said": "a"}, "b": {"peak": 5}, "c": None}
    told = {"channel_id": "x", "what": "escalated", "step": 0, "made_at": 0, "attempts": 0}
    with database.writing.begin() as connection:
        connection.execute(text("insert into facts values ('clock', :it)"), {"it": clock})
        connection.execute(watch.rules.insert().values(id="r", **rule))
        for subject, memory in memories.items():
            row = state | {"subject": subject, "said": "", "memory": memory}
            connection.execute(watch.rule_states.insert().values(row))
        channel = made | {"kind": "", "address": "", "shown": ""}
        connection.execute(watch.channels.insert().values(id="x", **channel))
        connection.execute(watch.outbox.insert().values(id="e", due_at=200, **told))
    for file, content in kept.items():
        file.write_text(content)
    migrate.migrate(database)
    with database.reading.connect() as connection:
        found = connection.execute(watch.rule_states.select()).all()
        due = connection.scalar(text("select due_steadily_at from outbox"))
    assert [row.held_since for row in found] == [240, 240, 240]
    assert {row.subject: row.memory for row in found} == memories | {"a": {"at": 440, "said": "a"}}
    assert due == 140


def _without(versions: Path, first: str) -> dict[Path, str]:
    """Take the migrations from this one on away; what they were."""
    later = [file for file in versions.glob("*.py") if file.name >= first]
    kept = {file: file.read_text() for file in later}
    for file in later:
        file.unlink()
    return kept


def _sealed(count: int) -> list[StoredEvent]:
    records, link = list[StoredEvent](), seals.GENESIS
    for seq in range(1, count + 1):
        salt = bytes(16) if seq % 2 else None
        record = StoredEvent(seq, 5 if salt else 11, 1.5, 2.5, b'{"id":"a"}', None, "b1", salt)
        link = older_seals.link(link, [record])
        records.append(msgspec.structs.replace(record, link=link))
    return records


@pytest.mark.parametrize("empty", ["sqlite"], indirect=True)
def test_a_migration_that_would_leave_orphans_is_refused(
    database: Database, versions: Path
) -> None:
    migrate.migrate(database)
    with database.writing.begin() as connection:
        connection.execute(text("insert into projects values ('p', 'Alpha', '', 0)"))
        connection.execute(text(MODEL))
    add_migration(versions, "    op.execute('delete from projects')\n")
    with pytest.raises(CannotStart, match="refer to nothing"):
        migrate.migrate(database)
    with database.reading.connect() as connection:
        assert connection.scalar(text("select count(*) from projects")) == 1


def test_a_database_of_a_newer_version_is_refused(database: Database) -> None:
    migrate.migrate(database)
    with database.writing.begin() as connection:
        connection.execute(text("update alembic_version set version_num = '9999'"))
    with pytest.raises(CannotStart, match=r"newer Tapeline \(revision 9999, this version knows"):
        migrate.migrate(database)


def test_a_missing_driver_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("postgres", "lost_commits"):
        monkeypatch.delitem(sys.modules, f"tapeline.store.backends.{name}", raising=False)
        monkeypatch.delattr(tapeline.store.backends, name, raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(CannotStart, match=r"pip install 'psycopg\[binary\]'"):
        open_database(Settings(database="postgresql://db.example/tape"))
