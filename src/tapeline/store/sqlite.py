"""SQLite: write-ahead log, full durability, one writing connection, readers that cannot write."""

import sqlite3
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool


def writing_engine(file: Path, busy_seconds: int) -> Engine:
    return _engine(file, 1, busy_seconds, begin="BEGIN IMMEDIATE", only_reads=False)


def reading_engine(file: Path, busy_seconds: int, readers: int) -> Engine:
    return _engine(file, readers, busy_seconds, begin="BEGIN", only_reads=True)


def _engine(
    file: Path, connections: int, busy_seconds: int, *, begin: str, only_reads: bool
) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(file)),
        poolclass=QueuePool,
        pool_size=connections,
        max_overflow=0,
        connect_args={"check_same_thread": False, "timeout": busy_seconds},
    )

    @event.listens_for(engine, "connect")
    def _(dbapi_connection: sqlite3.Connection, _record: ConnectionPoolEntry) -> None:
        # The driver must not open transactions by itself: it would begin them too late, and as
        # readers that fail when they turn into writers.
        dbapi_connection.isolation_level = None
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            f"busy_timeout={busy_seconds * 1000}",
            f"query_only={'ON' if only_reads else 'OFF'}",
        ):
            dbapi_connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine
