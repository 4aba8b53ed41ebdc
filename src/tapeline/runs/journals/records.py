"""The records of a journal, one line each: a line of output, or a state of the process.

Unreadable bytes become one record in their place, which says how many were skipped.
"""

import math
import time
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

Kind = Literal["stdout", "stderr", "state"]
_KINDS: dict[bytes, Kind] = {b"o": "stdout", b"e": "stderr", b"s": "state"}
UNREADABLE = "unreadable"
LATEST = 1e11  # seconds: later than any real clock


class Record(msgspec.Struct, frozen=True):
    kind: Kind
    time: float
    text: str
    """A line of output; empty for state."""
    state: dict[str, Any] | None = None


class Skipped(msgspec.Struct, frozen=True):
    """Bytes that hold no record."""

    size: int
    why: str = ""


class _Ended(msgspec.Struct):
    cause: str
    exit_code: int | None
    signal: int | None = None


class _Restarting(msgspec.Struct):
    after: float
    restarts: int


class _Finished(msgspec.Struct):
    outcome: str
    cause: str = ""
    exit_code: int | None = None
    signal: int | None = None
    reason: str | None = None


class _Cut(msgspec.Struct):
    bytes: int


# The keys that `RunUpdate` reads. An event that is not listed here comes from a newer shim.
_SHAPES: dict[str, type[msgspec.Struct]] = {
    "ended": _Ended,
    "restarting": _Restarting,
    "finished": _Finished,
    "cut": _Cut,
}


def parsed(parts: Iterable[bytes | Skipped]) -> Iterator[Record]:
    """All records in order, with one for each unreadable stretch."""
    skipped, why, at = 0, "", 0.0
    for one in _each(parts):
        if isinstance(one, Skipped):
            skipped, why = skipped + one.size, why or one.why
            continue
        if skipped:
            yield unreadable(skipped, why, one.time)
            skipped, why = 0, ""
        at = one.time
        yield one
    if skipped:
        yield unreadable(skipped, why, at or time.time())


def _each(parts: Iterable[bytes | Skipped]) -> Iterator[Record | Skipped]:
    for part in parts:
        if isinstance(part, Skipped):
            yield part
            continue
        for line in part.split(b"\n")[:-1]:
            # A power loss leaves zeros where the disk had not written yet; records after them
            # are intact.
            rest = line.lstrip(b"\0")
            if len(rest) < len(line):
                yield Skipped(len(line) - len(rest))
            try:
                yield _record(rest)
            except (KeyError, TypeError, ValueError, msgspec.MsgspecError):
                yield Skipped(len(rest) + 1)


def _record(line: bytes) -> Record:
    kind, _, rest = line.partition(b" ")
    when, _, payload = rest.partition(b" ")
    at = float(when)
    if not 0.0 <= at < LATEST or math.isnan(at):
        raise ValueError("no time")
    if kind != b"s":
        return Record(_KINDS[kind], at, payload.decode(errors="replace"))
    state = msgspec.json.decode(payload, type=dict[str, Any])
    if shape := _SHAPES.get(state.get("event", "")):
        msgspec.convert(state, shape)
    return Record("state", at, "", state)


def unreadable(size: int, why: str, at: float) -> Record:
    return Record("state", at, "", {"event": UNREADABLE, "bytes": size, "why": why})
