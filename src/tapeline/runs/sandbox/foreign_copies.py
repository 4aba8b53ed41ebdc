"""Copies a folder that a hostile process may change while we read it, perhaps as root.

Every name is opened separately, relative to its folder and never through a link, so a name that is
swapped during the copy leads nowhere else. A copy takes no more space than the original: holes stay
holes, and hard links stay hard links. Folders whose paths are too long are left out, and told.
"""

import errno
import os
import stat
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from tapeline.deep_folders import Descent, Identity
from tapeline.runs.shim.tree import LONGEST_PATH

CHUNK = 1 << 20
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


# It is gone, or something else by now.
_REPLACED = {errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.ESTALE}

Parts = tuple[str, ...]


def copy(source: Path, target: Path, longest: int = LONGEST_PATH) -> dict[str, int]:
    """Copy a folder with its files and links while it exists. Pipes, sockets and devices are left
    out.

    Return how many folders with longer paths, files and folders that we may not read, and hard
    links to files of other users are not in the copy, by the name at the top.
    """
    with ExitStack() as open_ones:
        target.mkdir(mode=0o700, exist_ok=True)  # inside, every name must be new
        theirs, ours = Place(source), Place(target)
        open_ones.callback(theirs.close)
        open_ones.callback(ours.close)
        copying = _Copying(theirs, ours, target, longest)
        copying.work()
        return dict(copying.left_out)


class Place(Descent):
    """A folder below another, opened name by name: a longer path could be redirected in its middle,
    or exceed the kernel's limit. The next one is mostly near, and is reached from the last one."""

    def __init__(self, top: Path) -> None:
        super().__init__(top)
        self._parts: list[str] = []
        self._above: list[Identity] = []

    def go(self, parts: Parts) -> int:
        """The descriptor of a folder, until the next call."""
        try:
            self._go_up(_shared(self._parts, parts))
        except OSError:  # it was moved
            self.start_again()
            self._parts, self._above = [], []
        for name in parts[len(self._parts) :]:
            above = self.identity()
            self.enter(name)
            self._above.append(above)
            self._parts.append(name)
        return self.here

    def _go_up(self, depth: int) -> None:
        while len(self._parts) > depth:
            self._parts.pop()
            self.leave(self._above.pop())


def is_too_long(parts: Iterable[str], longest: int = LONGEST_PATH) -> bool:
    return len(os.fsencode("/".join(parts))) > longest


class _Copying:
    def __init__(self, theirs: Place, ours: Place, target: Path, longest: int) -> None:
        self._theirs, self._ours, self._target, self._longest = theirs, ours, target, longest
        self._keeps_owners = os.geteuid() == 0
        self._copied: dict[Identity, tuple[Parts, str]] = {}
        self.left_out: Counter[str] = Counter()

    def work(self) -> None:
        waiting: list[Parts] = [()]
        while waiting:
            parts = waiting.pop()
            try:
                theirs = self._theirs.go(parts)
            except OSError as error:
                self._count(error, parts)
                continue
            folders = self._copy_folder(theirs, self._ours.go(parts), parts)
            waiting.extend((*parts, name) for name in folders)

    def _copy_folder(self, theirs: int, ours: int, parts: Parts) -> list[str]:
        """Copy the content of a folder; return the names of its subfolders."""
        folders, status = [], os.fstat(theirs)
        for name in os.listdir(theirs):
            try:
                mode = mode_of(theirs, name)
            except OSError as error:
                self._count(error, (*parts, name))
                continue
            if stat.S_ISDIR(mode):
                if is_too_long((*parts, name), self._longest):
                    self.left_out[(*parts, name)[0]] += 1
                    continue
                os.mkdir(name, 0o700, dir_fd=ours)
                folders.append(name)
            elif stat.S_ISLNK(mode):
                _copy_link(theirs, ours, name)
            elif stat.S_ISREG(mode):
                self._copy_file(theirs, ours, parts, name, status.st_uid)
        self._dress(ours, status)
        return folders

    def _count(self, error: OSError, parts: Parts) -> None:
        """What is gone is in no copy. What we may not read is told; anything else is ours."""
        if error.errno in {errno.EACCES, errno.EPERM} and parts:
            self.left_out[parts[0]] += 1
        elif error.errno not in _REPLACED or not parts:
            raise error

    def _copy_file(self, theirs: int, ours: int, parts: Parts, name: str, owner: int) -> None:
        try:
            file = os.open(name, _READ, dir_fd=theirs)
        except OSError as error:
            self._count(error, (*parts, name))
            return
        with ExitStack() as open_ones:  # it may be a folder by now, which makes no file object
            open_ones.callback(os.close, file)
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                return
            if _is_anothers(status, owner):
                self.left_out[(*parts, name)[0]] += 1
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
        there = Place(self._target)
        try:
            os.link(known[1], name, src_dir_fd=there.go(known[0]), dst_dir_fd=ours)
        finally:
            there.close()

    def _dress(self, made: int, status: os.stat_result) -> None:
        """As root, each model has a separate user, which must own its state."""
        if self._keeps_owners:
            os.fchown(made, status.st_uid, status.st_gid)
        os.fchmod(made, status.st_mode & 0o777)
        os.utime(made, ns=(status.st_atime_ns, status.st_mtime_ns))


def _shared(some: Sequence[str], others: Sequence[str]) -> int:
    """How many names they begin with in common."""
    pairs = zip(some, others, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(some), len(others)))


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
            place += os.pwrite(out, data, place)  # a disk that gets full takes only a part
        else:
            continue
        break
    os.ftruncate(out, size)
