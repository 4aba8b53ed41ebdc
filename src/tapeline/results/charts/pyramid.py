"""A long series in levels, each an eighth of the one below with its extremes kept.

A request reads the finest level that is not more than a chart can use, so ten thousand values cost
as much as a million, zoomed in or not.
"""

from collections.abc import Iterator

import msgspec
import numpy as np
from sqlalchemy import Connection, select

from tapeline.results.metrics.account import Floats, from_pieces
from tapeline.results.metrics.report_fields import INDEX, Row
from tapeline.store.tables.results import report_pieces

PIECE = 8_192  # points in one row of the store
BUCKET = 16  # points that become two: the lowest and the highest of them
ENOUGH = 4 * PIECE  # points that are thinned out quickly, however few are wanted


class Level(msgspec.Struct):
    count: int
    firsts: list[float]
    """The time of the first point of each piece."""


_levels = msgspec.json.Decoder(list[Level])


def build(name: str, times: Floats, values: Floats) -> Iterator[Row]:
    """The rows of a series whose times rise."""
    levels: list[Level] = []
    while True:
        level = Level(len(times), [])
        for piece, start in enumerate(range(0, len(times), PIECE)):
            some = slice(start, start + PIECE)
            level.firsts.append(float(times[start]))
            content = times[some].astype("<f8").tobytes() + values[some].astype("<f8").tobytes()
            yield Row(name, len(levels), piece, content)
        levels.append(level)
        if len(times) <= PIECE:
            break
        kept = _extremes(values)
        times, values = times[kept], values[kept]
    yield Row(name, INDEX, 0, msgspec.json.encode(levels))


def within(
    connection: Connection,
    upload: str,
    name: str,
    *,
    points: int,
    start: float | None = None,
    end: float | None = None,
    known_at_start: bool = False,
) -> tuple[Floats, Floats]:
    """Times and values within a time range, in as much detail as so many points can show, and on
    request the last value before it."""
    levels = index(connection, upload, name)
    if not levels or not levels[0].count:
        return np.empty(0), np.empty(0)
    budget = max(ENOUGH, 16 * points)
    for number, level in enumerate(levels):
        first, last = _pieces_within(level, start, end)
        if (last - first + 1) * PIECE <= budget or number == len(levels) - 1:
            break
    times, values = from_pieces(_contents(connection, upload, name, number, first, last))
    low = 0 if start is None else int(np.searchsorted(times, start, side="left"))
    high = len(times) if end is None else int(np.searchsorted(times, end, side="right"))
    if known_at_start:
        earlier = np.flatnonzero(~np.isnan(values[:low]))
        low = int(earlier[-1]) if len(earlier) else low
    return times[low:high], values[low:high]


def index(connection: Connection, upload: str, name: str) -> list[Level]:
    found = _contents(connection, upload, name, INDEX, 0, 0)
    return _levels.decode(found[0]) if found else []


def piece(connection: Connection, upload: str, name: str, number: int) -> tuple[Floats, Floats]:
    """One piece of a series in full; empty after the last."""
    return from_pieces(_contents(connection, upload, name, 0, number, number))


def _pieces_within(level: Level, start: float | None, end: float | None) -> tuple[int, int]:
    firsts = np.array(level.firsts)
    first = 0 if start is None else max(0, int(np.searchsorted(firsts, start, side="right")) - 1)
    last = len(firsts) if end is None else int(np.searchsorted(firsts, end, side="right"))
    return first, max(first, last - 1)


def _contents(
    connection: Connection, upload: str, name: str, level: int, first: int, last: int
) -> list[bytes]:
    pieces = report_pieces
    query = select(pieces.c.content).where(
        pieces.c.upload == upload,
        pieces.c.name == name,
        pieces.c.level == level,
        pieces.c.piece.between(first, last),
    )
    return [bytes(row.content) for row in connection.execute(query.order_by(pieces.c.piece))]


def _extremes(values: Floats) -> "np.typing.NDArray[np.intp]":
    """Indexes of the lowest and the highest of every bucket, and of both ends."""
    whole = len(values) // BUCKET * BUCKET
    buckets = values[:whole].reshape(-1, BUCKET)
    missing = np.isnan(buckets)
    lowest = np.where(missing, np.inf, buckets).argmin(axis=1)
    highest = np.where(missing, -np.inf, buckets).argmax(axis=1)
    starts = np.arange(0, whole, BUCKET)
    rest = np.arange(whole, len(values))
    ends = np.array([0, len(values) - 1])
    return np.unique(np.concatenate([starts + lowest, starts + highest, rest, ends]))
