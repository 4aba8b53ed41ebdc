"""The data directory: private, and used by one server at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from tapeline import host_faults, private_files
from tapeline.errors import CannotStart

LOCK = "server.lock"
DATABASE = "tapeline.db"
OURS = (LOCK, DATABASE, "keys")


def prepare(data: Path) -> None:
    """Create the directory if needed. Only this user may read it and the files we create."""
    os.umask(0o077)
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if data.stat().st_mode & 0o077:
            _refuse_if_anybodys(data)
            data.chmod(0o700)
    except OSError as error:
        what = "it is a file" if isinstance(error, FileExistsError) else error.strerror
        raise CannotStart(
            f"The data directory {data} cannot be used: {what}. Choose another with --data."
        ) from error


def require(data: Path) -> None:
    """For commands about an existing server: a misspelt directory must not become a new one."""
    # Not Path.exists, which raises if it may not read the parent directory.
    if not any(os.path.exists(data / name) for name in OURS):  # noqa: PTH110
        raise CannotStart(f"There is no Tapeline in {data}. Name its directory with --data.")


def require_database(data: Path, database: str) -> None:
    """For commands that read the database: opening a SQLite file would create an empty one."""
    if database:
        return
    require(data)
    if not os.path.exists(data / DATABASE):  # noqa: PTH110 - as above
        raise CannotStart(
            f"There is no database in {data}. If it is in PostgreSQL, name it with --database."
        )


def refuse_second(data: Path) -> None:
    """Raise if a server holds the directory. Creates nothing: the path may be a mistake."""
    with suppress(OSError), (data / LOCK).open("r") as lock:
        _take(lock, data)


def server_of(data: Path) -> str:
    """The note of the server that holds the directory; empty if there is none."""
    with suppress(OSError), (data / LOCK).open("r") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return lock.read().strip()
    return ""


def fresh_folder(path: Path) -> Path:
    """An empty folder for temporary files; clears those that a crash left behind."""
    private_files.discard(path)
    path.mkdir(mode=0o700, exist_ok=True)
    return path


@contextmanager
def only_server(data: Path, note: str) -> Iterator[None]:
    """Hold the directory. The kernel releases the lock when the process ends, however it ends."""
    prepare(data)
    path = data / LOCK
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise CannotStart(host_faults.cannot_write(path, error)) from error
    with os.fdopen(descriptor, "r+") as lock:
        _take(lock, data)
        lock.truncate()
        lock.write(note)
        lock.flush()
        yield


def _take(lock: IO[str], data: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CannotStart(
            f"Tapeline is already running on {data}: {lock.read().strip() or 'starting'}."
            " Stop it first, or choose another directory with --data."
        ) from None


def _refuse_if_anybodys(data: Path) -> None:
    """`--data /tmp` must not lock everyone else out of /tmp."""
    inside = {entry.name for entry in data.iterdir()}
    if inside and not inside & set(OURS):
        raise CannotStart(
            f"The data directory {data} is readable by other users and contains other files. Choose"
            f" an empty one with --data, or make it private first: chmod 700 {data}"
        )
