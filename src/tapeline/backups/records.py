"""What is known about scheduled backups: the last good one, and the last failure after it.

Kept in the database, so that a restart and every server that shares it knows the same. Ages and
the schedule go by a clock that does not jump (`Clock.with_pauses`), dates by the wall clock.
"""

import socket
import time
from pathlib import Path
from typing import TypeVar

import msgspec
from sqlalchemy import Connection

from tapeline.backups.manifest import Content, moment
from tapeline.ids import new_id
from tapeline.settings import Settings
from tapeline.store import facts

LAST, FAILURE, INSTALLATION = "last_backup", "last_backup_failure", "installation"
TIMES, MOST_TIMES = "backup_times", 1000
HOUR = 3600.0
TOO_OLD = 2.0  # times the schedule
SKEW = 300.0  # seconds by which the clock of another server may be ahead


T = TypeVar("T")


class Made(msgspec.Struct, frozen=True):
    """A good backup: complete, and checked."""

    at: float
    """The moment that it shows."""
    path: str
    host: str
    """The name of the machine, as servers that share a database each have their own disks."""
    seconds: float
    bytes: int
    content: Content
    tapes: int
    """How many were compared with their seals."""
    remarks: str = ""
    """What of models is not in it, and why old backups could not be removed."""
    steady: float | None = None
    """`at` by the clock that does not jump; older versions did not note it."""

    @property
    def since(self) -> float:
        return self.at if self.steady is None else self.steady


class Failed(msgspec.Struct, frozen=True):
    at: float
    why: str
    host: str


class Standing(msgspec.Struct, frozen=True):
    """The last backup: when, where, good or why not. `now` is that of `Clock.with_pauses`."""

    every: float | None
    """Seconds from one to the next; None if nothing is scheduled."""
    last: Made | None = None
    failure: Failed | None = None
    """The newest one since the last good backup."""
    is_gone: bool = False
    """Whether the last good backup is no longer where it was made, on this machine."""

    def age(self, now: float) -> float | None:
        return None if self.last is None else max(0.0, now - self.last.since)

    def is_due(self, now: float) -> bool:
        """Also if the last one comes from the future: an older version believed a wrong clock."""
        if self.every is None:
            return False
        return self.last is None or self.is_gone or not -SKEW <= now - self.last.since < self.every

    def is_too_old(self, now: float) -> bool:
        """An alarm: several attempts have failed, nothing tries any more, or it is gone."""
        if self.every is None:
            return False
        if self.last is None:
            return self.failure is not None
        return self.is_gone or now - self.last.since > TOO_OLD * self.every

    def sentence(self, now: float) -> str:
        if self.last is None:
            said = "no backups are scheduled" if self.every is None else "no backup was made yet"
        else:
            said = f"the last good one is of {moment(self.last.at)}, at {self.last.path}"
            said += f" on {self.last.host}: {self.last.content.sentence()}"
        if self.is_gone:
            said = f"{said}. It is gone from there"
        elif self.is_too_old(now) and self.last is not None:
            said = f"{said}. It is older than twice the schedule"
        if self.failure is not None:
            said = (
                f"{said}. The last attempt, {moment(self.failure.at)}, failed: {self.failure.why}"
            )
        return said


def standing(connection: Connection, chosen: Settings) -> Standing:
    every = chosen.backup_hours * HOUR if chosen.backup_folder else None
    last = _get(connection, LAST, Made)
    failure = _get(connection, FAILURE, Failed)
    return Standing(every, last, failure, last is not None and _is_gone(last))


def _is_gone(last: Made) -> bool:
    """Only its own machine can tell."""
    return last.host == socket.gethostname() and not Path(last.path).exists()


def keep(connection: Connection, made: Made) -> None:
    facts.put(connection, LAST, msgspec.json.encode(made).decode())
    facts.forget(connection, FAILURE)
    known = times(connection) | {Path(made.path).name: made.since}
    newest = sorted(known.items(), key=lambda one: one[1])[-MOST_TIMES:]
    facts.put(connection, TIMES, msgspec.json.encode(dict(newest)).decode())


def times(connection: Connection) -> dict[str, float]:
    """When the newest backups were made, by their names, by the clock that does not jump. Their
    names tell what the wall clock said, which may have been wrong."""
    return _get(connection, TIMES, dict[str, float]) or {}


def keep_failure(connection: Connection, why: str, host: str) -> None:
    failed = Failed(time.time(), why, host)
    facts.put(connection, FAILURE, msgspec.json.encode(failed).decode())


def installation(connection: Connection) -> str:
    """A short name, the same for all servers that share the database."""
    facts.claim(connection, INSTALLATION, new_id()[:8])
    name = facts.get(connection, INSTALLATION)
    assert name is not None
    return name


def _get(connection: Connection, name: str, kind: type[T]) -> T | None:
    kept = facts.get(connection, name)
    try:
        return None if kept is None else msgspec.json.decode(kept, type=kind)
    except msgspec.DecodeError:  # of a newer version
        return None
