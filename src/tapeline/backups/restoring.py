"""Makes a data directory from a backup: complete and checked under its name, or not there.

A copy is made and brought up to date; the backup itself is only read.
"""

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from tapeline.backups import checking, drafts, encrypting, listing, making, manifest, walking
from tapeline.backups.checking import Checked
from tapeline.backups.drafts import BackupFailed
from tapeline.backups.making import FILE
from tapeline.runs.holding import holds
from tapeline.runs.sandbox import foreign_copies, ownership
from tapeline.runs.shim.tree import LONGEST_PATH
from tapeline.settings import Settings
from tapeline.store import migrate, moving
from tapeline.store.backends import failures
from tapeline.store.backends.database import Database, open_database
from tapeline.store.tables.tape import tapes
from tapeline.tape.roots import trees

RESTORED = "It was restored from"
COPY = RESTORED + " {backup}. Its models must not run next to the original."
INCOMPLETE = (
    "{backup} is incomplete. {said} Copy it again from the place where it was made, or use another"
    " backup; --keep-broken restores it as it is."
)
NO_DATABASE = (
    "{backup} has no database in it. Restore the database with pg_restore, and put a copy of this"
    " folder in the place of the data directory."
)


def restore(
    backup: Path, target: Settings, *, identity: Path | None = None, keep_broken: bool = False
) -> Checked:
    """Into the data directory of the settings, and into PostgreSQL if they name one. An encrypted
    backup needs a file with the secret key."""
    _refuse_used(target.data)
    if target.database:
        _refuse_used_database(target)
    with _unpacked(backup, target.data, identity) as (draft, uncopied):
        if not (draft / FILE).is_file():
            raise BackupFailed(NO_DATABASE.format(backup=backup))
        holds.put(draft, holds.ALL, COPY.format(backup=backup))
        lost = uncopied or _lost_files(backup, draft)
        made = manifest.read(draft)
        left_out = making.in_words(made.left_out) if made else ""
        if lost and not keep_broken:
            raise BackupFailed(lost)
        checked = checking.check(draft)
        if checked.lacking and not lost:  # by what the database needs: old backups have no list
            lost = INCOMPLETE.format(backup=backup, said=" ".join(checked.lacking))
        if not keep_broken:
            checked.refuse_broken()
            if lost:
                raise BackupFailed(lost)
        _give_states(draft)
        with checking.opened(draft) as database, database.writing.begin() as connection:
            trees.begin_anew(connection)
        (draft / manifest.FILE).unlink(missing_ok=True)
        if target.database:
            checked = _fill(target, draft, keep_broken=keep_broken)
    broken = [lost, *checked.broken] if lost else checked.broken
    return msgspec.structs.replace(checked, broken=broken, lacking=[], left_out=left_out)


def _lost_files(backup: Path, draft: Path) -> str:
    """What a copy of the backup has left out or damaged, by its own list."""
    made = manifest.read(draft)
    lost = listing.lost(draft, made.files) if made and made.files is not None else []
    said = f"These files are missing or changed: {listing.in_words(lost)}."
    return INCOMPLETE.format(backup=backup, said=said) if lost else ""


@contextmanager
def _unpacked(backup: Path, data: Path, identity: Path | None) -> Iterator[tuple[Path, str]]:
    """A copy of the backup, and a sentence about what could not be copied."""
    is_encrypted = encrypting.is_encrypted(backup)
    _refuse_others(backup, is_encrypted=is_encrypted)
    if is_encrypted and identity is None:
        raise BackupFailed(
            f"{backup} is encrypted. Name the file with the secret key: --identity FILE"
        )
    with drafts.named_when_complete(data) as draft:
        left_out: dict[str, int] = {}
        if is_encrypted and identity is not None:
            encrypting.unpack(backup, identity, draft)
        else:
            left_out = foreign_copies.copy(backup, draft, LONGEST_PATH + len("state/"))
        draft.chmod(0o700)
        _refuse_strange(backup, draft)
        said = f"These cannot be copied: {listing.in_words(sorted(left_out))}."
        yield draft, INCOMPLETE.format(backup=backup, said=said) if left_out else ""


def _refuse_others(backup: Path, *, is_encrypted: bool) -> None:
    if not is_encrypted and not backup.is_dir():
        what = "it is not an encrypted file" if backup.exists() else "there is no such thing"
        raise BackupFailed(f"{backup} is not a backup: {what}.")
    if not is_encrypted and not any((backup / name).exists() for name in (FILE, "keys")):
        raise BackupFailed(f"{backup} is not a backup: it has neither a database nor keys.")


def _refuse_strange(backup: Path, draft: Path) -> None:
    """A backup may come from anyone who could write where it was kept. Only the folders of models
    have links, and nothing has devices or pipes, or may run as another user."""
    for entry in walking.entries(draft):
        mode, place = entry.stat(follow_symlinks=False).st_mode, Path(entry.path).relative_to(draft)
        is_plain = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
        is_link = stat.S_ISLNK(mode) and place.parts[0] == "state" and len(place.parts) > 1
        if not (is_plain or is_link) or (is_plain and mode & 0o7000):
            name = walking.shown(str(place))
            raise BackupFailed(
                f"{backup} holds {name}, which no server has put there. Do not trust it."
            )


def _give_states(draft: Path) -> None:
    """Each model's files to its own user: a backup that was copied has lost their owners."""
    with checking.opened(draft) as database, database.reading.connect() as connection:
        numbers = {row.model_id: row.no for row in connection.execute(select(tapes))}
    for folder in (draft / "state").iterdir() if (draft / "state").is_dir() else ():
        uid = ownership.uid_of(numbers[folder.name]) if folder.name in numbers else None
        if uid is not None and folder.is_dir() and not folder.is_symlink():
            ownership.give(folder, uid)


def _refuse_used(data: Path) -> None:
    if data.is_dir() and not any(data.iterdir()):
        return
    if data.exists() or data.is_symlink():
        raise BackupFailed(
            f"{data} already exists. Restore to a new place with --data, or move it away first."
        )


def _refuse_used_database(target: Settings) -> None:
    """Before anything is copied, and before its tables are touched."""
    with _postgres(target) as database:
        before = migrate.revision(database.reading)
        if before == migrate.head():
            with database.reading.connect() as connection:
                moving.refuse_if_used(connection)
        elif before is not None:
            raise BackupFailed(
                f"{database.name} is in use: it has the tables of another version of Tapeline."
                " Give an empty one."
            )


def _fill(target: Settings, draft: Path, *, keep_broken: bool) -> Checked:
    """Copy the SQLite file into an empty PostgreSQL, in one transaction: everything or nothing."""
    with _postgres(target) as database:
        migrate.migrate(database)
        with (
            checking.opened(draft) as source,
            source.reading.connect() as reading,
            database.writing.connect() as writing,
            reading.begin(),
            writing.begin(),
        ):
            moving.refuse_if_used(writing)
            moving.compare(writing, moving.copy(reading, writing, lambda _table, _rows: None))
            checked = checking.check_tapes(writing, None, draft / "keys")
            if not keep_broken:
                checked.refuse_broken()
    (draft / FILE).unlink()
    return checked


@contextmanager
def _postgres(target: Settings) -> Iterator[Database]:
    database = open_database(target)
    try:
        yield database
    except DBAPIError as error:
        raise BackupFailed(
            f"{database.name} cannot be filled: {failures.reason(error)}. Nothing was stored in it."
        ) from error
    finally:
        database.dispose()
