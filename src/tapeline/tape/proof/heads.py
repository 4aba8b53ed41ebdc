"""Remembers the last signed head of each tape in a file beside the database, and what was lost.

A database that was replaced by an older copy cannot say so itself. These files can.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from tapeline import private_files
from tapeline.logs import Log

log = Log(__name__)

T = TypeVar("T")

HEADS, LOSSES = "heads.json", "losses.json"
LISTED = 1_000  # losses


class Head(msgspec.Struct, frozen=True):
    """What a checkpoint says of a tape."""

    seq: int
    link: str
    at: float


class Loss(msgspec.Struct, frozen=True):
    """A head that the database no longer has."""

    model: str
    had: int
    """Events."""
    at: float
    """When they were signed."""
    holds: int | None
    """Events that the database had when it was noticed; None without the model."""

    def sentence(self) -> str:
        day = datetime.fromtimestamp(self.at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        had = f"The tape of model {self.model} had {self.had:,} events at {day}"
        if self.holds is None:
            return f"{had}; the database does not have this model."
        if self.holds < self.had:
            missing = self.had - self.holds
            return f"{had}, the database holds {self.holds:,}: {missing:,} are missing."
        return f"{had}, the database holds {self.holds:,}, but not the same ones."


def remembered(data: Path) -> dict[str, Head]:
    """By model."""
    return _read(data / HEADS, dict[str, Head]) or {}


def remember(data: Path, heads: Mapping[str, Head]) -> None:
    private_files.write(data / HEADS, msgspec.json.encode(heads))


def losses(data: Path) -> list[Loss]:
    """All that no operator has accepted."""
    return _read(data / LOSSES, list[Loss]) or []


def note(data: Path, lost: Sequence[Loss]) -> list[Loss]:
    """Add what is new; return it."""
    known = losses(data)
    seen = {(one.model, one.had) for one in known}
    new = [one for one in lost if (one.model, one.had) not in seen]
    if new:
        private_files.write(data / LOSSES, msgspec.json.encode([*known, *new][-LISTED:]))
    return new


def accept(data: Path) -> list[Loss]:
    """An operator knows: forget the losses, and return them."""
    known = losses(data)
    (data / LOSSES).unlink(missing_ok=True)
    return known


def _read(path: Path, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:  # written as a whole, so it was somebody else
        log.error("file_unreadable", file=path.name, reason=str(error))
        return None
