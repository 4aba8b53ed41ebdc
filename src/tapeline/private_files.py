"""Files that hold a secret: readable only by this user, and never half-written."""

import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tapeline import deep_folders

_DRAFT = re.compile(r"\..+\.(?P<process>\d{1,9})\.\d+")

RESTORE_IT = "Put it back from a backup, which has it in the folder keys."


def write(path: Path, content: bytes) -> None:
    """Write a temporary file and rename it: a crash must not leave half a secret."""
    # Threads may write the same file at the same moment: the last one wins, with all that it wrote.
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        draft.rename(path)
    except BaseException:
        discard(draft)
        raise


def clear_drafts(folder: Path) -> None:
    """Remove what killed processes left of secrets that they were about to write."""
    for file in folder.glob(".*"):
        found = _DRAFT.fullmatch(file.name)
        if found and not _is_alive(int(found["process"])):
            discard(file)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def discard(draft: Path) -> None:
    """Remove a file or folder that is not needed. Never raises: on a disk that fails, a second
    error would hide the first."""
    with suppress(OSError):
        deep_folders.remove(draft)


def put_aside(path: Path, ending: str) -> Path:
    """Keep a file that is being replaced, next to it and under a name that nothing has."""
    aside = path.with_name(path.name + ending)
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}{ending}-{number}")
    return path.rename(aside)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        return True
    return True


def read_or_make(path: Path, make: Callable[[], bytes]) -> bytes:
    """The secret in a file, created if there is none."""
    if not path.exists():
        write(path, make())
    return path.read_bytes()
