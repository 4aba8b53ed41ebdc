"""Files that a command saves: complete and safe on the disk under their name, or not there."""

import os
import shutil
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


@contextmanager
def saved_folder(folder: Path) -> Iterator[Path]:
    """The same for a folder and all that is put into it."""
    draft = _draft(folder)
    with _refusals(folder):
        try:
            shutil.rmtree(draft, ignore_errors=True)  # of a killed process with this id
            yield draft
            for at, _, names in os.walk(draft):
                for name in (*names, "."):
                    _sync(Path(at) / name)
            _name(draft, folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _draft(path: Path) -> Path:
    # One per process: two that save the same file must not share a draft.
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def _name(draft: Path, path: Path) -> None:
    draft.rename(path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    if path.is_symlink() or not (path.is_file() or path.is_dir()):
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        fault = host_faults.fault_of(error)
        cure = f" {fault.cure}, or choose another place." if fault else ""
        raise Failure(f"{path} cannot be written: {error.strerror or error}.{cure}") from error
