"""Untrusted folders: read, measured and removed without following a link in them."""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO

from tapeline import deep_folders
from tapeline.logs import Log

log = Log(__name__)


class NotAFile(OSError):
    """A folder, a link, a pipe or the like where a file should be."""


def is_folder(path: Path) -> bool:
    with suppress(OSError):
        return stat.S_ISDIR(path.lstat().st_mode)
    return False


def remove(path: Path) -> None:
    """Raises why it is still there."""
    deep_folders.remove(path)


def discard(path: Path) -> None:
    """The same for what nobody misses, where others would have to wait for an error. It is told,
    and tried again by whoever clears that folder next."""
    try:
        deep_folders.remove(path)
    except OSError as error:
        log.warning("folder_not_removed", path=str(path), why=str(error))


def opened(path: Path) -> IO[bytes] | None:
    """A regular file; never through a link (we may read what they may not), nor from a pipe."""
    with suppress(OSError):
        return really_opened(path)
    return None


def really_opened(path: Path) -> IO[bytes]:
    """The same, but raises why it cannot be opened."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO}:  # a link, or a socket
            raise NotAFile(error.errno, error.strerror) from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotAFile(errno.EINVAL, "It is not a file")
    return os.fdopen(descriptor, "rb")


def read_text(path: Path, most: int) -> str | None:
    """The text of a regular file of at most this size; None for anything else."""
    file = opened(path)
    if file is None:
        return None
    with file:
        data = file.read(most + 1)
    return data.decode("utf-8", "replace") if len(data) <= most else None


def size(path: Path, *, alone: bool = False) -> int:
    """Bytes on disk; a file with several links counts once or, if `alone`, not at all."""
    return deep_folders.size(path, alone=alone)
