"""Files that a command saves: complete and safe on the disk under their name, or not there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tapeline import host_faults, private_files
from tapeline.cli.terminal.failures import Failure


@contextmanager
def saved(file: Path) -> Iterator[IO[bytes]]:
    """A file to write into, which gets its name once it is complete."""
    draft = _draft(file)
    with _refusals(file):
        try:
            with draft.open("wb") as opened:
                yield opened
                opened.flush()
                os.fsync(opened.fileno())
            _name(draft, file)
        finally:
            private_files.discard(draft)


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
