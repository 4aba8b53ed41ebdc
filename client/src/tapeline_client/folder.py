"""A queue's folder: its owner (a lock that ends with the process), and how much of it was sent."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import sys
import time
import zlib

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_UNBORN = ".new-"
_DAY = 24 * 3600
SUPERSEDED = "superseded"


class Held(Exception):
    """Another live process owns it."""


class Folder:
    """One process's queue on disk. Open means: locked by us."""

    def __init__(self, path: str, lock: int) -> None:
        self.path = path
        self.name = os.path.basename(path)
        self._lock = lock
        self._cursor = os.open(
            os.path.join(path, "cursor"), os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600
        )

    @classmethod
    def make(cls, parent: str) -> Folder:
        """Locked before it gets the name by which other processes find it."""
        os.makedirs(parent, 0o700, exist_ok=True)
        name = f"{time.time_ns():016x}-{os.getpid()}-{secrets.token_hex(6)}"
        unborn = os.path.join(parent, _UNBORN + name)
        os.mkdir(unborn, 0o700)
        lock = _locked(unborn)
        path = os.path.join(parent, name)
        os.rename(unborn, path)
        return cls(path, lock)

    @classmethod
    def take_over(cls, path: str) -> Folder:
        """Take over the queue of a process that is gone; raises Held if it is alive."""
        return cls(path, _locked(path))

    @property
    def is_superseded(self) -> bool:
        return os.path.exists(os.path.join(self.path, SUPERSEDED))

    def mark_superseded(self) -> None:
        with open(os.path.join(self.path, SUPERSEDED), "wb"):
            pass

    def cursor(self) -> tuple[int, int, int]:
        """The piece being sent, up to where it was, and up to where the batch under way goes."""
        os.lseek(self._cursor, 0, os.SEEK_SET)
        text, _, check = os.read(self._cursor, 200).rpartition(b" ")
        try:
            if int(check, 16) != zlib.crc32(text):
                return 0, 0, 0
            number, sent, until = text.split()
            return int(number), int(sent), int(until)
        except ValueError:
            return 0, 0, 0

    def move(self, number: int, sent: int, until: int, *, sync: bool) -> None:
        text = b"%012d %012d %012d" % (number, sent, until)
        os.lseek(self._cursor, 0, os.SEEK_SET)
        os.write(self._cursor, b"%b %08x" % (text, zlib.crc32(text)))
        if sync:
            os.fsync(self._cursor)

    def close(self) -> None:
        """Release it; the next process may take it over."""
        os.close(self._cursor)
        os.close(self._lock)

    def delete(self) -> None:
        # Still locked during deletion, so that no process takes over half of it.
        os.close(self._cursor)
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def left_behind(parent: str) -> list[str]:
    """Queues in a folder, oldest first. Some may be in use."""
    try:
        names = sorted(os.listdir(parent))
    except OSError:
        return []
    for name in names:
        path = os.path.join(parent, name)
        if name.startswith(_UNBORN) and _age(path) > _DAY:
            shutil.rmtree(path, ignore_errors=True)
    paths = [os.path.join(parent, name) for name in names if not name.startswith(_UNBORN)]
    return [path for path in paths if os.path.exists(os.path.join(path, "lock"))]


def _age(path: str) -> float:
    try:
        return time.time() - os.stat(path).st_mtime
    except OSError:
        return 0.0


def _locked(path: str) -> int:
    file = os.path.join(path, "lock")
    flags = os.O_RDWR | os.O_CREAT
    try:
        lock = os.open(file, flags, 0o600)
    except FileNotFoundError:
        raise Held from None  # its owner finished it at this moment
    try:
        _lock(lock)
        _check_it_is_still_there(lock, file)
    except BaseException:
        os.close(lock)
        raise
    return lock


def _check_it_is_still_there(lock: int, file: str) -> None:
    """Its owner may have deleted it between our opening and our locking."""
    if not os.path.exists(file) or not os.path.samestat(os.fstat(lock), os.stat(file)):
        raise Held


def _lock(descriptor: int) -> None:
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN):
            raise Held from None
        raise
