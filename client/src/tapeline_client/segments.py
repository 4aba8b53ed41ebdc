"""Pieces of the queue: files of one JSON text per line, written through shared memory.

A line copied into a mapped file is the kernel's from that moment on: it costs the caller less than
a microsecond, needs no system call, and outlives a process that is killed. The file is filled with
zeros first, so that a full disk is noticed here and not in the middle of a copy, and so that bytes
lost in a power failure differ from written ones: JSON has no zero byte.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import sys

SEGMENT_BYTES = 1024 * 1024
ENDING = ".ndjson"
_POPULATE = 0x8000 if sys.platform.startswith("linux") else 0
_ROOM = 4 * 1024 * 1024
"""Left free on a disk: the last blocks are where mapped files become dangerous."""


class Segment:
    """One piece. While `map` is set lines are appended; once sealed it is only read."""

    __slots__ = ("compacted", "end", "fd", "map", "number", "path", "queue", "size")

    def __init__(self, queue: str, number: int, path: str | None, size: int) -> None:
        self.queue = queue
        """In the keys of its batches: of a piece on disk, the folder's name, by which a successor
        makes the same keys."""
        self.number = number
        self.path = path
        self.size = size
        self.end = 0
        self.compacted = False
        self.fd = -1
        self.map: mmap.mmap | None = None

    @classmethod
    def in_memory(cls, queue: str, number: int, size: int) -> Segment:
        """For when nothing can be written to disk."""
        made = cls(queue, number, None, size)
        made.map = mmap.mmap(-1, size)
        return made

    @classmethod
    def on_disk(cls, folder: str, number: int, size: int) -> Segment:
        made = cls(os.path.basename(folder), number, path_of(folder, number), size)
        assert made.path is not None
        _check_room(folder, size)
        fd = os.open(
            made.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600
        )
        try:
            _write_all(fd, bytes(size))
            made.map = _mapped(fd, size)
        except BaseException:
            os.close(fd)
            with contextlib.suppress(OSError):
                os.unlink(made.path)
            raise
        made.fd = fd
        return made

    @classmethod
    def left_behind(cls, folder: str, number: int) -> Segment:
        """What another process wrote. A torn last line was never handed over completely."""
        found = cls(os.path.basename(folder), number, path_of(folder, number), 0)
        assert found.path is not None
        with open(found.path, "rb") as file:
            content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        if b"\0" in whole:  # a power failure: pages in the middle never reached the disk
            whole = b"".join(line for line in whole.splitlines(True) if b"\0" not in line)
            _replace(found.path, whole)
        found.end = found.size = len(whole)
        return found

    def append(self, line: bytes) -> None:
        assert self.map is not None
        end = self.end + len(line)
        self.map[self.end : end] = line
        self.end = end

    def read(self, start: int, stop: int) -> bytes:
        if self.map is not None:
            return self.map[start:stop]
        assert self.path is not None
        with open(self.path, "rb") as file:
            file.seek(start)
            return file.read(stop - start)

    def seal(self) -> None:
        """Free the memory; the file keeps its content. A segment in memory stays as it is."""
        if self.fd < 0 or self.path is None:
            return
        if self.map is not None:
            self.map.close()
            self.map = None
        os.ftruncate(self.fd, self.end)
        os.fsync(self.fd)
        os.close(self.fd)
        self.fd, self.size = -1, self.end

    def rewrite(self, content: bytes) -> None:
        """Replace the content, all or nothing."""
        if self.path is None:
            made = mmap.mmap(-1, max(len(content), 1))
            made[: len(content)] = content
            old, self.map = self.map, made
            assert old is not None
            old.close()
        else:
            _replace(self.path, content)
        self.end = self.size = len(content)

    def part_from_file(self) -> None:
        """The file was deleted: its content lives on in the mapping, until it is sent."""
        if self.path is not None:
            with contextlib.suppress(OSError):  # or what is sent from here stays there for ever
                os.unlink(self.path)
        self.path = None
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def forget(self) -> None:
        """Release it without touching the file, which belongs to another process."""
        if self.map is not None:
            self.map.close()
            self.map = None
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def delete(self) -> None:
        self.forget()
        if self.path is not None:
            with contextlib.suppress(OSError):  # the cursor says that it is done
                os.unlink(self.path)


def path_of(folder: str, number: int) -> str:
    return os.path.join(folder, f"{number:012d}{ENDING}")


def numbers_in(folder: str) -> list[int]:
    """Of the pieces in a folder, oldest first."""
    stems = [name[: -len(ENDING)] for name in os.listdir(folder) if name.endswith(ENDING)]
    return sorted(int(stem) for stem in stems if stem.isdigit())


def sync_folder(path: str) -> None:
    """The names in it, so that a power failure does not take a file's name from it."""
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _mapped(fd: int, size: int) -> mmap.mmap:
    if not _POPULATE:
        return mmap.mmap(fd, size)
    # Every page is looked up now, by the thread that has time, and not at the first line in it.
    return mmap.mmap(fd, size, flags=mmap.MAP_SHARED | _POPULATE)


def _check_room(folder: str, size: int) -> None:
    if not hasattr(os, "statvfs"):
        return
    found = os.statvfs(folder)
    if found.f_bavail * found.f_frsize < size + _ROOM:
        raise OSError(28, "the disk is full", folder)


def _write_all(fd: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)


def _replace(path: str, content: bytes) -> None:
    try:
        with open(path + ".new", "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".new", path)
    except OSError:
        with contextlib.suppress(OSError):  # on a full disk it would take the last room
            os.unlink(path + ".new")
        raise
