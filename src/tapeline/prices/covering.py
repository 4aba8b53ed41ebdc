"""Bars of several series as one row of bars that do not overlap. Pure functions.

Each source in turn only adds what is still missing: coarser bars never hide finer ones, and no
history disappears because finer bars began later.
"""

from bisect import bisect_left
from collections import Counter
from typing import NamedTuple

from tapeline.prices import columns
from tapeline.prices.columns import Bars


class Covering(NamedTuple):
    bars: Bars
    widths: list[int]
    """Seconds of each bar."""
    origins: list[int]
    """The interval of the series that each was reported in."""


NONE = Covering(columns.of_rows(()), [], [])


def missing(found: Covering, step: int, since: float, until: float) -> tuple[float, float] | None:
    """From the first stretch without bars to the last one. Less than half a step between two bars
    has no room for another; at the edges one may reach beyond the window."""
    first, last, reached = None, until, since
    ends = (start + width for start, width in zip(found.bars.time, found.widths, strict=True))
    for start, end in (*zip(found.bars.time, ends, strict=True), (until, until)):
        is_edge = reached == since or start == until
        if start - reached > (0 if is_edge else step / 2):
            first, last = reached if first is None else first, start
        reached = max(reached, end)
    return None if first is None else (first, last)


def filled(found: Covering, more: Bars, width: int, origin: int) -> Covering:
    """With those of the other bars that have room."""
    if not found.widths:
        return Covering(more, [width] * len(more.time), [origin] * len(more.time))
    fitting = [bar for bar in more.rows() if _has_room(found, bar[0], width)]
    if not fitting:
        return found
    known = zip(found.bars.rows(), found.widths, found.origins, strict=True)
    rows = sorted((*known, *((bar, width, origin) for bar in fitting)), key=lambda row: row[0][0])
    bars, widths, origins = zip(*rows, strict=True)
    return Covering(columns.of_rows(bars), list(widths), list(origins))


def seconds_by_width(found: Covering, since: float, until: float) -> Counter[int]:
    """How much of a stretch bars of each width cover."""
    sums: Counter[int] = Counter()
    for start, width in zip(found.bars.time, found.widths, strict=True):
        sums[width] += max(0, int(min(until, start + width) - max(since, start)))
    return sums


def _has_room(found: Covering, start: float, width: int) -> bool:
    """Less than half of the smaller one may overlap: bars may begin a little late."""
    times = found.bars.time
    end = start + width
    for place in range(max(0, bisect_left(times, start) - 1), bisect_left(times, end)):
        other = found.widths[place]
        overlap = min(end, times[place] + other) - max(start, times[place])
        if overlap > min(width, other) / 2:
            return False
    return True
