"""The bars of a window: as they were reported, or coarser ones made from them.

However long the history, a window reads about as many bars as it shows: the levels that are stored
with each series see to that.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from tapeline.prices import columns, covering
from tapeline.prices.columns import Bars
from tapeline.prices.covering import Covering
from tapeline.prices.intervals import (
    DAY,
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

FEWEST = 12
"""Bars that make a chart: a window of fewer has finer ones among them instead."""
CONTINUED = 1_000
"""Finer bars that are read at most to bring a coarser one up to date."""
_CHUNKS = """
select content from price_chunks
where tape = ? and series = ? and level = ? and start >= ? and start < ? order by start
"""
_LAST_CHUNKS = """
select content from price_chunks
where tape = ? and series = ? and level = ? and start >= ? and start < ?
order by start desc limit 2
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
    """The finer interval that most of them were made from; None for bars as they were reported."""
    widths: list[int] | None = None
    """Seconds of each bar where some are coarser than the window's interval."""


def bars(connection: Connection, reported: list[Series], asked: Asked) -> Shown | None:
    """Of one symbol's series, the finest first. None if the window has no bar."""
    if not reported:
        return None
    window = resolved(reported, asked)
    found = _covering(connection, reported, window)
    if asked.interval is None:
        coarser = _prevailing(found, window, asked)
        if coarser != window.interval:
            window = resolved(reported, asked._replace(interval=coarser))
            found = _covering(connection, reported, window)
    return _shown(found, window) if found.widths else None


def resolved(reported: list[Series], asked: Asked) -> Window:
    """The window with everything chosen: by default the newest bars of the finest interval."""
    finest = reported[0].interval
    wanted = max(finest, asked.interval or finest)
    until = asked.until
    if until is None:
        until = _reached(reported)
    since = until - wanted * asked.points if asked.since is None else asked.since
    since = min(since, until)
    return Window(fitting(wanted, until - since, asked.points), since, until)


def _reached(reported: list[Series]) -> float:
    """Where the newest bars end. One that goes on around the end of a finer one, as today's does,
    reaches into the future; it counts only where finer ones had ended before it began."""
    reached = -math.inf
    for one in reported:
        if one.newest >= reached:
            reached = one.newest + one.interval
    return reached


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


def last_of_days(connection: Connection, one: Series, level: int, days: Sequence[int]) -> Bars:
    """The last bars of each day, rising as the days do; its last but one chunk too, because the
    last one may begin on that day and hold bars of the next alone."""
    found, seconds = list[Bars](), spans(one.interval)[level]
    for day in days:
        since, until = day * DAY, (day + 1) * DAY
        values = (one.tape, one.series, level, chunk_of(since, seconds), until)
        rows = bulk.fetch(connection, _LAST_CHUNKS, values)
        chunks = columns.joined(columns.unpack(bytes(row[0])) for row in reversed(rows))
        found.append(chunks.between(since, until))
    return columns.joined(found)


def _covering(connection: Connection, reported: list[Series], window: Window) -> Covering:
    """Bars of the interval, and coarser ones where it has none: finer ones begin later, pause, and
    are removed sooner."""
    until = min(window.until, max(one.newest + one.interval for one in reported))
    found = covering.NONE
    for interval, one in _sources(reported, window.interval):
        missing = covering.missing(found, window.interval, window.since, until)
        if missing is None:
            break
        more = _of_source(connection, one, reported, Window(interval, *missing))
        found = covering.filled(found, more, interval, one.interval)
    return found


def _sources(reported: list[Series], wanted: int) -> Iterator[tuple[int, Series]]:
    """Intervals and the series to take them from, in the order in which they count. Of several
    that could be made coarser the coarsest is first: it is nearest to what was asked for."""
    known = {wanted, shown(wanted), *KEPT, *(one.interval for one in reported)}
    for interval in sorted(one for one in known if one >= wanted):
        # Others would take all bars there are: no stored level helps to make them.
        is_made = interval == shown(interval) and interval in (wanted, shown(wanted), *KEPT)
        for one in reversed(reported):
            if one.interval == interval or (is_made and one.interval < interval):
                yield interval, one


def _of_source(connection: Connection, one: Series, reported: list[Series], window: Window) -> Bars:
    if one.interval < window.interval:
        made = made_coarser(connection, one, window)
        finer = [other for other in reported if other.interval < one.interval]
        return _continued(connection, made, one, finer, window.interval)
    # A bar that began before the window and ends in it belongs to it.
    since = math.nextafter(window.since - one.interval, math.inf)
    return read(connection, one, levels(one.interval)[0], since, window.until)


def _continued(
    connection: Connection, made: Bars, one: Series, finer: list[Series], step: int
) -> Bars:
    """With the last bar up to date: where its series ends within it, a finer one goes on."""
    ended = one.newest + one.interval
    later = max(finer, key=lambda other: other.newest + other.interval, default=one)
    until = made.time[-1] + step if made.time else ended
    if not ended < min(until, later.newest + later.interval):
        return made
    rest = Window(fitting(later.interval, until - ended, CONTINUED), ended, until)
    more = made_coarser(connection, later, rest).between(ended, until)
    return columns.coarsened(columns.joined([made, more]), step)


def _prevailing(found: Covering, window: Window, asked: Asked) -> int:
    """The interval of most of the window, if it leaves enough bars to be a chart."""
    seconds = covering.seconds_by_width(found, window.since, window.until)
    if not seconds:
        return window.interval
    most = max(seconds, key=lambda width: (seconds[width], -width))
    enough = asked.since is None or (window.until - window.since) >= FEWEST * most
    return most if enough else window.interval


def _shown(found: Covering, window: Window) -> Shown:
    window = window._replace(interval=min(found.widths))
    of_interval = [
        origin
        for origin, width in zip(found.origins, found.widths, strict=True)
        if width == window.interval
    ]
    ((origin, _),) = Counter(of_interval).most_common(1)
    is_mixed = len(set(found.widths)) > 1
    return Shown(
        window,
        found.bars,
        origin if origin < window.interval else None,
        found.widths if is_mixed else None,
    )
