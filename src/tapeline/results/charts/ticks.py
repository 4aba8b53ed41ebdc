"""Round numbers and round moments for axes, and how each is written."""

import math
from collections.abc import Sequence
from datetime import UTC, tzinfo

import numpy as np

from tapeline.figures import MINUS, without_sign_of_nothing
from tapeline.moments import from_wall, wall, written

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
# Values closer together than this share of their size differ by rounding only.
NOISE, TINIEST = 1e-12, 1e-290
UNITS_OF_VALUES = ((1e12, "T"), (1e9, "B"), (1e6, "M"))
MOST_DIGITS = 12
HOUR, DAY = 3600.0, 86400.0
# The shortest span for which a step of the time axis reads well, and how its ticks are written.
UNITS = (
    (3 * 365 * DAY, "Y", "%Y"),
    (100 * DAY, "M", "%b %Y"),
    (3 * DAY, "D", "%b %d"),
    (4 * HOUR, "h", "%b %d %H:%M"),
    (240.0, "m", "%H:%M"),
    (0.0, "s", "%H:%M:%S"),
)
# Steps that people count in, by unit.
EVERY = {
    "Y": (1, 2, 5, 10, 20, 50),
    "M": (1, 2, 3, 6),
    "D": (1, 2, 5, 7, 14),
    "h": (1, 2, 3, 6, 12),
    "m": (1, 2, 5, 10, 15, 30),
    "s": (1, 2, 5, 10, 15, 30),
}


def value_ticks(low: float, high: float) -> list[float]:
    """Four to six round numbers that enclose the values."""
    largest = max(abs(low), abs(high))
    if high - low <= max(largest * NOISE, TINIEST):
        spread = largest * 0.01 if largest > TINIEST else 1.0
        low, high = low - spread, high + spread
    rough = (high - low) / 4
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(one * size for one in STEPS if one * size >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, last + 1)]


def value_texts(ticks: Sequence[float], *, percent: bool) -> list[str]:
    """Every tick in the same unit, in just enough digits to differ from its neighbours; the pages
    follow the same examples."""
    factor = 100.0 if percent else 1.0
    step = (ticks[1] - ticks[0]) * factor if len(ticks) > 1 else 0.0
    largest = max((abs(one) for one in ticks), default=0.0) * factor
    size, unit = 1.0, " %" if percent else ""
    if not percent:
        fitting = (one for one in UNITS_OF_VALUES if largest >= one[0] and step >= one[0] / 1000)
        size, unit = next(fitting, (1.0, ""))
    digits = 0
    while (
        digits < MOST_DIGITS and abs(round(step / size, digits) - step / size) > step / size / 1000
    ):
        digits += 1
    texts = (f"{one * factor / size:,.{digits}f}" for one in ticks)
    return [without_sign_of_nothing(one).replace("-", MINUS) + unit for one in texts]


def time_ticks(start: float, end: float, most: int, zone: tzinfo = UTC) -> list[tuple[float, str]]:
    """At most so many round moments, each with its text, by the clocks of a zone."""
    unit, form = next((unit, form) for least, unit, form in UNITS if end - start >= least)
    shown = (wall(one, zone) for one in (start, end))
    ends = (np.datetime64(int(one), "s").astype(f"M8[{unit}]") for one in shown)
    first, last = (int(one.astype("i8")) for one in ends)
    rough = max(1, math.ceil((last - first) / most))
    every = next((one for one in EVERY[unit] if one >= rough), rough)
    # Multiples since the epoch: whole quarters, half hours, ten minutes.
    numbers = np.arange(-(-(first + 1) // every) * every, last + 1, every)
    moments = numbers.astype(f"M8[{unit}]").astype("M8[s]").astype("f8").tolist()
    return [(from_wall(one, zone), written(one, form)) for one in moments]
