"""Folders and files that get their name once they are complete and safe on the disk.

A draft is locked while its process lives, so that the next process can tell one that a crash left
behind from one that is being written.
"""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tapeline import host_faults, private_files
from tapeline.backups import walking
from tapeline.errors import Problem

ENDING = ".part"


class BackupFailed(Problem):
    """The backup could not be made or read."""


@contextmanager
def named_when_complete(path: Path) -> Iterator[Path]:
    """A new folder to fill, which is renamed to `path` at the end, or removed."""
    with refusals(path), _locked(path) as draft:
        yield draft
        sync(draft)
        draft.rename(path)
        private_files.sync(path.parent)


@contextmanager
def scratch(path: Path) -> Iterator[Path]:
    """A new folder that is removed at the end."""
    with refusals(path), _locked(path) as draft:
        yield draft


def draft_of(path: Path) -> Path:
    # One per process: two that write the same backup must not share a draft.
    return path.with_name(f".{path.name}.{os.getpid()}{ENDING}")


def sweep(folder: Path, names: str) -> None:
    """Remove drafts whose process is gone; `names` is a pattern of the names they would get."""
    theirs = re.compile(rf"\.(?:{names})\.\d+{re.escape(ENDING)}")
    for draft in folder.iterdir():
        if not theirs.fullmatch(draft.name) or not draft.is_dir():
            continue
        with suppress(OSError):
            lock = _lock(draft)
            try:
                private_files.discard(draft)
            finally:
                os.close(lock)


def sync(folder: Path) -> None:
    """Wait until a folder and everything in it is on the disk."""
    for entry in walking.entries(folder):
        if entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False):
            private_files.sync(Path(entry.path))
    private_files.sync(folder)


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Say in one sentence why something cannot be written, and what to do."""
    try:
        yield
    except OSError as error:
        raise BackupFailed(host_faults.cannot_write(path, error)) from error


@contextmanager
def _locked(path: Path) -> Iterator[Path]:
    sweep(path.parent, re.escape(path.name))
    draft = draft_of(path)
    draft.mkdir(mode=0o700)
    lock = _lock(draft)
    try:
        yield draft
    finally:
        private_files.discard(draft)
        os.close(lock)


def _lock(draft: Path) -> int:
    """The kernel releases it when the process ends, however it ends."""
    descriptor = os.open(draft, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
