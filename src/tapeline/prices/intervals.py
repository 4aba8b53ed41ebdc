"""Intervals of bars: which coarser ones are stored with a series, and which one a chart shows.

Everything here is in seconds. A coarser bar holds all bars that start within it.
"""

import math

MINUTE, HOUR, DAY, WEEK = 60, 3_600, 86_400, 604_800

POINT = 1
"""The level of an indicator's own points: it has at most one a second."""
STORED = (MINUTE, 15 * MINUTE, 4 * HOUR, DAY)
"""Levels that are kept up to date with every bar, so that a long window reads few of them."""
_STORED_OF_POINTS = STORED[1:]
KEPT = tuple(one for one in STORED if one >= HOUR)
"""Those that stay when the bars they were made from are removed."""
COARSER_BY = 4
"""Times that a stored level must be coarser than the series itself to be worth its space."""
SHOWN = (1, 5, 15, 30, MINUTE, 300, 900, 1_800, HOUR, 2 * HOUR, 4 * HOUR, 12 * HOUR, DAY, WEEK)
"""Intervals that a chart falls back to where there would be too many bars."""
IN_CHUNK = 240
"""Bars in a chunk, about: one more bar writes its chunk anew, and a window reads few of them."""
_MONDAY = 4 * DAY  # the first Monday of the epoch: weeks begin with it


def levels(interval: int) -> tuple[int, ...]:
    """What a series is stored as: its own bars first, then coarser ones. Zero: an indicator."""
    if interval == 0:
        return (POINT, *_STORED_OF_POINTS)
    return (interval, *(one for one in STORED if one >= COARSER_BY * interval))


def span(level: int, coarser: int | None) -> int:
    """Seconds that a chunk covers: whole bars of the next coarser level, so that each of those is
    made from one chunk."""
    if level == POINT and coarser == _STORED_OF_POINTS[0]:
        return coarser
    if coarser is None:
        return level * IN_CHUNK
    return coarser * math.ceil(IN_CHUNK * level / coarser)


def spans(interval: int) -> dict[int, int]:
    """Of each level of a series."""
    every = levels(interval)
    return {one: span(one, coarser) for one, coarser in zip(every, (*every[1:], None), strict=True)}


def start_of(time: float, interval: int) -> int:
    """Where the bar of this interval begins that holds a time. Weeks begin on Mondays."""
    shift = _MONDAY if interval % WEEK == 0 else 0
    return int((time - shift) // interval) * interval + shift


def chunk_of(time: float, seconds: int) -> int:
    """Where the chunk begins that holds a time."""
    return int(time // seconds) * seconds


def fitting(wanted: int, seconds: float, points: int) -> int:
    """The interval to show: the wanted one, or a coarser one where it would be too many bars."""
    if seconds <= wanted * points:
        return wanted
    for one in SHOWN:
        if one >= wanted and seconds <= one * points:
            return one
    return WEEK * math.ceil(seconds / points / WEEK)


def shown(wanted: int) -> int:
    """The next interval that can be made from any finer one."""
    return next((one for one in SHOWN if one >= wanted), WEEK * math.ceil(wanted / WEEK))


def level_for(interval: int, wanted: int) -> int:
    """The coarsest stored level of a series from which bars of an interval can be made."""
    own, *coarser = levels(interval)
    return max((one for one in coarser if wanted % one == 0), default=own)
