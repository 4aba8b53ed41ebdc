"""The data directory: ours alone, and one server's at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tapeline.errors import CannotStart


def prepare(data: Path) -> None:
    """Make the directory if need be; nobody else may look inside, nor at what we make in it."""
    os.umask(0o077)
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if data.stat().st_mode & 0o077:
            data.chmod(0o700)
    except OSError as error:
        raise CannotStart(
            f"The data directory {data} cannot be used: {error.strerror}."
            " Choose another with --data."
        ) from error


@contextmanager
def only_server(data: Path, note: str) -> Iterator[None]:
    """Hold the directory. The kernel lets go of the lock when the process ends, however it ends."""
    prepare(data)
    path = data / "server.lock"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise CannotStart(f"{path} cannot be written: {error.strerror}.") from error
    with os.fdopen(descriptor, "r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotStart(
                f"Tapeline is already running on {data}: {lock.read().strip() or 'starting'}."
                " Stop it first, or choose another directory with --data."
            ) from None
        lock.truncate()
        lock.write(note)
        lock.flush()
        yield
