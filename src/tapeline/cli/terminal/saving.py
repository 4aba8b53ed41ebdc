"""Files that a command saves: complete and safe on the disk under their name, or not there."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tapeline import host_faults, private_files
from tapeline.cli.terminal.failures import Failure

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

SOON = 8_000_000  # bytes


@contextmanager
def saved(file: Path) -> Iterator[IO[bytes]]:
    """A file to write into, which gets its name once it is complete."""
    draft = _draft(file)
    with _refusals(file):
        try:
            with io.BufferedWriter(_Draft(draft, "wb")) as opened:
                yield opened
                opened.flush()
                os.fsync(opened.fileno())
            _name(draft, file)
        finally:
            private_files.discard(draft)


class _Draft(io.FileIO):
    """Sends every few megabytes on their way to the disk. The kernel would keep a gigabyte until
    the end, and the command would then wait for all of it."""

    def __init__(self, file: Path, mode: str) -> None:
        super().__init__(file, mode)
        self._sent = self._written = 0

    def write(self, data: "ReadableBuffer", /) -> int:
        size = super().write(data)
        self._written += size
        waiting = self._written - self._sent
        if sys.platform == "linux" and waiting >= SOON:
            os.posix_fadvise(self.fileno(), self._sent, waiting, os.POSIX_FADV_DONTNEED)
            self._sent = self._written
        return size


def _draft(path: Path) -> Path:
    # One per process: two that save the same file must not share a draft.
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def _name(draft: Path, path: Path) -> None:
    draft.rename(path)
    private_files.sync(path.parent)


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Failure(host_faults.cannot_write(path, error)) from error
