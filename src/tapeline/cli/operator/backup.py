"""`tapeline backup`: copy all that cannot be rebuilt to a folder, even while a server runs.

The folder is a data directory: to restore it, start a server on a copy of it. It is on hold, so
that nothing trades twice.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import select

from tapeline import compose, datadir, logs, settings
from tapeline.cli.server.options import Config, Data, Database
from tapeline.cli.terminal import saving
from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.failures import Failure
from tapeline.cli.terminal.screen import Screen
from tapeline.runs import holds
from tapeline.runs.sandbox import foreign_copies
from tapeline.settings import Settings
from tapeline.store.backends import sqlite
from tapeline.store.tables.core import models
from tapeline.store.tables.tape import tapes
from tapeline.tape.record import verify

# Everything else in a data directory is rebuilt when it is missing.
KEPT = ("keys", "host", "state")
FILE = "tapeline.db"
COPY = "It is a backup of {data}. Its models must not run next to the original."


@command("tapeline backup /backup/tapeline-monday", options=JSON)
def backup(
    context: typer.Context,
    to: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="The new folder; it must not exist.", show_default=False
        ),
    ],
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Copy a server's data to a folder, even while it runs.

    Copies the database, keys, archives and the files that models keep, and checks every tape in
    the copy. A PostgreSQL database is not included: use pg_dump.
    """
    screen = Screen(as_json=context.obj.as_json)
    chosen = settings.load({"data": data, "database": database, "config": config})
    logs.start("warning", chosen.log_format)
    datadir.require(chosen.data)
    if to.exists():
        raise Failure(f"{to} already exists. Choose another folder.")
    with saving.saved_folder(to) as draft:
        os.umask(0o077)
        draft.mkdir(mode=0o700)
        _copy(chosen, draft)
        holds.put(draft, holds.ALL, COPY.format(data=chosen.data))
        checked = None if chosen.database else _checked(draft)
    said = f"{to} holds the data of {chosen.data}, with {checked} tapes that match their seals."
    if checked is None:
        said = f"{to} holds the files of {chosen.data}. The database is not in it: use pg_dump."
    screen.done(said, {"folder": str(to), "tapes": checked})


def _copy(chosen: Settings, draft: Path) -> None:
    # Archives before the database, and again after it: an archive that the copied database names
    # may have been deleted since, or may have arrived during the copy.
    _copy_archives(chosen, draft)
    if not chosen.database:
        sqlite.copy_to(chosen.data / FILE, draft / FILE)
    _copy_archives(chosen, draft)
    for name in KEPT:
        found = chosen.data / name
        if found.is_dir():
            foreign_copies.copy(found, draft / name)  # models write in `state`
        elif found.is_file():
            shutil.copy2(found, draft / name)


def _copy_archives(chosen: Settings, draft: Path) -> None:
    if (chosen.data / "blobs").is_dir():  # elsewhere with the setting `blobs`
        (draft / "blobs").mkdir(exist_ok=True)
        for archive in (chosen.data / "blobs").iterdir():
            copy = draft / "blobs" / archive.name
            # An archive is named by its content, so it never changes. Its upload may be under way.
            if not copy.exists():
                with suppress(FileNotFoundError):
                    shutil.copy2(archive, copy)


def _checked(draft: Path) -> int:
    """The number of tapes in the copy; a broken tape fails the backup."""
    with compose.open_store(Settings(data=draft)) as store:
        of_models = select(tapes.c.no).join(models, models.c.id == tapes.c.model_id)
        numbers = store.read_now(lambda connection: connection.scalars(of_models).all())
        for number in numbers:
            broken = store.read_now(verify.first_break, number)
            if broken is not None:
                raise Failure(
                    f"A tape is broken at event {broken}, in the original too. Look for an"
                    " earlier backup in which it is intact."
                )
    return len(numbers)
