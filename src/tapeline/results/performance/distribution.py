"""How often round trips had which result: counts in ranges of round widths. Pure."""

import math

import numpy as np

from tapeline.results.metrics.account import Floats
from tapeline.results.performance.trip_answers import Bin

ABOUT = 20  # ranges
TINIEST = 1e-290  # below it, powers of ten are not exact any more; no result is so small
LARGEST = 1e30  # larger ones share the range at their end: sums of doubles would overflow
FINEST = 1e-12  # of the largest result: finer edges would be the same number
RARE = 1.0  # percent at each end that share a range, so that one result does not flatten the rest


def distribution(profits: Floats) -> list[Bin]:
    """Zero is always an edge: no range mixes gains with losses."""
    profits = profits[np.isfinite(profits)]
    if not len(profits):
        return []
    profits = np.where(np.abs(profits) < TINIEST, 0.0, profits)  # they would vanish in a division
    some = np.clip(profits, -LARGEST, LARGEST)
    low, high = _shown(some)
    width = _width(low, high)
    if some.min() < 0:
        low = min(low, -width / 2)
    places = np.floor(np.clip(some, low, high) / width).astype("i8")
    first = int(places.min())
    counts = np.bincount(places - first)
    found = [
        Bin(low=place * width, high=(place + 1) * width, round_trips=int(count))
        for place, count in enumerate(counts, first)
    ]
    found[0].low = min(found[0].low, float(profits.min()))
    found[-1].high = max(found[-1].high, float(profits.max()))
    return found


def _shown(profits: Floats) -> tuple[float, float]:
    """Without the rarest, but as far as zero if it has gains or losses on the other side."""
    low, high = np.percentile(profits, [RARE, 100.0 - RARE]).tolist()
    if profits.max() >= 0:
        high = max(high, 0.0)
    return (min(low, 0.0) if profits.min() < 0 else low), high


def _width(low: float, high: float) -> float:
    """By the whole of what is shown: however far apart results are, the ranges stay few."""
    apart = (high - low) / ABOUT
    if apart < FINEST * max(abs(low), abs(high)):
        apart = 0.0
    return _round(apart) or _round(abs(high)) or 1.0


def _round(width: float) -> float:
    """The next of 1, 2 and 5 times a power of ten; zero for nothing."""
    if not width > TINIEST:
        return 0.0
    power = 10.0 ** math.floor(math.log10(width))
    steps = (step * power for step in (1.0, 2.0, 5.0, 10.0))
    return next(step for step in steps if step >= width * (1 - 1e-9))
