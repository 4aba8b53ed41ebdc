"""Puts arrivals into the chunks of their series: a portion is planned by a reader, then written.

A series is kept in chunks of packed columns: its own bars, and coarser ones made from them. A new
bar changes one chunk of each level. All of this arithmetic happens in a read transaction, so that
the writer only gets rows to write.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from sqlalchemy import Connection

from tapeline.prices import arrivals, columns, series
from tapeline.prices.arrivals import MOST_ROWS, Part
from tapeline.prices.columns import Bar, Bars
from tapeline.prices.intervals import POINT, chunk_of, spans, start_of
from tapeline.prices.series import Key, Series
from tapeline.store import bulk
from tapeline.store.tables.prices import price_chunks

CHUNK = ("tape", "series", "level", "start", "content")
CHUNK_ROW = 60
"""Bytes that a chunk takes besides its content, about."""
TOGETHER, BYTES = 100, 32_000
"""Arrivals in one portion at most, and their bytes if they are several: single bars of the same
series change the same chunks."""
_SIZES = "select no, length(content) from price_arrivals where tape = ? order by no limit ?"
_ARRIVED = "select no, content from price_arrivals where tape = ? and no <= ? order by no"
# A join, because SQLite would compare every chunk of the tape with a list of rows.
_KNOWN = """
with wanted(series, level, start) as (values {})
select one.series, one.level, one.start, one.content from wanted cross join price_chunks one
where one.tape = ? and one.series = wanted.series and one.level = wanted.level
and one.start = wanted.start
"""
_LEFT = "select count(*) from price_arrivals where no in ({})"
_DONE = "delete from price_arrivals where no in ({})"
_GROW = "update tapes set bytes = bytes + ? where no = ?"

Place = tuple[int, int, int]
"""Of a chunk: its series, level and start."""


class Plan(NamedTuple):
    """What one portion writes."""

    tape: int
    arrived: list[int]
    """The arrivals that it puts into chunks."""
    chunks: list[tuple[int, int, int, int, bytes]]
    series: list[Series]
    grown: int
    """Bytes that it adds to the tape."""


def plan(connection: Connection, tape: int) -> Plan | None:
    """The next portion of a tape, from its oldest arrivals on; None if there are none."""
    arrived, freed, parts, places = _portion(connection, tape)
    if not arrived:
        return None
    found = series.of_keys(connection, tape, list(parts))
    known = _known(connection, tape, [(found[key].series, *place) for key, place in places])
    chunks: list[tuple[int, int, int, int, bytes]] = []
    changed, grown = list[Series](), -freed
    for key, some in parts.items():
        one = found[key]
        rows, size = _levels(one, _bars(some), known)
        chunks += rows
        grown += size + (series.ROW if one.is_new else 0)
        if (noted := _noted(one, some)) != one or one.is_new:
            changed.append(noted)
    return Plan(tape, arrived, chunks, changed, grown)


def carry_out(connection: Connection, what: Plan) -> bool:
    """False if another server was first. The tape must be locked."""
    places = bulk.marks(len(what.arrived))
    ((left,),) = bulk.fetch(connection, _LEFT.format(places), what.arrived)
    if left < len(what.arrived):
        return False
    bulk.run(connection, _DONE.format(places), what.arrived)
    bulk.insert(connection, price_chunks, CHUNK, what.chunks, replace=("content",))
    series.write(connection, what.series)
    bulk.run(connection, _GROW, (what.grown, what.tape))
    return True


def _portion(
    connection: Connection, tape: int
) -> tuple[list[int], int, Mapping[Key, list[Part]], set[tuple[Key, tuple[int, int]]]]:
    """The oldest arrivals that change few chunks together: their numbers and bytes, their parts by
    series, and the chunks."""
    arrived, freed = list[int](), 0
    parts: dict[Key, list[Part]] = defaultdict(list)
    places: set[tuple[Key, tuple[int, int]]] = set()
    for number, packed in _oldest(connection, tape):
        content = bytes(packed)
        some = arrivals.unpacked(content)
        more = places | {(part.key, place) for part in some for place in _places(part)}
        if arrived and len(more) > MOST_ROWS:
            break
        places = more
        arrived.append(number)
        freed += len(content) + arrivals.ROW
        for part in some:
            parts[part.key].append(part)
    return arrived, freed, parts, places


def _oldest(connection: Connection, tape: int) -> Sequence[bulk.Row]:
    sizes = bulk.fetch(connection, _SIZES, (tape, TOGETHER))
    if not sizes:
        return []
    sums = accumulate(size for _, size in sizes)
    last = max(1, sum(1 for total in sums if total <= BYTES))
    return bulk.fetch(connection, _ARRIVED, (tape, sizes[last - 1][0]))


def _places(part: Part) -> list[tuple[int, int]]:
    times = columns.unpack(part.content).time
    levels = arrivals.touched(times, part.interval).items()
    return [(level, start) for level, starts in levels for start in starts]


def _known(connection: Connection, tape: int, places: Sequence[Place]) -> dict[Place, bytes]:
    query = _KNOWN.format(", ".join(["(?, ?, ?)"] * len(places)))
    values = (number for place in places for number in place)
    rows = bulk.fetch(connection, query, (*values, tape))
    return {(row[0], row[1], row[2]): bytes(row[3]) for row in rows}


def _bars(some: Sequence[Part]) -> list[Bar]:
    """In order; of two with the same start the last one received counts."""
    rows = (row for part in some for row in columns.unpack(part.content).rows())
    return sorted({row[0]: row for row in rows}.values())


def _levels(
    one: Series, bars: list[Bar], known: Mapping[Place, bytes]
) -> tuple[list[tuple[int, int, int, int, bytes]], int]:
    """The chunks of all levels that change with these bars, and by how much they grow."""
    every, rows, grown = list(spans(one.interval).items()), [], 0
    for place, (level, seconds) in enumerate(every):
        coarser = every[place + 1][0] if place + 1 < len(every) else None
        by_chunk: dict[int, list[Bar]] = defaultdict(list)
        for bar in bars:
            by_chunk[chunk_of(bar[0], seconds)].append(bar)
        bars = []
        for start, some in by_chunk.items():
            before = known.get((one.series, level, start))
            whole = columns.merged(
                columns.unpack(before) if before else columns.of_rows(()), some, level
            )
            content = columns.pack(whole)
            rows.append((one.tape, one.series, level, start, content))
            grown += len(content) - len(before) if before else len(content) + CHUNK_ROW
            if coarser is not None:
                bars += _coarser(whole, some, coarser)
    return rows, grown


def _coarser(whole: Bars, some: Sequence[Bar], interval: int) -> list[Bar]:
    """The coarser bars that hold some of a chunk's."""
    found: list[Bar] = []
    for start in sorted({start_of(bar[0], interval) for bar in some}):
        found += columns.coarsened(whole.between(start, start + interval), interval).rows()
    return found


def _noted(one: Series, some: Sequence[Part]) -> Series:
    """The series with its newest bar."""
    for part in some:
        *_, newest = columns.unpack(part.content).rows()
        if newest[0] >= one.newest:
            ends = newest[0] + (part.interval or POINT)
            # An indicator's value is not a price.
            one = one._replace(
                pane=part.pane,
                newest=newest[0],
                close=newest[4] if part.interval else 0.0,
                closed_at=min(ends, part.received_at),
                due=not part.name,
            )
    return one
