"""Checks what an exchange says of a market: bars out of it, and what was wrong with the others.

The same rules as for bars of models. What breaks them is left out: a gap is honest, a guess is not.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from tapeline.prices.columns import NOTHING, Bar
from tapeline.prices.source.messages import Row

LARGEST = 1e30
AHEAD = 60.0  # seconds that an exchange's clock may be ahead of ours


class Checked(NamedTuple):
    bars: list[Bar]
    """By their start, each once."""
    wrong: int
    why: str = ""
    """What was wrong with the first of them."""

    def sentence(self) -> str:
        """For people; empty if nothing was wrong."""
        total = self.wrong + len(self.bars)
        return f"{self.wrong} of {total} candles were left out: {self.why}." if self.wrong else ""


def checked(rows: Sequence[Row], now: float) -> Checked:
    """Of two with the same start the last one counts, as for bars of models."""
    found: dict[float, Bar] = {}
    wrong, why = 0, ""
    for row in rows:
        fault = fault_of(row, now)
        if fault is None:
            bar = _bar(row)
            found[bar[0]] = bar
        else:
            wrong, why = wrong + 1, why or fault
    return Checked([found[start] for start in sorted(found)], wrong, why)


def fault_of(row: Row, now: float) -> str | None:
    """What is wrong with a candle, as the end of a sentence."""
    if len(row) < 5 or not all(map(_is_number, row[:5])):
        return "a value is not a number"
    start, opened, high, low, close = (one for one in row[:5] if one is not None)
    if low > min(opened, close, high):
        return "a low is above the open, the close or the high"
    if high < max(opened, close):
        return "a high is below the open or the close"
    if low <= 0:
        return "a price is not above zero"
    if not 0 <= start / 1000 <= now + AHEAD:
        return "a candle is in the future, or before 1970"
    return None


def _bar(row: Row) -> Bar:
    start, opened, high, low, close = (float(one) for one in row[:5] if one is not None)
    volume = row[5] if len(row) > 5 else None
    known = volume is not None and _is_number(volume) and volume >= 0
    return start / 1000, opened, high, low, close, float(volume or 0.0) if known else NOTHING


def _is_number(one: object) -> bool:
    return (
        isinstance(one, int | float)
        and not isinstance(one, bool)
        and math.isfinite(one)
        and abs(one) < LARGEST
    )
