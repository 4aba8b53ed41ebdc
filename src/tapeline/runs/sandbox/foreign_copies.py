"""Copies a folder that a hostile process may change while we read it, perhaps as root.

Every name is opened separately, relative to its folder and never through a link, so a name that is
swapped during the copy leads nowhere else. A copy takes no more space than the original: holes stay
holes, and hard links stay hard links.
"""

import os
import stat
from collections import deque
from contextlib import ExitStack
from pathlib import Path

CHUNK = 1 << 20
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def copy(source: Path, target: Path) -> None:
    """Copy a folder with its files and links while it exists. Pipes, sockets, devices, and hard
    links to files of other users, are left out."""
    _Copying(source, target).work()


Parts = tuple[str, ...]


class _Copying:
    def __init__(self, source: Path, target: Path) -> None:
        self._source, self._target = source, target
        self._keeps_owners = os.geteuid() == 0
        self._copied: dict[tuple[int, int], tuple[Parts, str]] = {}

    def work(self) -> None:
        self._target.mkdir(mode=0o700, exist_ok=True)  # inside, every name must be new
        waiting: deque[Parts] = deque([()])
        while waiting:
            parts = waiting.popleft()
            with ExitStack() as open_ones:
                try:
                    theirs = opened_below(open_ones, self._source, parts)
                except OSError:
                    continue  # gone or replaced by now
                ours = opened_below(open_ones, self._target, parts)
                folders = self._copy_folder(theirs, ours, parts)
                waiting.extend((*parts, name) for name in folders)

    def _copy_folder(self, theirs: int, ours: int, parts: Parts) -> list[str]:
        """Copy the content of a folder; return the names of its subfolders."""
        folders, status = [], os.fstat(theirs)
        for name in os.listdir(theirs):
            mode = mode_of(theirs, name)
            if stat.S_ISDIR(mode):
                os.mkdir(name, 0o700, dir_fd=ours)
                folders.append(name)
            elif stat.S_ISLNK(mode):
                _copy_link(theirs, ours, name)
            elif stat.S_ISREG(mode):
                self._copy_file(theirs, ours, parts, name, status.st_uid)
        self._dress(ours, status)
        return folders

    def _copy_file(self, theirs: int, ours: int, parts: Parts, name: str, owner: int) -> None:
        try:
            file = os.open(name, _READ, dir_fd=theirs)
        except OSError:
            return  # gone, or replaced by a link
        with ExitStack() as open_ones:  # it may be a folder by now, which makes no file object
            open_ones.callback(os.close, file)
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode) or _is_anothers(status, owner):
                return
            known = self._copied.get((status.st_dev, status.st_ino))
            if known is not None:
                self._link(known, ours, name)
                return
            with os.fdopen(os.open(name, _NEW, 0o600, dir_fd=ours), "wb", buffering=0) as out:
                _copy_content(file, out.fileno(), status.st_size)
                self._dress(out.fileno(), status)
            if status.st_nlink > 1:
                self._copied[status.st_dev, status.st_ino] = (parts, name)

    def _link(self, known: tuple[Parts, str], ours: int, name: str) -> None:
        with ExitStack() as open_ones:
            there = opened_below(open_ones, self._target, known[0])
            os.link(known[1], name, src_dir_fd=there, dst_dir_fd=ours)

    def _dress(self, made: int, status: os.stat_result) -> None:
        """As root, each model has a separate user, which must own its state."""
        if self._keeps_owners:
            os.fchown(made, status.st_uid, status.st_gid)
        os.fchmod(made, status.st_mode & 0o777)
        os.utime(made, ns=(status.st_atime_ns, status.st_mtime_ns))


def opened_below(open_ones: ExitStack, top: Path, parts: Parts) -> int:
    """Open a folder name by name: a longer path could be redirected in its middle, or exceed the
    kernel's limit."""
    folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for name in parts:
        try:
            below = os.open(name, _READ | os.O_DIRECTORY, dir_fd=folder)
        finally:
            os.close(folder)
        folder = below
    open_ones.callback(os.close, folder)
    return folder


def mode_of(folder: int, name: str) -> int:
    """Zero for what is gone."""
    try:
        return os.lstat(name, dir_fd=folder).st_mode
    except FileNotFoundError:
        return 0


def _copy_link(theirs: int, ours: int, name: str) -> None:
    """Copied as a link, and never followed."""
    try:
        leads_to = os.readlink(name, dir_fd=theirs)
    except OSError:
        return  # replaced by something else
    os.symlink(leads_to, name, dir_fd=ours)


def _is_anothers(status: os.stat_result, owner: int) -> bool:
    """A hard link to a file of another user: they could not read it, but we could."""
    return status.st_nlink > 1 and status.st_uid != owner


def _copy_content(file: int, out: int, size: int) -> None:
    """Only the bytes that it had when it was opened: it may grow forever. Holes are kept."""
    place = 0
    while place < size:
        try:
            place = os.lseek(file, place, os.SEEK_DATA)
        except OSError:
            break  # no data from here on
        stop = min(size, os.lseek(file, place, os.SEEK_HOLE))
        while place < stop:
            data = os.pread(file, min(CHUNK, stop - place), place)
            if not data:
                break
            os.pwrite(out, data, place)
            place += len(data)
        else:
            continue
        break
    os.ftruncate(out, size)
