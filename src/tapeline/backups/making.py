"""Copies all that cannot be rebuilt to a folder, even while a server runs.

The folder is a data directory with the database as a SQLite file, wherever the database was: one
format to check and to restore, on either database. It is on hold, so that nothing trades twice.
"""

import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from tapeline.backups import checking, listing, manifest, walking
from tapeline.backups.checking import Checked
from tapeline.backups.drafts import BackupFailed
from tapeline.backups.manifest import Manifest
from tapeline.runs.holding import holds
from tapeline.runs.sandbox import foreign_copies
from tapeline.settings import Settings
from tapeline.store import migrate, moving
from tapeline.store.backends import failures, sqlite
from tapeline.store.backends.database import open_database

# Everything else in a data directory is rebuilt when it is missing.
KEPT = ("keys", "host", "state")
FILE = "tapeline.db"
LEFT_OUT = (
    "Not in the backup, because their paths are too long, they may not be read, or they are second"
    " names of other users' files: {counts}."
)
COPY = "It is a backup of {data}. Its models must not run next to the original."


def make(
    chosen: Settings, draft: Path, *, tapes: int | None = None, with_database: bool = True
) -> tuple[Checked | None, str]:
    """Fill an empty folder and check it; `tapes` bounds how many are checked. None if the database
    is left out. Return also a sentence about what of models could not be copied."""
    began = time.time()
    # Archives before the database, and again after it: an archive that the copied database names
    # may have been deleted since, or may have arrived during the copy.
    _copy_archives(chosen, draft)
    if with_database:
        _copy_database(chosen, draft)
    _copy_archives(chosen, draft)
    left_out: dict[str, int] = {}
    for name in KEPT:
        found = chosen.data / name
        if found.is_dir():
            counts = foreign_copies.copy(found, draft / name)  # models write in `state`
            left_out |= {walking.shown(f"{name}/{top}"): count for top, count in counts.items()}
        elif found.is_file():
            shutil.copy2(found, draft / name)
    holds.put(draft, holds.ALL, COPY.format(data=chosen.data))
    checked = checking.check(draft, tapes=tapes) if with_database else None
    content = checked.content if checked else None
    made = Manifest(began, str(chosen.data), content, files=listing.of(draft), left_out=left_out)
    manifest.write(draft, made)
    return checked, in_words(left_out)


def in_words(left_out: Mapping[str, int]) -> str:
    """Empty if all is there."""
    counts = [
        f"{manifest.counted(count, 'file or folder', 'files or folders')} in {name}"
        for name, count in sorted(left_out.items())
    ]
    return LEFT_OUT.format(counts=listing.in_words(counts)) if counts else ""


def _copy_archives(chosen: Settings, draft: Path) -> None:
    if (chosen.data / "blobs").is_dir():  # elsewhere with the setting `blobs`
        (draft / "blobs").mkdir(exist_ok=True)
        for archive in (chosen.data / "blobs").iterdir():
            copy = draft / "blobs" / archive.name
            # An archive is named by its content, so it never changes. Its upload may be under way.
            if not copy.exists():
                with suppress(FileNotFoundError):
                    shutil.copy2(archive, copy)


def _copy_database(chosen: Settings, draft: Path) -> None:
    if not chosen.database:
        sqlite.copy_to(chosen.data / FILE, draft / FILE)
        return
    with _snapshot(chosen) as source:
        target = open_database(Settings(data=draft))
        try:
            migrate.migrate(target)
            with target.writing.connect() as writing, writing.begin():
                moving.compare(writing, moving.copy(source, writing, lambda _table, _rows: None))
        except DBAPIError as error:
            sqlite.raise_if_full(error.orig, draft)
            raise
        finally:
            target.dispose()


@contextmanager
def _snapshot(chosen: Settings) -> Iterator[Connection]:
    """PostgreSQL as it is at this moment. It must have this version's tables: to migrate it is the
    decision of whoever starts a server."""
    database = open_database(chosen)
    try:
        before, now = migrate.revision(database.reading), migrate.head()
        if before != now:
            raise BackupFailed(
                f"{database.name} has the tables of another version of Tapeline (revision"
                f" {before or 'none'}, this version has {now}). Use the version that its server"
                " has, or --without-database and pg_dump."
            )
        with database.reading.connect() as connection, connection.begin():
            yield connection
    except DBAPIError as error:
        raise BackupFailed(f"The database cannot be copied: {failures.reason(error)}") from error
    finally:
        database.dispose()
