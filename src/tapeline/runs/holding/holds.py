"""Holds: files next to the data that keep models from running, with or without a database.

A hold on everything lasts until an operator releases it, and travels with a copy of the data. A
hold on one model or backtest says that it was stopped on this machine: the supervisor records that
as soon as the store takes it. Its name is that of their lock. `hold_socket` is for disks that take
no file at all.
"""

import errno
import os
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from tapeline import private_files

FOLDER = "holds"
ALL = "all"
RESERVE = ".reserve"
RELEASED = ".released"
"""Says that an operator released a copy, until a server has taken over its runs."""
ELSEWHERE = ".elsewhere"
"""Says that the models of this server run on other machines, which have holds of their own."""
RESERVED = 4096  # bytes: enough for one hold when the disk is full
UNTOLD = "the disk was full, so that the reason could not be written."


class Hold(msgspec.Struct, frozen=True):
    since: float
    why: str
    is_halt: bool = False
    """Whether what ran was stopped at once, and its tape is to say so."""

    def sentence(self) -> str:
        day = datetime.fromtimestamp(self.since, UTC).strftime("%Y-%m-%d %H:%M UTC")
        return f"on hold since {day}: {self.why}"


def reserve(data: Path) -> None:
    """Keep space for a hold, because a full disk is one reason to want one. A hold may use it up,
    so a server does this again and again. Raises if there is no space to keep."""
    (data / FOLDER).mkdir(mode=0o700, exist_ok=True)
    kept = data / FOLDER / RESERVE
    if not kept.exists() or kept.stat().st_size < RESERVED:
        private_files.write(kept, b" " * RESERVED)


def new(why: str, *, is_halt: bool = False) -> Hold:
    return Hold(time.time(), why[:1000], is_halt)


def put(data: Path, name: str, why: str) -> None:
    """Hold everything, or what has this lock."""
    write(data, name, new(why))


def write(data: Path, name: str, hold: Hold) -> None:
    """On a full disk, into the reserve; once that is used up, as a name without a reason. Raises
    why the disk did not take it, whatever failed after that."""
    folder, content = data / FOLDER, msgspec.json.encode(hold)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        private_files.write(folder / name, content)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        if not (_use_reserve(folder, name, content) or _mark(folder, name)):
            raise


def lift(data: Path, name: str = ALL) -> None:
    path = data / FOLDER / name
    if path.exists():  # a read-only disk refuses even to remove nothing
        path.unlink(missing_ok=True)


def mark_released(data: Path) -> None:
    (data / FOLDER).mkdir(mode=0o700, exist_ok=True)
    (data / FOLDER / RELEASED).touch(mode=0o600)


def is_released(data: Path) -> bool:
    return (data / FOLDER / RELEASED).exists()


def mark_elsewhere(data: Path, *, are_elsewhere: bool) -> None:
    """Where the models of this server run. Best effort: a disk may take no file."""
    with suppress(OSError):
        (data / FOLDER).mkdir(mode=0o700, exist_ok=True)
        if are_elsewhere:
            (data / FOLDER / ELSEWHERE).touch(mode=0o600)
        else:
            (data / FOLDER / ELSEWHERE).unlink(missing_ok=True)


def are_elsewhere(data: Path) -> bool:
    return (data / FOLDER / ELSEWHERE).exists()


def of(data: Path) -> Mapping[str, Hold]:
    """The holds by name. One that cannot be read counts, too."""
    try:
        files = [one for one in (data / FOLDER).iterdir() if not one.name.startswith(".")]
    except FileNotFoundError:
        return {}
    found = {}
    for one in files:
        with suppress(FileNotFoundError):  # lifted meanwhile
            found[one.name] = _read(one)
    return found


def covers(held: Collection[str], lock_name: str) -> bool:
    """Whether what has this lock must not run."""
    return ALL in held or lock_name in held


def on_all(data: Path) -> Hold | None:
    return of(data).get(ALL)


def _read(path: Path) -> Hold:
    since = path.stat().st_mtime
    try:
        content = path.read_bytes()
        return msgspec.json.decode(content, type=Hold) if content else Hold(since, UNTOLD)
    except FileNotFoundError:
        raise
    except (OSError, msgspec.DecodeError):
        return Hold(since, "the reason cannot be read.")


def _use_reserve(folder: Path, name: str, content: bytes) -> bool:
    """Its blocks are there already: overwriting and renaming need no more."""
    try:
        with (folder / RESERVE).open("r+b") as file:
            file.write(content.ljust(RESERVED))
            file.flush()
            os.fsync(file.fileno())
        (folder / RESERVE).rename(folder / name)
    except OSError:
        return False
    return True


def _mark(folder: Path, name: str) -> bool:
    """An empty file needs no block. One that is there already keeps its reason."""
    try:
        (folder / name).touch(mode=0o600)
    except OSError:
        return False
    return True
