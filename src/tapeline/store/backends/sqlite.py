"""SQLite: write-ahead log, full durability, one writing connection, readers that cannot write."""

import errno
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from tapeline import host_faults
from tapeline.errors import Problem

INCREMENTAL = 2  # the number of this way of vacuuming, as SQLite tells it
ROOM = 64 * 1024  # bytes; with less, hardly anything can be committed
LONGEST_LOG = 4_000
"""Pages in the log of commits at which the writer copies the rest of them itself, so that the log
starts again from its beginning. Most were copied before (`store/upkeep/log_copying.py`)."""
KEPT_LOG = 4_000_000  # bytes of the log that stay on the disk for the next commits

LOCKED = "Another process has locked the database."
DAMAGED = "The file of the database is damaged."
# Failures that are the disk's, the file's or another process's, by SQLite's own numbers.
OUTAGES = {
    sqlite3.SQLITE_PERM: "The server may not write to its database.",
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_NOMEM: "The machine of the server has no memory left.",
    sqlite3.SQLITE_READONLY: "The database is read-only.",
    sqlite3.SQLITE_INTERRUPT: "The database was interrupted.",
    sqlite3.SQLITE_IOERR: "The disk of the database reports errors.",
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_FULL: "The disk of the database is full.",
    sqlite3.SQLITE_CANTOPEN: "The file of the database cannot be opened.",
    sqlite3.SQLITE_PROTOCOL: LOCKED,
    sqlite3.SQLITE_NOTADB: DAMAGED,
}


def writing_engine(file: Path, busy_seconds: int) -> Engine:
    return _engine(file, 1, busy_seconds, begin="BEGIN IMMEDIATE", only_reads=False)


def reading_engine(file: Path, busy_seconds: int, readers: int) -> Engine:
    return _engine(file, readers, busy_seconds, begin="BEGIN", only_reads=True)


@contextmanager
def tables_may_be_copied(connection: Connection) -> Iterator[None]:
    """A migration copies a table to change it and drops the old one, which with foreign keys on
    would delete every row that refers to it. They cannot be switched inside a transaction."""
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    raw.execute("PRAGMA foreign_keys=OFF")
    try:
        yield
    finally:
        raw.execute("PRAGMA foreign_keys=ON")


def copy_to(file: Path, copy: Path) -> None:
    """A consistent copy of the database, even while others write to it."""
    if not file.is_file():  # SQLite would create it, and the copy would be of nothing
        raise Problem(f"The database {file} is gone. Put it back, or restore a backup.")
    try:
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            connection.execute("VACUUM INTO ?", (str(copy),))
    except sqlite3.Error as error:
        raise_if_full(error, copy)
        raise Problem(f"The database {file} cannot be copied: {error}.") from error
    with copy.open("rb") as written:  # SQLite leaves this to us
        os.fsync(written.fileno())


def raise_if_full(error: BaseException | None, place: Path) -> None:
    """As the system says it, because that error has a cure (`host_faults`)."""
    if isinstance(error, sqlite3.Error) and error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_FULL:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(place)) from error


def compact(file: Path) -> None:
    """Write the file anew without the space of deleted rows, so that it gives such space back by
    itself from then on. Nobody else may use it meanwhile."""
    try:
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_FULL:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file)) from error
        raise Problem(f"The database {file} cannot be compacted: {error}.") from error


class Free(NamedTuple):
    """Space of deleted rows in the file."""

    pages: int
    bytes: int
    gives_back: bool
    """Whether the file can become smaller while the server runs. Older versions made files that
    cannot."""


def free(connection: Connection) -> Free:
    def told(name: str) -> int:
        number: int = connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
        return number

    pages = told("freelist_count")
    return Free(pages, pages * told("page_size"), told("auto_vacuum") == INCREMENTAL)


def give_back(connection: Connection, pages: int) -> None:
    """Cut so many unused pages off the end of the file; used ones there are moved to the front."""
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    left = _unused(raw)
    goal = max(0, left - pages)
    while left > goal:
        # Python's driver ends this statement after its first step, which is one page.
        raw.execute(f"PRAGMA incremental_vacuum({left - goal:d})").fetchall()
        before, left = left, _unused(raw)
        if left >= before:
            return


def _unused(raw: sqlite3.Connection) -> int:
    pages: int = raw.execute("PRAGMA freelist_count").fetchone()[0]
    return pages


def trouble(file: Path) -> str | None:
    """The reason why a commit would fail, which a rolled-back write cannot show: SQLite touches the
    disk when it commits."""
    try:
        disk = os.statvfs(file.parent)
    except OSError as error:
        fault = host_faults.fault_of(error)
        return fault.says if fault else "The folder of the database is gone."
    if disk.f_flag & os.ST_RDONLY:
        return "The disk of the database is read-only."
    free = disk.f_bfree if os.geteuid() == 0 else disk.f_bavail
    return "The disk of the database is full." if free * disk.f_frsize < ROOM else None


def orphans(connection: Connection) -> int:
    """Rows that refer to nothing: what foreign keys would have refused."""
    return len(connection.exec_driver_sql("PRAGMA foreign_key_check").all())


def _engine(
    file: Path, connections: int, busy_seconds: int, *, begin: str, only_reads: bool
) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(file)),
        poolclass=QueuePool,
        pool_size=connections,
        max_overflow=0,
        connect_args={
            "check_same_thread": False,
            "timeout": busy_seconds,
            "cached_statements": 512,
        },
    )

    @event.listens_for(engine, "connect")
    def _(dbapi_connection: sqlite3.Connection, _record: ConnectionPoolEntry) -> None:
        # The driver must not open transactions: it would begin them too late, and as
        # readers that fail when they turn into writers.
        dbapi_connection.isolation_level = None
        # Before anything is in a new file, or it would need a VACUUM: see `store/upkeep/space.py`.
        dbapi_connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        _write_ahead(dbapi_connection, busy_seconds)
        for pragma in (
            "synchronous=FULL",
            "foreign_keys=ON",
            # Some builds write zeros over every page that a deletion leaves, which doubles the work
            # that everybody waits for; `store/upkeep/space.py` cuts those pages off the file soon.
            "secure_delete=FAST",
            f"wal_autocheckpoint={LONGEST_LOG}",
            f"journal_size_limit={KEPT_LOG}",
            f"busy_timeout={busy_seconds * 1000}",
            f"query_only={'ON' if only_reads else 'OFF'}",
        ):
            dbapi_connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _write_ahead(connection: sqlite3.Connection, seconds: float) -> None:
    """SQLite does not wait for others here: in a new file they may be doing the same."""
    until = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() >= until:
                raise
            time.sleep(0.02)
        else:
            return
