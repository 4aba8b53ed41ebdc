"""Bars as columns: packed into bytes, merged by their start, made coarser. Pure functions.

A bar of one row in the database would take four times the space, and reading a thousand of them
ten times the time.
"""

import math
import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import NamedTuple

from tapeline.prices.intervals import start_of

NOTHING = math.nan
"""A volume that nobody reported, or an indicator without a value."""
FULL = 200
"""A chunk of so many bars is compressed. One that still grows is not: each bar writes it anew."""
_COMPRESSED = 0x80

Bar = tuple[float, float, float, float, float, float]
"""Start, open, high, low, close, volume."""


class Bars(NamedTuple):
    """Sorted by time."""

    time: "array[float]"
    open: "array[float]"
    high: "array[float]"
    low: "array[float]"
    close: "array[float]"
    volume: "array[float]"

    def between(self, since: float, until: float) -> "Bars":
        """Those that start then, `until` excluded."""
        first, last = bisect_left(self.time, since), bisect_left(self.time, until)
        if first == 0 and last == len(self.time):
            return self
        return Bars(*(column[first:last] for column in self))

    def rows(self) -> Iterator[Bar]:
        return zip(*self, strict=True)


def of_rows(rows: Iterable[Bar]) -> Bars:
    columns = list(zip(*rows, strict=True)) or [()] * 6
    return Bars(*(array("d", column) for column in columns))


def joined(parts: Iterable[Bars]) -> Bars:
    """Parts that follow each other."""
    found = of_rows(())
    for part in parts:
        for column, more in zip(found, part, strict=True):
            column.extend(more)
    return found


def pack(bars: Bars, *, for_long: bool = True) -> bytes:
    """A byte that says which columns follow, then the columns. A column that repeats the closes,
    as an indicator's do, and one without any value are left out. What is not kept for long is not
    worth compressing."""
    kept = [True, *(one != bars.close for one in bars[1:4]), True, _has_any(bars.volume)]
    flags = sum(1 << place for place, keep in enumerate(kept) if keep)
    content = b"".join(_little(column).tobytes() for column in compress(bars, kept))
    if for_long and len(bars.time) >= FULL:
        flags |= _COMPRESSED
        content = zlib.compress(content, 1)
    return bytes([flags]) + content


def unpack(content: bytes) -> Bars:
    flags, packed = content[0], memoryview(content)[1:]
    data = memoryview(zlib.decompress(packed)) if flags & _COMPRESSED else packed
    places = [place for place in range(6) if flags & 1 << place]
    size = len(data) // len(places)
    found = {place: _read(data[n * size : (n + 1) * size]) for n, place in enumerate(places)}
    close = found[4]
    for place in (1, 2, 3):
        found.setdefault(place, close[:])
    if 5 not in found:
        found[5] = array("d", [NOTHING]) * len(close)
    return Bars(*(found[place] for place in range(6)))


def merged(known: Bars, new: Iterable[Bar], interval: int) -> Bars:
    """The last one received wins. Starts within the same half of an interval are the same bar: the
    clocks change, so days start up to an hour apart from each other, but bars never overlap."""
    half = interval / 2
    by_slot = {bar[0] // half: bar for bar in known.rows()}
    for bar in new:
        by_slot[bar[0] // half] = bar
    return of_rows(sorted(by_slot.values()))


def coarsened(bars: Bars, interval: int) -> Bars:
    """One bar for each stretch that has any. A stretch without bars stays a gap."""
    return of_rows(_groups(bars, interval))


def _groups(bars: Bars, interval: int) -> Iterator[Bar]:
    time, first, count = bars.time, 0, len(bars.time)
    while first < count:
        start = start_of(time[first], interval)
        last = bisect_left(time, start + interval, first)
        low, high = bars.low[first:last], bars.high[first:last]
        opened, closed = bars.open[first], bars.close[last - 1]
        if math.isnan(sum(low)):  # an indicator without a value at times
            known = _known(bars.close[first:last]) or [NOTHING]
            opened, closed = known[0], known[-1]
            low, high = array("d", known), array("d", known)
        volume = _sum(bars.volume[first:last])
        yield float(start), opened, max(high), min(low), closed, volume
        first = last


def _sum(volumes: Sequence[float]) -> float:
    total = math.fsum(volumes)
    if not math.isnan(total):
        return total
    known = _known(volumes)
    return math.fsum(known) if known else NOTHING


def _known(numbers: Sequence[float]) -> list[float]:
    return [one for one in numbers if not math.isnan(one)]


def _has_any(column: "array[float]") -> bool:
    return not all(map(math.isnan, column))


def _little(column: "array[float]") -> "array[float]":
    """The bytes of a column are the same on every machine."""
    if sys.byteorder == "big":
        column = column[:]
        column.byteswap()
    return column


def _read(data: memoryview) -> "array[float]":
    column = array("d")
    column.frombytes(data)
    return _little(column)
