"""Untrusted folders: read, measured and removed without following a link in them."""

import errno
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO


class NotAFile(OSError):
    """A folder, a link, a pipe or the like where a file should be."""


def is_folder(path: Path) -> bool:
    with suppress(OSError):
        return stat.S_ISDIR(path.lstat().st_mode)
    return False


def remove(path: Path) -> None:
    if is_folder(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


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
    total, seen, folders = 0, set(), [str(path)]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif status.st_nlink > 1:
                    if alone or status.st_ino in seen:
                        continue
                    seen.add(status.st_ino)
                total += status.st_blocks * 512
    return total
