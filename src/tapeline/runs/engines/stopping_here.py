"""Ends models through their processes and locks alone: without a server and without a database."""

import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from tapeline.polling import poll
from tapeline.runs.engines import model_files, shims
from tapeline.runs.sandbox import foreign_files

AT_ONCE = 32
LONGEST_NAME = 100
BEYOND_GRACE = 2.0  # seconds for a shim to write its last records
KILLED_WITHIN = 5.0  # seconds


class Launched(msgspec.Struct, frozen=True):
    run: str
    model: str
    """Of a deployed run; a backtest has its own id here."""


class Ended(msgspec.Struct, frozen=True):
    run: str
    model: str
    is_proven: bool
    """The kernel says that its lock is free, and no process has its folders."""
    how: str


class Proof(msgspec.Struct, frozen=True):
    """What the kernel says of a run that has ended."""

    at: float
    lock_is_free: bool
    """All deployed runs of a model share the lock that its processes hold until the last ends."""
    processes: int
    """That belong to it: in its control group, or with its folders mounted."""

    @property
    def is_one(self) -> bool:
        return self.lock_is_free and not self.processes


def proof(data: Path, one: Launched) -> Proof:
    """Looks at the kernel now. It takes some milliseconds."""
    folder, lock = _places(data, one)
    left = shims.count_processes(folder)
    return Proof(time.time(), not shims.is_held(lock), left)


def launched(data: Path) -> list[Launched]:
    """Everything that lives on this machine now."""
    found = [Launched(run, _lock_of(data, run)) for run in sorted(model_files.of_runs(data))]
    return [one for one in found if _is_alive(data, one)]


def end(data: Path, some: Iterable[Launched], grace: float) -> list[Ended]:
    """Ask the shims to stop them, which gives each its grace; kill what is left; prove the end."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        return list(threads.map(lambda one: _end(data, one, grace), some))


def _end(data: Path, one: Launched, grace: float) -> Ended:
    folder, lock = _places(data, one)
    began = time.monotonic()
    shims.stop(folder)
    if not _is_gone(data, one, grace + BEYOND_GRACE):
        shims.kill(folder, lock)
        shims.end_orphan(folder)
    if not _is_gone(data, one, KILLED_WITHIN):
        return Ended(one.run, one.model, False, "not known to be stopped: it has processes left")
    return Ended(one.run, one.model, True, f"ended after {time.monotonic() - began:.1f} s")


def _is_gone(data: Path, one: Launched, within: float) -> bool:
    return poll(lambda: not _is_alive(data, one), within=within, every=0.1)


def _is_alive(data: Path, one: Launched) -> bool:
    """Whether anything of it may be left, even if its lock or its shim is gone."""
    folder, lock = _places(data, one)
    return shims.is_held(lock) or shims.is_running(folder) or shims.has_sandbox(folder)


def _places(data: Path, one: Launched) -> tuple[Path, Path]:
    return data / "runs" / one.run, data / "runs" / "locks" / one.model


def _lock_of(data: Path, run: str) -> str:
    named = foreign_files.read_text(data / "runs" / run / "lock", LONGEST_NAME)
    return named or run
