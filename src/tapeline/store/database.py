"""Which database the settings ask for, and what its failures mean to us."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from tapeline.settings import Settings
from tapeline.store import sqlite

# What a database may raise when it is full, locked, read-only, restarting or gone. PostgreSQL says
# "read-only" and "shutting down" with InternalError and its kin, so all of the driver's errors
# count but one: a broken constraint is our own bug.
Failure = (DBAPIError, PoolTimeout, OSError)


@dataclass(frozen=True)
class Database:
    writing: Engine
    reading: Engine
    name: str
    """What to call it in a log: never with a password."""
    file: Path | None
    """The SQLite file; None on PostgreSQL."""

    def dispose(self) -> None:
        self.reading.dispose()
        self.writing.dispose()


def open_database(settings: Settings) -> Database:
    if settings.database:
        from tapeline.store import postgres  # noqa: PLC0415 - start-up on SQLite stays light

        writing = postgres.writing_engine(settings.database, settings.busy_seconds)
        reading = postgres.reading_engine(
            settings.database, settings.busy_seconds, settings.readers
        )
        return Database(writing, reading, writing.url.render_as_string(hide_password=True), None)
    file = settings.data / "tapeline.db"
    return Database(
        sqlite.writing_engine(file, settings.busy_seconds),
        sqlite.reading_engine(file, settings.busy_seconds, settings.readers),
        str(file),
        file,
    )


def is_outage(error: BaseException) -> bool:
    """Whether the database, rather than our own statement, is at fault."""
    if isinstance(error, IntegrityError):
        return False
    if isinstance(error, OperationalError | PoolTimeout | OSError):
        return True
    return isinstance(error, DBAPIError) and (
        error.connection_invalidated or _sqlstate(error)[:2] in {"25", "53", "57", "58", "08"}
    )


def is_worth_another_try(error: BaseException) -> bool:
    """A dead connection, or a deadlock that PostgreSQL resolved by choosing us."""
    return isinstance(error, DBAPIError) and (
        error.connection_invalidated or _sqlstate(error) in {"40001", "40P01"}
    )


def _sqlstate(error: DBAPIError) -> str:
    return getattr(error.orig, "sqlstate", None) or ""
