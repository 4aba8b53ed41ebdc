"""Reads the journal a shim writes: one ordered record of a launch, in segments.

An offset counts all bytes ever written, through all segments, and is the start of a record. The
reader may be away for days; what was dropped meanwhile is told, not hidden.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import msgspec

Kind = Literal["stdout", "stderr", "state"]
_KINDS: dict[bytes, Kind] = {b"o": "stdout", b"e": "stderr", b"s": "state"}


class Record(msgspec.Struct, frozen=True):
    kind: Kind
    time: float
    text: str
    """A line of output; empty for state."""
    state: dict[str, Any] | None = None


class Chunk(msgspec.Struct, frozen=True):
    records: list[Record]
    offset: int
    """Where to go on."""
    lost: int
    """Bytes that were dropped before the first of these records."""


def read(folder: Path, offset: int, limit_bytes: int = 1_000_000) -> Chunk:
    """Whole records from an offset on, about as many bytes as the limit says, at least one."""
    segments = _segments(folder)
    if not segments:
        return Chunk([], offset, 0)
    lost = max(0, segments[0][0] - offset)
    position, parts, left = offset + lost, [], limit_bytes
    for start, path in segments:
        part = _part(path, position - start, left) if start <= position else b""
        if part is None:
            break  # dropped this very moment; the next read says how much was lost
        parts.append(part)
        position += len(part)
        left -= len(part)
        if left <= 0:
            break
    data = b"".join(parts)
    return Chunk(list(_records(data)), offset + lost + len(data), lost)


def end(folder: Path) -> int:
    """The offset behind all that was written; zero when nothing was."""
    segments = _segments(folder)
    if not segments:
        return 0
    start, path = segments[-1]
    with suppress(FileNotFoundError):
        start += path.stat().st_size
    return start


def go_on_from(folder: Path, offset: int) -> None:
    """Before a launch: what comes next is read after the offset, also when the journal is shorter,
    as after a loss of power, or gone, as in a restored backup. Otherwise its first bytes would
    count as read."""
    if end(folder) < offset:
        (folder / "journal").mkdir(mode=0o700, exist_ok=True)
        (folder / "journal" / f"{offset:020d}").touch(mode=0o600)


def forget(folder: Path, offset: int) -> None:
    """Delete the segments that lie wholly before the offset. The last one is the shim's."""
    segments = _segments(folder)
    for (_, path), (following, _) in pairwise(segments):
        if following <= offset:
            path.unlink(missing_ok=True)


def _segments(folder: Path) -> list[tuple[int, Path]]:
    with suppress(FileNotFoundError):
        return sorted((int(one.name), one) for one in (folder / "journal").iterdir())
    return []


def _part(path: Path, skip: int, limit: int) -> bytes | None:
    """Whole lines. A single one may be longer than the limit."""
    try:
        with path.open("rb") as file:
            file.seek(skip)
            data = file.read(limit)
            if data and b"\n" not in data:
                data += file.readline()
    except FileNotFoundError:
        return None
    return data[: data.rfind(b"\n") + 1]


def _records(data: bytes) -> Iterator[Record]:
    for line in data.split(b"\n")[:-1]:
        kind, _, rest = line.partition(b" ")
        when, _, payload = rest.partition(b" ")
        if kind == b"s":
            yield Record("state", float(when), "", msgspec.json.decode(payload))
        else:
            yield Record(_KINDS[kind], float(when), payload.decode(errors="replace"))
