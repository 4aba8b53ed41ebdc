"""The name of this host among all that share a database; its runs carry it.

Only the host that started a run can know that it is gone, so no two hosts may share a name. A data
directory can be copied with its name: the file says where it was written, and on PostgreSQL only
one server at a time holds a name.
"""

import os
from collections.abc import Callable
from pathlib import Path

from tapeline.errors import CannotStart
from tapeline.ids import new_id
from tapeline.logs import Log
from tapeline.polling import poll

log = Log(__name__)

PATIENCE = 20.0  # seconds until the database notices that a server lost power
PAUSE = 0.5

Take = Callable[[str], bool]
"""Hold a name until this process ends; False while another server holds it."""


def settle(file: Path, take: Take, *, is_on_hold: bool = False) -> str:
    """This host's name. A copy keeps the name of its original only if the original no longer holds
    it, as after a restore; while both run, the copy is a separate host. While it is on hold, the
    file goes on to say that it is a copy."""
    name, is_here = _read(file)
    if name and is_here:
        if not poll(lambda: take(name), within=PATIENCE, every=PAUSE):
            raise CannotStart(
                f"Another server runs as this host ({name}) on this database. If this data"
                f" directory is a copy of its directory, delete {file} here, and start again."
            )
        return name
    if not name or not take(name):
        if name:
            log.warning("copied_data_directory", host_of_the_original=name)
        name = new_id()
        take(name)
    if not (is_on_hold and is_copied(file)):
        keep(file, name)
    return name


def is_copied(file: Path) -> bool:
    """Whether the data directory is a copy that was not released yet."""
    name, is_here = _read(file)
    return bool(name) and not is_here


def _read(file: Path) -> tuple[str, bool]:
    """The name, and whether it was written into this very file; empty when there is none."""
    try:
        name, _, place = file.read_text().strip().partition(" ")
        return name, place == str(file.stat().st_ino)
    except FileNotFoundError:
        return "", False


def keep(file: Path, name: str) -> None:
    """Under another name first, so that it is never half-written; a rename keeps the inode."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as opened:
        opened.write(f"{name} {os.fstat(descriptor).st_ino}\n")
        opened.flush()
        os.fsync(descriptor)
    draft.rename(file)
