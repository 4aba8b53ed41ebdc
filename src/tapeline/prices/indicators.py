"""The indicators of a window: each value, or per stretch of time its last, lowest and highest."""

from typing import NamedTuple

from sqlalchemy import Connection

from tapeline.prices import columns, window
from tapeline.prices.columns import Bars
from tapeline.prices.intervals import POINT, chunk_of, fitting, level_for, spans
from tapeline.prices.series import Series
from tapeline.prices.window import Window
from tapeline.store import bulk

MOST = 50
"""Indicators in one answer."""
READ = 100_000
"""Values that are read for one answer; indicators with more of them are read from a coarser
level."""
VALUE_BYTES = 16
_SIZES = """
select length(content) from price_chunks
where tape = ? and series = ? and level = ? and start >= ? and start < ? limit ?
"""


class Line(NamedTuple):
    series: Series
    interval: int | None
    """Seconds per point; None where every value is shown."""
    points: Bars


def lines(connection: Connection, every: list[Series], shown: Window, points: int) -> list[Line]:
    most = READ // max(1, len(every))
    return [_line(connection, one, shown, points, most) for one in every]


def _line(connection: Connection, one: Series, shown: Window, points: int, most: int) -> Line:
    interval = fitting(POINT, shown.until - shown.since, points)
    if _is_few(connection, one, shown, most):
        raw = window.read(connection, one, POINT, shown.since, shown.until)
        if len(raw.time) <= points:
            return Line(one, None, raw)
        return Line(one, interval, columns.coarsened(raw, interval))
    if level_for(0, interval) == POINT:
        interval = _stored_for(interval)
    return Line(
        one, interval, window.made_coarser(connection, one, shown._replace(interval=interval))
    )


def _is_few(connection: Connection, one: Series, shown: Window, most: int) -> bool:
    """By the lengths of their chunks: reading them to count them would take too long."""
    seconds = spans(0)[POINT]
    chunks = most // 20
    values = (one.tape, one.series, POINT, chunk_of(shown.since, seconds), shown.until, chunks + 1)
    sizes = [row[0] for row in bulk.fetch(connection, _SIZES, values)]
    return len(sizes) <= chunks and sum(sizes) <= most * VALUE_BYTES


def _stored_for(interval: int) -> int:
    """The first stored level that is at least as coarse."""
    stored = list(spans(0))[1:]
    return next((one for one in stored if one >= interval), stored[-1])
