"""Bars and indicators as they arrive: stored in a few packed rows, to be put into chunks later.

One request may touch thousands of chunks. The writer serves everybody, so it gets the bytes of a
request only, as it does for other events. `folding.py` puts them into chunks afterwards, a portion
at a time.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection

from tapeline.prices import columns
from tapeline.prices.columns import NOTHING, Bar
from tapeline.prices.intervals import chunk_of, spans, start_of
from tapeline.prices.series import Key
from tapeline.store import bulk
from tapeline.store.tables.prices import price_arrivals

MOST_ROWS, MOST_BARS = 64, 2_000
"""Chunks that an arrival changes at most, about, and bars that it has: one portion of work."""
ROW = 60
"""Bytes that an arrival takes besides its content, about."""


class Pushed(NamedTuple):
    """Bars of one symbol and interval, or values of one indicator, as they were received."""

    symbol: str
    name: str
    interval: int
    pane: str
    bars: Sequence[Bar]
    received_at: float


class Part(msgspec.Struct, array_like=True, frozen=True):
    """Some bars of one series in an arrival, packed and sorted."""

    symbol: str
    name: str
    interval: int
    pane: str
    received_at: float
    content: bytes

    @property
    def key(self) -> Key:
        return self.symbol, self.name, self.interval


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Part]).decode


def value(time: float, number: float | None) -> Bar:
    """A point of an indicator, stored as a bar in which nothing happens."""
    known = NOTHING if number is None else number
    return float(math.floor(time)), known, known, known, known, NOTHING


def packed(pushed: Sequence[Pushed]) -> Iterator[bytes]:
    """The arrivals of a request, each small enough to be put into chunks in one step."""
    parts, rows, bars = list[Part](), 0, 0
    for part, cost, count in _parts(pushed):
        if parts and (rows + cost > MOST_ROWS or bars + count > MOST_BARS):
            yield _encode(parts)
            parts, rows, bars = [], 0, 0
        parts.append(part)
        rows += cost
        bars += count
    if parts:
        yield _encode(parts)


def unpacked(content: bytes) -> list[Part]:
    return _decode(content)


def store(connection: Connection, tape: int, contents: Sequence[bytes]) -> int:
    """In the transaction of the events that came with them; returns the bytes that they take."""
    rows = [(tape, content) for content in contents]
    bulk.insert(connection, price_arrivals, ("tape", "content"), rows)
    return sum(ROW + len(content) for content in contents)


def touched(times: Sequence[float], interval: int) -> dict[int, list[int]]:
    """The starts of the chunks of each level that hold bars with these starts."""
    found, starts = dict[int, list[int]](), times
    for place, (level, seconds) in enumerate(spans(interval).items()):
        if place:
            starts = sorted({start_of(one, level) for one in starts})
        found[level] = sorted({chunk_of(one, seconds) for one in starts})
    return found


def _parts(pushed: Sequence[Pushed]) -> Iterator[tuple[Part, int, int]]:
    """With the rows that each changes, and the bars that it has."""
    for (symbol, name, interval), some in _by_series(pushed).items():
        # Many bars of one series, as a batch has, are one change of it: the last of a start counts.
        bars = sorted({bar[0]: bar for one in some for bar in one.bars}.values())
        last = max(some, key=lambda one: max(bar[0] for bar in one.bars))
        for few in _pieces(bars, interval):
            content = columns.pack(columns.of_rows(few), for_long=False)
            part = Part(symbol, name, interval, last.pane, last.received_at, content)
            rows = sum(map(len, touched([bar[0] for bar in few], interval).values()))
            yield part, 1 + rows, len(few)


def _by_series(pushed: Sequence[Pushed]) -> Mapping[Key, list[Pushed]]:
    found: dict[Key, list[Pushed]] = defaultdict(list)
    for one in pushed:
        found[(one.symbol, one.name, one.interval)].append(one)
    return found


def _pieces(bars: Sequence[Bar], interval: int) -> Iterator[Sequence[Bar]]:
    """Sorted bars in pieces of half an arrival at most, cut between the chunks of their level."""
    _, seconds = next(iter(spans(interval).items()))
    first, chunks, chunk = 0, 0, None
    for place, bar in enumerate(bars):
        if (own := chunk_of(bar[0], seconds)) == chunk:
            continue
        if chunks == MOST_ROWS // 2 or place - first > MOST_BARS // 2:
            yield bars[first:place]
            first, chunks = place, 0
        chunk = own
        chunks += 1
    yield bars[first:]
