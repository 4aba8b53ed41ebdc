"""The name of this host among all that share a database; its runs carry it.

Only the host that started a run can know that it is gone, so no two hosts may share a name. A data
directory can be copied with its name: the file says where it was written, and on PostgreSQL only
one server at a time holds a name. A copy whose original may still be alive uses the name only after
an operator has released it (`unreleased_copy`).
"""

import os
from collections.abc import Callable
from pathlib import Path

from tapeline.errors import CannotStart
from tapeline.ids import new_id
from tapeline.logs import Log
from tapeline.polling import poll

log = Log(__name__)

FILE = "host"
"""In the data directory, with the name."""
LOCK_OF_NODE = "node.lock"
"""There too, if it is that of a cluster's node, which has no server and no database."""
PATIENCE = 20.0  # seconds until the database notices that a server lost power
PAUSE = 0.5

Take = Callable[[str], bool]
"""Hold a name until this process ends; False while another server holds it."""
GiveBack = Callable[[str], None]
"""Let another server have the name."""


def settle(file: Path, take: Take, give_back: GiveBack) -> str:
    """This host's name. A copy beside its running original is a separate host. Any other copy has
    the name of its original, which it does not hold: nobody can tell an original that is gone from
    one that is cut off, or that has a database of its own."""
    name, is_copy = _read(file)
    if is_copy:
        if take(name):
            give_back(name)
            return name
        log.warning("copied_data_directory", host_of_the_original=name)
        name = ""
    if name and not poll(lambda: take(name), within=PATIENCE, every=PAUSE):
        raise CannotStart(
            f"Another server runs as this host ({name}) on this database. If that server has a copy"
            f" of this data directory, stop it first. If this one is the copy, delete {file} here,"
            " and start again."
        )
    if not name:
        name = new_id()
        take(name)
    keep(file, name)
    return name


def is_node(data: Path) -> bool:
    """Whether this data directory belongs to a machine that runs models for a cluster."""
    return (data / LOCK_OF_NODE).exists()


def name_in(file: Path) -> str:
    """As it was written; empty if there is none."""
    return _read(file)[0]


def is_copied(file: Path) -> bool:
    """Whether the data directory is a copy that was not released yet."""
    return _read(file)[1]


def _read(file: Path) -> tuple[str, bool]:
    """The name, empty if there is none; and whether it was written into another file than this. An
    older version wrote no place."""
    try:
        name, _, place = file.read_text().strip().partition(" ")
        return name, bool(place) and place != str(file.stat().st_ino)
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
