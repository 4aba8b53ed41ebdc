"""Brings the database to this version's tables; the first server to start does it.

Alembic is imported only if there is something to do: it would double the start-up time.
"""

import fcntl
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from tapeline.errors import CannotStart
from tapeline.logs import Log
from tapeline.polling import poll
from tapeline.store.backends import sqlite
from tapeline.store.backends.database import Database

log = Log(__name__)

MIGRATIONS = Path(__file__).parent / "migrations"
GOES_BESIDE = re.compile(r"^goes_beside = True$", re.MULTILINE)
"""In a migration after which servers of the version before can go on: it only adds."""
PATIENCE, PAUSE = 5.0, 0.2  # seconds


def head() -> str:
    """The newest revision: migrations are files named by their number."""
    return max(file.name.split("_")[0] for file in (MIGRATIONS / "versions").glob("[0-9]*.py"))


def migrate(database: Database) -> None:
    """Apply what is missing under a lock; refuse a database that a newer version made."""
    # Asked of the readers: the common case must not wait for another process that writes.
    if revision(database.reading) == head():
        return
    with _lock(database):
        before = revision(database.reading)
        if before == head():
            return
        if before is not None and before > head():
            raise CannotStart(
                f"{database.name} was made by a newer Tapeline (revision {before}, this version"
                f" knows {head()}). Install that version again, or restore a backup."
            )
        upgrade(database.writing, before)
        log.info("migrated", database=database.name, before=before or "empty", now=head())


def upgrade(engine: Engine, before: str | None = None) -> None:
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    oldest = _oldest_beside(before)
    with _transaction(engine) as connection:
        if before is not None and oldest is not None:
            _require_no_other(connection)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        if oldest is not None and connection.dialect.name != "sqlite":
            from tapeline.store.backends import postgres  # noqa: PLC0415

            postgres.note_oldest(connection, oldest)


def _oldest_beside(before: str | None) -> str | None:
    """The newest revision after `before` that every server on the database must know; None if
    servers of the version before go on beside all of them."""
    files = (MIGRATIONS / "versions").glob("[0-9]*.py")
    needed = [
        file.name.split("_")[0] for file in files if not GOES_BESIDE.search(file.read_text("utf-8"))
    ]
    return max((one for one in needed if before is None or one > before), default=None)


def _require_no_other(connection: Connection) -> None:
    """An earlier version would meet tables that it does not know."""
    if connection.dialect.name == "sqlite":
        return
    from tapeline.store.backends import postgres  # noqa: PLC0415

    # Not at once: a command of the operator may just be ending.
    if not poll(lambda: postgres.has_alone(connection), within=PATIENCE, every=PAUSE):
        raise CannotStart(
            "This version changes tables that other servers on this database use right now."
            " Stop all servers of the version before, then start this one again. Their live models"
            " keep running."
        )


@contextmanager
def _transaction(engine: Engine) -> Iterator[Connection]:
    if engine.dialect.name != "sqlite":
        from tapeline.store.backends import postgres  # noqa: PLC0415

        with engine.begin() as connection:
            postgres.take_time(connection)
            yield connection
        return
    with (
        engine.connect() as connection,
        sqlite.tables_may_be_copied(connection),
        connection.begin(),
    ):
        yield connection
        if orphans := sqlite.orphans(connection):
            raise CannotStart(f"The migration would leave {orphans} rows that refer to nothing.")


def revision(engine: Engine) -> str | None:
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        revision: str | None = connection.scalar(text("select version_num from alembic_version"))
        return revision


@contextmanager
def _lock(database: Database) -> Iterator[None]:
    if database.file is None:
        with _postgres_lock(database.reading):
            yield
        return
    with database.file.with_suffix(".migrating").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _postgres_lock(engine: Engine) -> Iterator[Connection]:
    from tapeline.store.backends import postgres  # noqa: PLC0415

    with engine.connect() as connection:
        postgres.lock_for_migration(connection)
        try:
            yield connection
        finally:
            connection.invalidate()  # closes it, which is what releases the lock
