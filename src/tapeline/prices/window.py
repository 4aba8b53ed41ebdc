"""The bars of a window: as they were reported, or coarser ones made from them.

However long the history, a window reads about as many bars as it shows: the levels that are stored
with each series see to that.
"""

import math
from typing import NamedTuple

from sqlalchemy import Connection

from tapeline.prices import columns
from tapeline.prices.columns import Bars
from tapeline.prices.intervals import (
    KEPT,
    chunk_of,
    fitting,
    level_for,
    levels,
    shown,
    spans,
    start_of,
)
from tapeline.prices.series import Series
from tapeline.store import bulk

_CHUNKS = """
select content from price_chunks
where tape = ? and series = ? and level = ? and start >= ? and start < ? order by start
"""


class Asked(NamedTuple):
    """The window of a chart, in epoch seconds; what is None is chosen."""

    interval: int | None
    since: float | None
    until: float | None
    points: int
    """Bars to show at most."""


class Window(NamedTuple):
    """What a chart shows."""

    interval: int
    since: float
    until: float
    """Excluded."""


class Shown(NamedTuple):
    window: Window
    bars: Bars
    made_from: int | None
    """The finer interval that they were made from; None for bars as they were reported."""


def bars(connection: Connection, reported: list[Series], asked: Asked) -> Shown | None:
    """Of one symbol's series, the finest first. None if the window has no bar."""
    if not reported:
        return None
    window = resolved(reported, asked)
    known = {shown(window.interval), *KEPT, *(one.interval for one in reported)}
    # Where the finer ones were removed, coarser ones are still there.
    for interval in sorted({window.interval, *(one for one in known if one > window.interval)}):
        there = window._replace(interval=interval)
        found = _as_reported(connection, reported, there) or _made(connection, reported, there)
        if found is not None:
            return found
    return None


def resolved(reported: list[Series], asked: Asked) -> Window:
    """The window with everything chosen: by default the newest bars of the finest interval."""
    finest = reported[0].interval
    wanted = max(finest, asked.interval or finest)
    until = asked.until
    if until is None:
        until = max(one.newest + one.interval for one in reported)
    since = until - wanted * asked.points if asked.since is None else asked.since
    since = min(since, until)
    return Window(fitting(wanted, until - since, asked.points), since, until)


def made_coarser(connection: Connection, one: Series, window: Window) -> Bars:
    """Whole bars: the first one from its own start on, even if that is before the window."""
    level = level_for(one.interval, window.interval)
    since = start_of(window.since, window.interval)
    until = start_of(window.until, window.interval)
    if until < window.until:
        until += window.interval
    finer = read(connection, one, level, since, until)
    return finer if level == window.interval else columns.coarsened(finer, window.interval)


def read(connection: Connection, one: Series, level: int, since: float, until: float) -> Bars:
    """All bars of a stored level that start then."""
    seconds = spans(one.interval)[level]
    values = (one.tape, one.series, level, chunk_of(since, seconds), until)
    rows = bulk.fetch(connection, _CHUNKS, values)
    return columns.joined(columns.unpack(bytes(row[0])) for row in rows).between(since, until)


def _made(connection: Connection, reported: list[Series], window: Window) -> Shown | None:
    """Of several that could be used, from the coarsest: it is nearest to what was asked for."""
    if window.interval != shown(window.interval):
        return None  # no stored level would help: it could take all bars there are
    for one in reversed(reported):
        if one.interval < window.interval:
            made = made_coarser(connection, one, window)
            if made.time:
                return Shown(window, made, one.interval)
    return None


def _as_reported(connection: Connection, reported: list[Series], window: Window) -> Shown | None:
    for one in reported:
        if one.interval == window.interval:
            own = levels(one.interval)[0]
            # A bar that began before the window and ends in it belongs to it.
            since = math.nextafter(window.since - one.interval, math.inf)
            found = read(connection, one, own, since, window.until)
            if found.time:
                return Shown(window, found, None)
    return None
