"""Running sums of what entries did, as if nothing were rounded on the way.

A wrong price makes one amount huge for a moment. Doubles that are simply added up lose the digits
of all others to it, and do not get them back when it goes. Here every addition keeps what it
rounded off, and the changes of a book cancel out exactly: each begins where the last one ended.

Steps are rows as a segment of a curve has them.
"""

from typing import NamedTuple

import numpy as np

from tapeline.results.metrics.account import Floats


class Sums(NamedTuple):
    """Each the sum of two doubles: the second has what is too small for the first."""

    high: Floats
    low: Floats

    @property
    def rounded(self) -> Floats:
        # What overflowed has no rest.
        return np.where(np.isfinite(self.high), self.high + self.low, self.high)

    def before(self) -> "Sums":
        """Those before each place, from zero on."""
        return Sums(*(np.append([0.0], column[:-1])[: len(column)] for column in self))

    def plus(self, other: "Sums") -> "Sums":
        high = self.high + other.high
        return Sums(high, _lost(self.high, other.high, high) + self.low + other.low)


@np.errstate(all="ignore")  # sums of huge reports overflow; what uses them gives the reason
def sums(high: Floats, low: Floats) -> Sums:
    """Of amounts in two parts."""
    totals, lost = _added_up(high)
    rests, last = _added_up(lost + low)  # where two prices are wrong at once, these are huge too
    return Sums(totals, rests + np.cumsum(last))


@np.errstate(all="ignore")
def changes(before: Floats, after: Floats) -> Sums:
    """From one column to the other, row by row, exactly."""
    high = after - before
    return Sums(high, _lost(after, -before, high))


def profit(steps: Floats) -> Floats:
    return sums(*changes(steps[3], steps[4])).rounded


def net(steps: Floats) -> Floats:
    """The signed value of all that is held."""
    return sums(*changes(steps[5], steps[6])).rounded


def gross(steps: Floats) -> Floats:
    """The same without the signs."""
    return sums(*changes(np.abs(steps[5]), np.abs(steps[6]))).rounded


def _added_up(amounts: Floats) -> tuple[Floats, Floats]:
    """And what each addition lost."""
    totals = np.cumsum(amounts)
    before = np.append([0.0], totals[:-1])[: len(totals)]
    return totals, _lost(before, amounts, totals)


def _lost(one: Floats, other: Floats, total: Floats) -> Floats:
    """What was rounded off when two numbers made a total (Knuth's two-sum)."""
    part = total - one
    return np.asarray((one - (total - part)) + (other - part))
