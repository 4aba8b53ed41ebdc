"""What a backtest left in its folder. Whoever wrote it is not to be trusted with our memory."""

import os
import stat
from pathlib import Path
from typing import IO

import msgspec

from tapeline.runs.engine import Left
from tapeline.runs.story import Ending

LARGEST_STATUS = 1_000_000
LONGEST_SUMMARY = 1_000


class _Status(msgspec.Struct):
    successful: bool
    status_summary: str = ""
    status_details: str = ""


def left_in(folder: Path, largest: int) -> Left:
    ending = _ending(folder / "status.json")
    result = folder / "result.json"
    file = _opened(result)
    if file is None:
        return Left(ending)
    with file:
        size = os.fstat(file.fileno()).st_size
    if size > largest:
        note = f"Its result has {size:,} bytes; the most this server accepts is {largest:,}."
        return Left(msgspec.structs.replace(ending, details=ending.details or note))
    return Left(ending, result)


def _ending(path: Path) -> Ending:
    file = _opened(path)
    if file is None:
        return Ending()
    with file:
        content = file.read(LARGEST_STATUS)
    try:
        said = msgspec.json.decode(content, type=_Status)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return Ending()
    return Ending(said.successful, said.status_summary[:LONGEST_SUMMARY], said.status_details)


def _opened(path: Path) -> IO[bytes] | None:
    """A regular file, and never one that a link points at."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return os.fdopen(descriptor, "rb")
