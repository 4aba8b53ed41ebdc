"""How often round trips had which result: counts in ranges of round widths. Pure."""

import math

import numpy as np

from tapeline.results.metrics.account import Floats
from tapeline.results.performance.trip_answers import Bin

ABOUT = 20  # ranges
TINIEST = 1e-290  # below it, powers of ten are not exact any more; no result is so small
FINEST = 1e-12  # of the largest result: finer edges would be the same number
RARE = 1.0  # percent at each end that share a range, so that one result does not flatten the rest


def distribution(profits: Floats) -> list[Bin]:
    """Zero is always an edge: no range mixes gains with losses."""
    if not len(profits):
        return []
    profits = np.where(np.abs(profits) < TINIEST, 0.0, profits)  # they would vanish in a division
    low, high = np.percentile(profits, [RARE, 100.0 - RARE])
    apart = (high - low) / ABOUT
    if apart < FINEST * max(abs(low), abs(high)):
        apart = 0.0
    width = _round(apart) or _round(abs(float(high))) or 1.0
    if profits.max() >= 0:
        high = max(high, 0.0)
    if profits.min() < 0:
        low = min(low, -width / 2)
    places = np.floor(np.clip(profits, low, high) / width).astype("i8")
    first = int(places.min())
    counts = np.bincount(places - first)
    found = [
        Bin(low=place * width, high=(place + 1) * width, round_trips=int(count))
        for place, count in enumerate(counts, first)
    ]
    found[0].low = min(found[0].low, float(profits.min()))
    found[-1].high = max(found[-1].high, float(profits.max()))
    return found


def _round(width: float) -> float:
    """The next of 1, 2 and 5 times a power of ten; zero for nothing."""
    if not width > TINIEST:
        return 0.0
    power = 10.0 ** math.floor(math.log10(width))
    steps = (step * power for step in (1.0, 2.0, 5.0, 10.0))
    return next(step for step in steps if step >= width * (1 - 1e-9))
