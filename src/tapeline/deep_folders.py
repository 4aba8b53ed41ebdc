"""Goes through folders that anybody may have made, however deep, however long their paths; removes
and measures them.

Two descriptors at a time, down by name and up by `..`, so neither the depth nor the length of a
path matters. A link is never followed. Whoever moves folders away meanwhile leads us nowhere else:
the folder above must be the one that we came from.
"""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

AT_ONCE = 1_000  # names of subfolders in memory, of one folder
MOST_LISTED = 100_000  # times: whoever adds names as fast as they go must not keep us for ever
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_ANY_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC  # without reading it


def remove(path: Path) -> None:
    """A file, a link, or a folder with all that is in it. Raises why it is still there."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(status.st_mode):
        path.unlink(missing_ok=True)
        return
    removing = _Removing(path.parent)
    try:
        removing.work(path.name)
    finally:
        removing.close()
    with suppress(FileNotFoundError):
        path.lstat()
        raise removing.error or OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(path))


def size(path: Path, *, alone: bool = False) -> int:
    """Bytes on disk; a file with several links counts once or, if `alone`, not at all."""
    with suppress(FileNotFoundError, NotADirectoryError):
        measuring = _Measuring(path, alone=alone)
        try:
            measuring.work()
        finally:
            measuring.close()
        return measuring.total
    return 0


Identity = tuple[int, int]


class Descent:
    """A place in a tree."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self.here = os.open(top, _FOLDER)
        """The descriptor of this folder, until the next move."""

    def close(self) -> None:
        os.close(self.here)

    def identity(self) -> Identity:
        status = os.fstat(self.here)
        return status.st_dev, status.st_ino

    def enter(self, name: str) -> None:
        self._move(os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=self.here))

    def leave(self, came_from: Identity) -> None:
        self._move(os.open("..", _FOLDER, dir_fd=self.here))
        if self.identity() != came_from:
            raise OSError(errno.ESTALE, "A folder was moved away meanwhile")

    def start_again(self) -> None:
        self._move(os.open(self._top, _FOLDER))

    def _move(self, folder: int) -> None:
        os.close(self.here)
        self.here = folder


class _OwnDescent(Descent):
    """Through folders of our own, as those of models are without root, that forbid reading."""

    def enter(self, name: str) -> None:
        try:
            super().enter(name)
        except PermissionError:
            _allow_reading(self.here, name)
            super().enter(name)


class _Folder:
    """One on the way down to where we are."""

    def __init__(self, identity: Identity, waiting: list[str]) -> None:
        self.identity = identity
        self.waiting = waiting
        """Names of subfolders."""
        self.entered = ""
        self.lost_any = False
        """Since it was listed."""
        self.listed = 0


class _Removing(_OwnDescent):
    error: OSError | None = None
    """The first reason why something is left."""

    def work(self, name: str) -> None:
        """What cannot be removed stays, with the folders above it; everything else goes."""
        way = [_Folder(self.identity(), [name])]
        while way:
            folder = way[-1]
            if folder.waiting:
                folder.entered = folder.waiting.pop()
                if self._has_entered(folder.entered):
                    way.append(_Folder(self.identity(), []))
                    self._empty(way[-1])
            elif len(way) > 1 and folder.lost_any and folder.listed < MOST_LISTED:
                self._empty(folder)  # of what was too much for the last list, or came meanwhile
            else:
                way.pop()
                if way:
                    self.leave(way[-1].identity)
                    way[-1].lost_any |= self._is_removed(way[-1].entered)

    def _has_entered(self, name: str) -> bool:
        try:
            self.enter(name)
        except OSError as error:
            self._note(error)
            return False
        _allow_changes(self.here)
        return True

    def _empty(self, folder: _Folder) -> None:
        """Remove what is not a folder, and note some of the folders."""
        folder.listed += 1
        folder.lost_any = False
        try:
            with os.scandir(self.here) as entries:
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False):
                        folder.lost_any |= self._is_unlinked(entry.name)
                    elif len(folder.waiting) < AT_ONCE:
                        folder.waiting.append(entry.name)
        except OSError as error:
            self._note(error)

    def _is_unlinked(self, name: str) -> bool:
        try:
            os.unlink(name, dir_fd=self.here)
        except OSError as error:
            self._note(error)
            return False
        return True

    def _is_removed(self, name: str) -> bool:
        try:
            os.rmdir(name, dir_fd=self.here)
        except OSError as error:
            self._note(error)
            return False
        return True

    def _note(self, error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):  # somebody else removed it
            self.error = self.error or error


class _Measuring(_OwnDescent):
    def __init__(self, top: Path, *, alone: bool) -> None:
        super().__init__(top)
        self._alone = alone
        self._seen: set[int] = set()
        self.total = 0

    def work(self) -> None:
        way = [_Folder(self.identity(), self._count())]
        while way:
            folder = way[-1]
            if folder.waiting:
                folder.entered = folder.waiting.pop()
                with suppress(OSError):  # gone by now
                    self.enter(folder.entered)
                    way.append(_Folder(self.identity(), self._count()))
                continue
            way.pop()
            if way:
                self._go_back(way)

    def _go_back(self, way: list[_Folder]) -> None:
        """To the end of the way, or as far as it still leads: an installer moves folders around."""
        try:
            self.leave(way[-1].identity)
        except OSError:
            self.start_again()
            for depth, folder in enumerate(way[:-1], 1):
                try:
                    self.enter(folder.entered)
                except OSError:
                    del way[depth:]
                    return
                way[depth].identity = self.identity()

    def _count(self) -> list[str]:
        """Add what is in a folder; return the names of its subfolders."""
        folders = []
        with suppress(OSError), os.scandir(self.here) as entries:
            for entry in entries:
                with suppress(OSError):  # gone by now
                    status = entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                    elif status.st_nlink > 1:
                        if self._alone or status.st_ino in self._seen:
                            continue
                        self._seen.add(status.st_ino)
                    self.total += status.st_blocks * 512
        return folders


def _allow_reading(folder: int, name: str) -> None:
    """By way of /proc: that is the folder itself, whatever has its name by now."""
    seen = os.open(name, _ANY_FOLDER, dir_fd=folder)
    try:
        os.chmod(f"/proc/self/fd/{seen}", 0o700)  # noqa: PTH101
    finally:
        os.close(seen)


def _allow_changes(folder: int) -> None:
    status = os.fstat(folder)
    if status.st_uid == os.geteuid() and status.st_mode & 0o700 != 0o700:
        with suppress(OSError):  # then the removal says why not
            os.fchmod(folder, 0o700)
