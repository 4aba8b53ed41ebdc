"""What `tapeline doctor` and `tapeline status` see of a server's data without asking the server:
the database, the keys that it needs, events it lost, the clock and the backups."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine

from tapeline import typed_commands
from tapeline.backups import needed_keys, records
from tapeline.cli.operator.finding import Finding
from tapeline.errors import Problem
from tapeline.health.storing import archives, witnesses
from tapeline.settings import Settings
from tapeline.store import migrate
from tapeline.store.backends import database as databases
from tapeline.store.backends import sqlite, timekeeping
from tapeline.store.blobs import Blobs
from tapeline.tape.proof import heads

ACCEPT = "Bring the newer database back; or, if you know of it: "
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
INTACT = "The database is probably intact"
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)


def of_data(chosen: Settings) -> Iterator[Finding]:
    found = _database(chosen)
    yield found
    if found.state in {"good", "note"} and _has_database(chosen):
        yield from _keys(chosen)
        yield from _archives(chosen)
        yield from _witnesses(chosen)
        yield from _clock(chosen)
    yield from _losses(chosen)


def of_backups(chosen: Settings) -> Iterator[Finding]:
    """The last scheduled backup; nothing without a database, which has its own finding."""
    if not _has_database(chosen):
        return
    try:
        with _reading(chosen) as (connection, opened):
            timekeeping.resume(connection)
            standing = records.standing(connection, chosen)
    except Exception:  # noqa: BLE001 - of any driver; the finding about the database says why
        return
    now = opened.clock.with_pauses()
    says = standing.sentence(now)
    if standing.every is None:
        yield Finding("backup", "note", says, "Name a folder for them in TAPELINE_BACKUP_FOLDER")
    elif standing.is_gone:
        fix = "Put it back. A running server makes a new one within a minute"
        yield Finding("backup", "weak", says, fix)
    elif standing.is_too_old(now) or standing.failure:
        yield Finding("backup", "weak", says, "Fix that; the server tries again within the hour")
    else:
        yield Finding("backup", "good", says)


def _database(chosen: Settings) -> Finding:
    if not _has_database(chosen):
        says = f"{chosen.data / 'tapeline.db'} will be created at the first start"
        return Finding("database", "good", says)
    try:
        opened = databases.open_database(chosen)
        try:
            before, now = migrate.revision(opened.reading), migrate.head()
            grows = opened.file is not None and not _gives_back(opened.reading)
        finally:
            opened.dispose()
    except Exception as error:  # noqa: BLE001 - of any driver; each says what is wrong in its words
        told = error.message if isinstance(error, Problem) else str(error).partition("\n")[0]
        return Finding("database", "bad", f"cannot be read: {told}", _cure(chosen, error))
    if before is not None and before > now:
        return Finding(
            "database", "bad", f"{opened.name} was made by a newer Tapeline", "Install that version"
        )
    waits = "" if before == now else ", brought up to date at the next start"
    if grows:
        says = f"{opened.name}{waits}; it never becomes smaller, because an older version made it"
        compact = typed_commands.here("tapeline compact", chosen)
        return Finding("database", "note", says, f"Stop the server once, and run: {compact}")
    return Finding("database", "good", f"{opened.name}{waits}")


def _cure(chosen: Settings, error: Exception) -> str:
    """Only a malformed file calls for a backup: on a full or failing disk an intact database cannot
    be opened either, and restoring one would lose what it holds."""
    if chosen.database:
        return "Start it, or correct --database"
    told: int = getattr(getattr(error, "orig", error), "sqlite_errorcode", 0) or 0
    number = told & 0xFF
    if number in DAMAGED:
        return "Restore a backup"
    trouble = sqlite.trouble(chosen.data / "tapeline.db") or ""
    if number == sqlite3.SQLITE_FULL or "full" in trouble:
        return f"Free some space on its disk first, and look again. {INTACT}"
    if number in BUSY:
        return f"Close the other program that uses it, and look again. {INTACT}"
    if "read-only" in trouble:
        return f"Mount its disk writable first, and look again. {INTACT}"
    return f"Check its disk (dmesg) and who may use the file, and look again. {INTACT}"


def _keys(chosen: Settings) -> Iterator[Finding]:
    """Without them no server starts."""
    try:
        with _reading(chosen) as (connection, _):
            lacking = needed_keys.lacking(connection, chosen.data / "keys")
    except Exception:  # noqa: BLE001 - an older database, which the next start brings up to date
        return
    if lacking:
        replace = typed_commands.with_database(needed_keys.REPLACE, chosen)
        fix = needed_keys.FIX.replace(needed_keys.REPLACE, replace)
        yield Finding("keys", "bad", " ".join(lacking).rstrip("."), fix)


def _archives(chosen: Settings) -> Iterator[Finding]:
    """Those of a folder: a look into object storage would be a request over the network."""
    if chosen.blobs or not (chosen.data / "blobs").is_dir():
        return
    try:
        with _reading(chosen) as (connection, _):
            absent, of = archives.absent_of(connection, Blobs(chosen.data / "blobs"))
    except Exception:  # noqa: BLE001 - an older database, which the next start brings up to date
        return
    if absent:
        says = archives.sentence(absent, of).rstrip(".")
        yield Finding("archives", "weak", says, archives.FIX.rstrip("."))


def _losses(chosen: Settings) -> Iterator[Finding]:
    """What a server remembers and the database no longer has."""
    if lost := heads.losses(chosen.data):
        fix = ACCEPT + typed_commands.with_database("tapeline doctor --accept-loss", chosen)
        more = f" And {len(lost) - 1:,} more tapes." if len(lost) > 1 else ""
        yield Finding("record", "weak", lost[0].sentence() + more, fix)


def _witnesses(chosen: Settings) -> Iterator[Finding]:
    """Two histories, of this server or of one that it witnesses."""
    try:
        with _reading(chosen) as (connection, _):
            found = witnesses.two_histories(connection)
    except Exception:  # noqa: BLE001 - an older database, which the next start brings up to date
        return
    for says in found:
        yield Finding("witnesses", "weak", says.rstrip("."), witnesses.LIST)


def _clock(chosen: Settings) -> Iterator[Finding]:
    """A jump that a server noticed in the last day."""
    with _reading(chosen) as (connection, opened):
        saved = timekeeping.read(connection) if migrate.revision(opened.reading) else None
    if saved and (jump := saved.recent()):
        yield Finding("clock", "weak", jump.sentence(), "See that NTP keeps it: timedatectl status")


def _has_database(chosen: Settings) -> bool:
    return bool(chosen.database) or (chosen.data / "tapeline.db").exists()


@contextmanager
def _reading(chosen: Settings) -> Iterator[tuple[Connection, databases.Database]]:
    opened = databases.open_database(chosen)
    try:
        with opened.reading.connect() as connection:
            yield connection, opened
    finally:
        opened.dispose()


def _gives_back(reading: Engine) -> bool:
    with reading.connect() as connection:
        return sqlite.free(connection).gives_back
