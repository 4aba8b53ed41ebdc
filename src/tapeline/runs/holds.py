"""Holds: files next to the data that keep models from running, with or without a database.

A hold on everything lasts until an operator releases it, and travels with a copy of the data. A
hold on one model or backtest says that it was stopped on this machine: the supervisor records that
as soon as the store takes it. Its name is that of their lock.
"""

import errno
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
RESERVED = 4096  # bytes: enough for one hold when the disk is full


class Hold(msgspec.Struct, frozen=True):
    since: float
    why: str

    def sentence(self) -> str:
        day = datetime.fromtimestamp(self.since, UTC).strftime("%Y-%m-%d %H:%M UTC")
        return f"on hold since {day}: {self.why}"


def reserve(data: Path) -> None:
    """Keep space for a hold, because a full disk is one reason to want one."""
    (data / FOLDER).mkdir(mode=0o700, exist_ok=True)
    kept = data / FOLDER / RESERVE
    if not kept.exists():
        with suppress(OSError):
            private_files.write(kept, b" " * RESERVED)


def put(data: Path, name: str, why: str) -> Hold:
    """Hold everything, or what has this lock."""
    made = Hold(time.time(), why[:1000])
    content = msgspec.json.encode(made)
    (data / FOLDER).mkdir(mode=0o700, exist_ok=True)
    try:
        private_files.write(data / FOLDER / name, content)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        _use_reserve(data / FOLDER, name, content)
    return made


def lift(data: Path, name: str = ALL) -> None:
    (data / FOLDER / name).unlink(missing_ok=True)


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
        return msgspec.json.decode(path.read_bytes(), type=Hold)
    except FileNotFoundError:
        raise
    except (OSError, msgspec.DecodeError):
        return Hold(since, "the reason cannot be read.")


def _use_reserve(folder: Path, name: str, content: bytes) -> None:
    """Its blocks are there already: overwriting and renaming need no more."""
    with (folder / RESERVE).open("r+b") as file:
        file.write(content.ljust(RESERVED))
    (folder / RESERVE).rename(folder / name)
