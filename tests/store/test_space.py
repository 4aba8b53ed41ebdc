"""Space of deleted rows goes back to the disk: by itself, and once by hand for older files."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, delete, event, insert
from typer.testing import CliRunner

from tapeline import compose, datadir
from tapeline.cli.main import app
from tapeline.errors import StoreUnavailable
from tapeline.settings import Settings
from tapeline.store.backends import sqlite
from tapeline.store.backends.log_copier import LogCopier
from tapeline.store.store import Store
from tapeline.store.tables.tape import pages
from tapeline.store.upkeep import pace, space
from tapeline.store.upkeep.pace import Pace
from tests.conftest import run

ROWS, BYTES = 400, 10_000


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "data")


@pytest.fixture
def opened(settings: Settings) -> Iterator[Store]:
    with compose.open_store(settings) as store:
        yield store


def fill(connection: Connection) -> None:
    rows = [{"tape": 1, "channel": 11, "first": n, "content": bytes(BYTES)} for n in range(ROWS)]
    connection.execute(insert(pages), rows)


def empty(connection: Connection) -> None:
    connection.execute(delete(pages))


def size(settings: Settings) -> int:
    """Of the file once everything of the log is in it."""
    file = settings.data / "tapeline.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return file.stat().st_size


def test_the_file_becomes_as_small_as_its_content(opened: Store, settings: Settings) -> None:
    before = size(settings)
    opened.write_now(fill)
    full = size(settings)
    opened.write_now(empty)
    assert size(settings) == full > before + ROWS * BYTES
    assert run(space.give_back(opened)) > 0
    assert size(settings) < before + 2 * space.KEPT * 4096
    assert run(space.give_back(opened)) == 0, "nothing is left to do"


def test_a_file_of_an_older_version_is_left_alone_until_it_is_compacted(
    settings: Settings,
) -> None:
    datadir.prepare(settings.data)
    file = settings.data / "tapeline.db"
    with closing(sqlite3.connect(file)) as connection:  # as older versions made it
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE old (x)")
    with compose.open_store(settings) as store:
        store.write_now(fill)
        store.write_now(empty)
        assert not store.read_now(sqlite.free).gives_back
        assert run(space.give_back(store)) == 0
    full = size(settings)
    assert full > ROWS * BYTES
    ended = CliRunner().invoke(app, ["compact", "--data", str(settings.data)])
    assert ended.exit_code == 0, ended.output
    assert size(settings) < full - ROWS * BYTES // 2
    with compose.open_store(settings) as store:
        assert store.read_now(sqlite.free).gives_back


def test_compacting_refuses_while_a_server_runs(settings: Settings) -> None:
    with compose.open_store(settings), datadir.only_server(settings.data, "a server"):
        ended = CliRunner().invoke(app, ["compact", "--data", str(settings.data)])
    assert ended.exit_code != 0
    assert "already running" in ended.output + str(ended.exception)


def test_steps_fit_the_disk_that_they_meet() -> None:
    one = Pace(10, 1_000)
    for _ in range(20):
        one.adapt(pace.STEP / 10)
    assert one.size == 1_000, "a quick disk gets large steps"
    one.adapt(pace.STEP * 50)
    assert one.size == 20, "one slow step is enough to make the next one small"
    one.adapt(pace.STEP * 50)
    assert one.size == 10


def test_the_time_of_the_commit_counts_for_the_next_step(
    opened: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deletions that were quick themselves, with slow commits, held everybody up."""
    now = 0.0
    monkeypatch.setattr(pace, "monotonic", lambda: now)
    monkeypatch.setattr(pace, "REST", 0.0)

    @event.listens_for(opened.database.writing, "commit")
    def _(_connection: Connection) -> None:
        nonlocal now
        now += pace.STEP * 10

    one = Pace(10, 1_000)
    one.size = 1_000
    run(one.step(opened, fill))
    assert one.size == 100


def log_of(settings: Settings) -> int:
    return (settings.data / "tapeline.db-wal").stat().st_size


def test_the_log_is_copied_beside_the_writer_and_not_in_its_commits(
    opened: Store, settings: Settings
) -> None:
    file = settings.data / "tapeline.db"
    run(opened.copy_log())
    before = file.stat().st_size
    opened.write_now(fill)
    assert ROWS * BYTES // 4096 < sqlite.LONGEST_LOG, "the writer's own copy is another matter"
    assert file.stat().st_size == before, "the commit only wrote to the log"
    run(opened.copy_log())
    assert file.stat().st_size > before + ROWS * BYTES // 2


def test_the_log_stays_short_while_it_is_copied(opened: Store, settings: Settings) -> None:
    longest = 0
    for _ in range(4 * sqlite.LONGEST_LOG * 4096 // (ROWS * BYTES)):
        opened.write_now(fill)
        opened.write_now(empty)
        run(opened.copy_log())
        longest = max(longest, log_of(settings))
    assert longest < 2 * sqlite.LONGEST_LOG * 4096


def test_copying_says_why_it_cannot_and_ends_with_the_store(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with compose.open_store(settings) as store:
        monkeypatch.setattr(store._log_copier, "_file", settings.data / "gone")
        with pytest.raises(StoreUnavailable, match="file of the database cannot be opened"):
            run(store.copy_log())
    copier = LogCopier(tmp_path / "nowhere" / "tapeline.db")
    for _ in range(2):  # it opens the file again, because it may be there by now
        with pytest.raises(sqlite3.OperationalError, match="unable to open"):
            run(copier.copy())
    copier.close()
