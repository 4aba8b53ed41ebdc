"""A server never uses tables that a newer version has changed under it."""

import re
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection

from tapeline.errors import CannotStart
from tapeline.settings import Settings
from tapeline.store import facts, migrate
from tapeline.store.backends import postgres
from tapeline.store.store import Store

ONLY_ADD = {"create_table", "add_column", "create_index", "f"}
ADDS = "op.add_column('hosts', sa.Column('more', sa.String))"

Upgrade = Callable[[str], None]


@pytest.fixture
def upgrade(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Upgrade:
    """Start as the next version, whose migration has these lines before its function."""
    copy = tmp_path / "migrations"
    shutil.copytree(migrate.MIGRATIONS, copy, ignore=shutil.ignore_patterns("__pycache__"))

    def start(more: str) -> None:
        before = migrate.head()
        revision = f"{int(before) + 1:04}"
        (copy / "versions" / f"{revision}_next.py").write_text(
            "import sqlalchemy as sa\nfrom alembic import op\n"
            f"revision = '{revision}'\ndown_revision = '{before}'\n{more}\n"
            f"def upgrade() -> None:\n    {ADDS}\n"
        )
        with monkeypatch.context() as here:
            here.setattr(migrate, "MIGRATIONS", copy)
            here.setattr(migrate, "PATIENCE", 0.5)
            with closing(Store(settings)) as newer:
                migrate.migrate(newer.database)

    return start


@pytest.mark.databases("postgresql")
def test_a_migration_that_only_adds_happens_beside_a_server_of_the_version_before(
    store: Store, upgrade: Upgrade
) -> None:
    store.write_now(facts.put, "before", "it")
    upgrade("goes_beside = True")
    store.database.writing.dispose()  # it connects again, and goes on
    store.write_now(facts.put, "after", "it")
    with pytest.raises(CannotStart, match="made by a newer Tapeline"):
        migrate.migrate(store.database)


@pytest.mark.databases("postgresql")
def test_any_other_migration_waits_until_servers_of_the_version_before_have_ended(
    store: Store, upgrade: Upgrade
) -> None:
    store.write_now(facts.put, "before", "it")
    with pytest.raises(CannotStart, match="Stop all servers of the version before"):
        upgrade("")
    store.write_now(facts.put, "after", "it")
    store.database.writing.dispose()
    upgrade("")
    with pytest.raises(postgres.TablesChanged):
        store.write_now(facts.put, "later", "it")


@pytest.mark.databases("postgresql")
def test_a_server_that_was_cut_off_while_tables_changed_uses_them_no_more(store: Store) -> None:
    store.write_now(facts.put, "before", "it")

    def change(connection: Connection) -> None:
        postgres.note_oldest(connection, "9999")

    store.write_now(change)
    store.database.writing.dispose()
    store.database.reading.dispose()
    with pytest.raises(postgres.TablesChanged):
        store.write_now(facts.put, "after", "it")
    with pytest.raises(postgres.TablesChanged):
        store.read_now(facts.get, "before")


def test_migrations_that_go_beside_an_earlier_version_only_add() -> None:
    for file in (migrate.MIGRATIONS / "versions").glob("[0-9]*.py"):
        written = file.read_text("utf-8")
        if migrate.GOES_BESIDE.search(written):
            done = re.findall(r"\bop\.(\w+)", written)
            new = re.findall(r'\bop\.create_table\(\s*"(\w+)"', written)
            filled = re.findall(r'\bop\.execute\(\s*"insert into (\w+) ', written)
            assert {*done} - {"execute"} <= ONLY_ADD, file.name
            # A table that earlier versions do not know may be filled.
            assert (len(filled), {*filled} <= {*new}) == (done.count("execute"), True), file.name
