"""SQLite on a disk that fills up or turns read-only, and on a file that others hold or broke."""

import errno
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert, select

from tapeline import compose
from tapeline.errors import CannotStart, StoreUnavailable
from tapeline.settings import Settings
from tapeline.store.backends import failures
from tapeline.store.store import Store
from tapeline.store.tables.core import facts
from tests.store.disk import Disk, small_disk

LARGE = "x" * 20_000


def put(connection: Connection, name: str) -> str:
    connection.execute(insert(facts).values(name=name, value=LARGE))
    return name


def names(connection: Connection) -> set[str]:
    return set(connection.scalars(select(facts.c.name).where(facts.c.name.like("t-%"))))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with small_disk(tmp_path / "disk") as mounted:
        yield mounted


@pytest.fixture
def store_on_disk(disk: Disk, sqlite_template: Path) -> Iterator[Store]:
    shutil.copy(sqlite_template, disk.path / "tapeline.db")
    with compose.open_store(Settings(data=disk.path)) as store:
        yield store


def write_until_refused(store: Store) -> set[str]:
    """The names that were acknowledged; the last write was refused."""
    taken: set[str] = set()
    for number in range(100):
        try:
            taken.add(store.write_now(put, f"t-{number}"))
        except StoreUnavailable:
            return taken
    raise AssertionError("the disk never filled up")


def test_a_full_disk_is_refused_and_forgotten_once_there_is_room(
    disk: Disk, store_on_disk: Store, caplog: pytest.LogCaptureFixture
) -> None:
    store = store_on_disk
    disk.fill()
    taken = write_until_refused(store)
    for number in range(20):
        with pytest.raises(StoreUnavailable, match="disk of the database is full"):
            store.write_now(put, f"t-refused-{number}")
    assert store.writer.outage == "The disk of the database is full."
    assert store.read_now(names) == taken, "reading goes on"
    (line,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert line.message == "store_cannot_write"
    assert "full" in line.__dict__["facts"]["reason"]
    disk.free()
    assert store.write_now(put, "t-after") == "t-after"
    assert store.read_now(names) == {*taken, "t-after"}


def test_what_was_acknowledged_before_a_full_disk_survives_a_crash(
    disk: Disk, store_on_disk: Store, tmp_path: Path
) -> None:
    disk.fill()
    taken = write_until_refused(store_on_disk)
    # A copy of the files as they are now is what a crash of the machine would leave.
    left = tmp_path / "left"
    shutil.copytree(disk.path, left, ignore=shutil.ignore_patterns("filler", "*-shm"))
    left.chmod(0o700)
    with compose.open_store(Settings(data=left)) as again:
        assert again.read_now(names) == taken


def test_a_read_only_disk_is_refused_and_forgotten_once_it_is_writable(
    disk: Disk, store_on_disk: Store, caplog: pytest.LogCaptureFixture
) -> None:
    store = store_on_disk
    store.write_now(put, "t-before")
    store.database.dispose()  # the kernel does not let a disk turn read-only under open files
    disk.remount("ro")
    for _ in range(5):
        with pytest.raises(StoreUnavailable, match="disk of the database is read-only"):
            store.write_now(put, "t-refused")
    (line,) = [record for record in caplog.records if record.message == "store_cannot_write"]
    assert line.__dict__["facts"]["reason"]
    disk.remount("rw")
    assert store.write_now(put, "t-after") == "t-after"
    assert store.writer.outage is None
    assert store.read_now(names) == {"t-before", "t-after"}


def test_a_long_outage_is_logged_again_every_few_seconds(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, store_on_disk: Store
) -> None:
    def gone(_connection: Connection) -> None:
        raise OSError(errno.EIO, "the disk is gone")

    for seconds in (100.0, 101.0, 104.9, 105.1, 106.0, 111.0):
        monkeypatch.setattr(failures, "monotonic", partial(float, seconds))
        with pytest.raises(StoreUnavailable):
            store_on_disk.write_now(gone)
    lines = [record for record in caplog.records if record.message == "store_cannot_write"]
    assert len(lines) == 3


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_database_that_another_process_holds_fails_the_group_once_and_not_job_by_job(
    settings: Settings,
) -> None:
    impatient = Settings(data=settings.data, busy_seconds=1)
    with compose.open_store(impatient) as store:
        with closing(sqlite3.connect(settings.data / "tapeline.db")) as other:
            other.execute("begin immediate")
            started = time.monotonic()
            waiting = [store.writer.submit(partial(put, name=f"t-{n}")) for n in range(50)]
            for answer in waiting:
                with pytest.raises(StoreUnavailable):
                    answer.result(20)
            assert time.monotonic() - started < 25, "one after the other, they would take 50"
        assert store.write_now(put, "t-after") == "t-after"
        assert store.read_now(names) == {"t-after"}


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_short_hold_by_another_process_is_waited_for(store: Store, settings: Settings) -> None:
    with closing(sqlite3.connect(settings.data / "tapeline.db", check_same_thread=False)) as other:
        other.execute("begin immediate")
        release = threading.Timer(0.3, other.rollback)
        release.start()
        assert store.write_now(put, "t-1") == "t-1"
        release.join()


@pytest.mark.parametrize("content", [b"this is no database, " * 400, None], ids=["text", "folder"])
def test_a_file_that_is_no_database_is_said_in_one_line(
    tmp_path: Path, content: bytes | None
) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    if content is None:
        (data / "tapeline.db").mkdir()
    else:
        (data / "tapeline.db").write_bytes(content)
    with (
        pytest.raises(CannotStart, match=r"tapeline\.db cannot be used: ") as caught,
        compose.open_store(Settings(data=data)),
    ):
        pass
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_broken_file_is_an_outage_and_not_a_bug(store: Store, settings: Settings) -> None:
    store.write_now(put, "t-1")
    store.database.dispose()
    file = settings.data / "tapeline.db"
    broken = bytearray(file.read_bytes())
    broken[4096:] = bytes([0xAB]) * (len(broken) - 4096)
    file.write_bytes(broken)
    with pytest.raises(StoreUnavailable):
        store.read_now(names)
    with pytest.raises(StoreUnavailable):
        store.write_now(put, "t-2")


def test_a_failure_without_a_word_still_has_a_reason() -> None:
    assert failures.reason(OSError()) == "OSError"
    assert failures.reason(ValueError("two\nlines")) == "two lines"
