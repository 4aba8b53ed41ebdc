"""Stores bars and indicators, in the transaction that stores the other events of a request.

A series is kept in chunks of packed columns: its own bars, and coarser ones made from them. A new
bar changes one chunk of each level.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from tapeline.prices import columns, series
from tapeline.prices.columns import NOTHING, Bar, Bars
from tapeline.prices.intervals import POINT, chunk_of, spans, start_of
from tapeline.prices.series import Series
from tapeline.store import bulk
from tapeline.store.portions import batches
from tapeline.store.tables.prices import price_chunks

CHUNK = ("tape", "series", "level", "start", "content")
CHUNK_ROW = 60
"""Bytes that a chunk takes besides its content, about."""
TOGETHER = 400  # chunks in one statement
_READ = """
select start, content from price_chunks
where tape = ? and series = ? and level = ? and start in ({})
"""


class Pushed(NamedTuple):
    """Bars of one symbol and interval, or values of one indicator, as they were received."""

    symbol: str
    name: str
    interval: int
    pane: str
    bars: Sequence[Bar]
    received_at: float


def value(time: float, number: float | None) -> Bar:
    """A point of an indicator, stored as a bar in which nothing happens."""
    known = NOTHING if number is None else number
    return float(math.floor(time)), known, known, known, known, NOTHING


def store(connection: Connection, tape: int, pushed: Sequence[Pushed]) -> int:
    """Return how many bytes that added. The tape must be locked."""
    grown = 0
    for (symbol, name, interval), some in _by_series(pushed).items():
        found, is_new = series.found_or_new(connection, tape, symbol, name, interval)
        bars = {bar[0]: bar for one in some for bar in one.bars}
        grown += _store_levels(connection, found, sorted(bars.values()))
        series.write(connection, _noted(found, some))
        grown += series.ROW if is_new else 0
    return grown


def _by_series(pushed: Sequence[Pushed]) -> Mapping[tuple[str, str, int], list[Pushed]]:
    """Many bars of one series in a request, as a batch has, are one change of it."""
    found: dict[tuple[str, str, int], list[Pushed]] = defaultdict(list)
    for one in pushed:
        found[(one.symbol, one.name, one.interval)].append(one)
    return found


def _store_levels(connection: Connection, found: Series, bars: list[Bar]) -> int:
    every, grown = list(spans(found.interval).items()), 0
    for place, (level, seconds) in enumerate(every):
        coarser = every[place + 1][0] if place + 1 < len(every) else None
        bars, size = _store_level(connection, found, level, seconds, bars, coarser)
        grown += size
    return grown


def _store_level(
    connection: Connection,
    found: Series,
    level: int,
    seconds: int,
    bars: list[Bar],
    coarser: int | None,
) -> tuple[list[Bar], int]:
    """The bars of the next level that change with these, and by how much the chunks grew."""
    by_chunk: dict[int, list[Bar]] = defaultdict(list)
    for bar in bars:
        by_chunk[chunk_of(bar[0], seconds)].append(bar)
    changed, grown, rows = list[Bar](), 0, []
    known = _read(connection, found, level, sorted(by_chunk))
    for start, some in by_chunk.items():
        before = known.get(start)
        whole = columns.merged(
            columns.unpack(before) if before else columns.of_rows(()), some, level
        )
        content = columns.pack(whole)
        rows.append((found.tape, found.series, level, start, content))
        grown += len(content) - len(before) if before else len(content) + CHUNK_ROW
        if coarser is not None:
            changed += _coarser(whole, some, coarser)
    bulk.insert(connection, price_chunks, CHUNK, rows, replace=("content",))
    return changed, grown


def _coarser(whole: Bars, some: Sequence[Bar], interval: int) -> list[Bar]:
    """The coarser bars that hold some of a chunk's."""
    found: list[Bar] = []
    for start in sorted({start_of(bar[0], interval) for bar in some}):
        found += columns.coarsened(whole.between(start, start + interval), interval).rows()
    return found


def _read(
    connection: Connection, found: Series, level: int, starts: Sequence[int]
) -> dict[int, bytes]:
    known: dict[int, bytes] = {}
    for some in batches(starts, TOGETHER):
        query = _READ.format(bulk.marks(len(some)))
        rows = bulk.fetch(connection, query, (found.tape, found.series, level, *some))
        known.update((start, bytes(content)) for start, content in rows)
    return known


def _noted(found: Series, some: Sequence[Pushed]) -> Series:
    """The series with its newest bar."""
    for one in some:
        newest = max(one.bars, key=lambda bar: bar[0])
        if newest[0] >= found.newest:
            ends = newest[0] + (one.interval or POINT)
            # An indicator's value is not a price.
            found = found._replace(
                pane=one.pane,
                newest=newest[0],
                close=newest[4] if one.interval else 0.0,
                closed_at=min(ends, one.received_at),
                due=not one.name,
            )
    return found
