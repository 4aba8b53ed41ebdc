"""Opens a backup and checks it: the database's pages, its tapes, their signatures, the archives and
the keys. A backup gets its name, and is restored, by the same check."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path

import msgspec
from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError

from tapeline import private_files
from tapeline.backups import manifest, needed_keys
from tapeline.backups.drafts import BackupFailed
from tapeline.backups.manifest import Content
from tapeline.settings import Settings
from tapeline.store import migrate
from tapeline.store.backends import failures, sqlite
from tapeline.store.backends.database import Database, open_database
from tapeline.store.tables.core import models
from tapeline.store.tables.runs import versions
from tapeline.store.tables.tape import checkpoints, tapes
from tapeline.tape.proof import key_chain, signer, signing_keys
from tapeline.tape.reading import whole_tape
from tapeline.tape.record import verify

Tape = tuple[int, str]
"""Its number and its model."""

EARLIER = "Look for an earlier backup in which it is intact."


class Checked(msgspec.Struct, frozen=True):
    content: Content
    tapes: int
    """How many were compared with their seals."""
    of: int
    """How many there are."""
    broken: list[str] = []
    """A sentence for each that does not match."""
    lacking: list[str] = []
    """A sentence for each key that no server could do without."""
    left_out: str = ""
    """A sentence about what of models is not in the backup."""

    def refuse_broken(self) -> None:
        if self.broken:
            raise BackupFailed(f"{' '.join(self.broken)} {EARLIER}")


def check(folder: Path, *, tapes: int | None = None) -> Checked:
    """Raise `BackupFailed` if a server could not go on with this folder. With `tapes`, that many
    are compared with their seals: half of them the newest ones, the others by chance."""
    with _readable(), opened(folder) as database, database.reading.connect() as connection:
        _check_pages(connection)
        checked = check_tapes(connection, tapes, folder / "keys")
        _check_archives(connection, folder / "blobs", tapes)
        lacking = needed_keys.lacking(connection, folder / "keys")
    return msgspec.structs.replace(checked, lacking=lacking)


@contextmanager
def opened(folder: Path) -> Iterator[Database]:
    """The SQLite file of a backup or of a copy of one, with this version's tables."""
    database = open_database(Settings(data=folder))
    try:
        migrate.migrate(database)
        yield database
    finally:
        database.dispose()
        private_files.discard(folder / "tapeline.migrating")


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        # The driver may quote what it could not read, which is nobody's business.
        why = failures.reason(error).partition(" with text ")[0]
        raise BackupFailed(f"The database in it cannot be read: {why}. {EARLIER}") from error


def check_tapes(connection: Connection, most: int | None, keys: Path) -> Checked:
    """Compare tapes with their seals, and the newest checkpoint of each with its signature. Tapes
    of deleted models are being cleared and are not checked."""
    of_models = (
        select(tapes.c.no, tapes.c.model_id)
        .join(models, models.c.id == tapes.c.model_id)
        .order_by(tapes.c.signed_at.desc())
    )
    found = [(row.no, row.model_id) for row in connection.execute(of_models)]
    some = _some(found, most)
    is_usable = (keys / signer.NAME).exists() and keys / signer.NAME not in needed_keys.damaged(
        keys
    )
    key = key_chain.public_of(signer.read(keys / signer.NAME)) if is_usable else None
    broken = [why for tape in some if (why := _trouble(connection, tape, key))]
    return Checked(manifest.content_of(connection), len(some) - len(broken), len(found), broken)


def _some(found: list[Tape], most: int | None) -> list[Tape]:
    if most is None or len(found) <= most:
        return found
    newest = most // 2
    return [*found[:newest], *random.sample(found[newest:], most - newest)]


def _trouble(connection: Connection, tape: Tape, key: bytes | None) -> str | None:
    no, model_id = tape
    broken = verify.first_break(connection, no)
    if broken is not None:
        return f"The tape of model {model_id} is broken at event {broken}."
    newest = select(checkpoints).where(checkpoints.c.tape == no)
    last = connection.execute(newest.order_by(checkpoints.c.seq.desc()).limit(1)).first()
    if last is None:
        return None
    links = [
        one.link for one in whole_tape.records(connection, no, after=last.seq - 1, until=last.seq)
    ]
    said = signer.statement(model_id, last.seq, last.link, last.at)
    # The keys so far are in the database. One that was lost before it kept them cannot be checked.
    known = {one.key_id: bytes.fromhex(one.public_key) for one in signing_keys.listed(connection)}
    if key is not None:
        known[key_chain.id_of(key.hex())] = key
    public = known.get(last.key_id)
    if links == [last.link] and (
        public is None or key_chain.is_signed(public, last.signature, said)
    ):
        return None
    return f"The checkpoint of model {model_id} at event {last.seq} does not match its signature."


def _check_pages(connection: Connection) -> None:
    """Every page of the file, every index, every reference."""
    found: str = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one()
    if found != "ok":
        raise BackupFailed(f"The database in it is damaged: {' '.join(found.split())}. {EARLIER}")
    if orphans := sqlite.orphans(connection):
        raise BackupFailed(f"{orphans} rows in its database refer to nothing. {EARLIER}")


def _check_archives(connection: Connection, folder: Path, most: int | None) -> None:
    """Every archive that a version names is there; some are read. Without the folder they are in
    object storage."""
    if not folder.is_dir():
        return
    names = sorted(set(connection.scalars(select(versions.c.archive))))
    if absent := [one for one in names if not (folder / one).is_file()]:
        need = "a version needs is" if len(absent) == 1 else "versions need are"
        raise BackupFailed(
            f"{manifest.counted(len(absent), 'archive')} that {need} not in it, for example"
            f" {absent[0]}."
        )
    for name in names if most is None else random.sample(names, min(most, len(names))):
        with (folder / name).open("rb") as archive:
            if file_digest(archive, "sha256").hexdigest() != name:
                raise BackupFailed(f"The archive {name} in it is damaged. {EARLIER}")
