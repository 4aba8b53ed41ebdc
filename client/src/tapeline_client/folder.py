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
_LOCK, _CURSOR, SUPERSEDED = "lock", "cursor", "superseded"


class Held(Exception):
    """Another live process owns it."""


class Folder:
    """One process's queue on disk. Open means: locked by us."""

    def __init__(self, path: str, lock: int) -> None:
        self.path = path
        self._lock = lock
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        try:
            self._cursor = os.open(os.path.join(path, _CURSOR), flags, 0o600)
        except BaseException:
            os.close(lock)  # or nobody could take it over while this process lives
            raise

    @classmethod
    def make(cls, parent: str) -> Folder:
        """Locked before it gets the name by which other processes find it."""
        os.makedirs(parent, 0o700, exist_ok=True)
        name = f"{time.time_ns():016x}-{os.getpid()}-{secrets.token_hex(6)}"
        unborn = os.path.join(parent, _UNBORN + name)
        os.mkdir(unborn, 0o700)
        path = os.path.join(parent, name)
        made: Folder | None = None
        try:
            made = cls(unborn, _locked(unborn))
            made.move(0, 0, 0, sync=False)  # it takes its room now, before the disk may be full
            os.rename(unborn, path)
        except BaseException:
            if made is not None:
                made.close()
            shutil.rmtree(unborn, ignore_errors=True)
            raise
        made.path = path
        return made

    @classmethod
    def take_over(cls, path: str) -> Folder:
        """Take over the queue of a process that is gone; raises Held if it is alive."""
        return cls(path, _locked(path))

    @property
    def is_gone(self) -> bool:
        """Whether somebody deleted it, with what was in it."""
        try:
            unnamed = os.fstat(self._lock).st_nlink == 0
        except OSError:
            return False
        # Some file systems count no names.
        return unnamed and not os.path.exists(os.path.join(self.path, _LOCK))

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
        if _delete_pieces(self.path):
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
    return [path for path in paths if os.path.exists(os.path.join(path, _LOCK))]


def _delete_pieces(path: str) -> bool:
    """Whether all could be deleted: of one that remains, only the cursor says that it was sent."""
    try:
        for name in os.listdir(path):
            if name not in (_LOCK, _CURSOR, SUPERSEDED):
                os.unlink(os.path.join(path, name))
    except OSError:
        return False
    return True


def _age(path: str) -> float:
    try:
        return time.time() - os.stat(path).st_mtime
    except OSError:
        return 0.0


def _locked(path: str) -> int:
    file = os.path.join(path, _LOCK)
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
