"""What the models of a portfolio earned together, and each its part. Pure arithmetic.

A day's return is its gain over what could earn it: the value at the close before, and what came in
on the day. What went out is taken off at the close. Compounded, that is the time-weighted return.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tapeline.results.metrics.account import Floats
from tapeline.results.portfolio.lines import Line


class Growth(NamedTuple):
    values: Floats
    flows: Floats
    factor: Floats
    """What one unit that was there from the first day on became; NaN once returns mean nothing."""
    drawdown: Floats
    gains: Floats
    """Of each line in all, in money."""
    contributions: Floats
    """Of each line to the whole return; NaN where that means nothing."""

    @property
    def is_ruined(self) -> bool:
        return bool(np.isnan(self.factor).any())


@np.errstate(all="ignore")  # sums of huge reports overflow; what uses them gives the reason
def together(lines: Sequence[Line]) -> Growth:
    values, flows, inflows = (
        np.array([getattr(one, name) for one in lines]) for name in ("values", "flows", "inflows")
    )
    gains = gained(values, flows)
    total, invested = values.sum(axis=0), earning(values.sum(axis=0), inflows.sum(axis=0))
    factor = compounded(gains.sum(axis=0), invested)
    before = np.concatenate([[1.0], factor[:-1]])
    weights = np.divide(before, invested, out=np.zeros(len(before)), where=invested != 0)
    return Growth(
        total,
        flows.sum(axis=0),
        factor,
        factor / np.maximum(np.maximum.accumulate(factor), 1.0) - 1.0,
        gains.sum(axis=1),
        gains @ weights,
    )


@np.errstate(all="ignore")
def growth_of(one: Line) -> Floats:
    """Of a line by itself."""
    gains = gained(one.values[np.newaxis], one.flows[np.newaxis])[0]
    return compounded(gains, earning(one.values, one.inflows))


def gained(values: Floats, flows: Floats) -> Floats:
    """Of each line on each day: the change of its value that no flow explains."""
    return np.asarray(np.diff(values, prepend=0.0, axis=1) - flows)


def earning(values: Floats, inflows: Floats) -> Floats:
    """What could earn something on each day."""
    return np.asarray(np.concatenate([[0.0], values[:-1]]) + inflows)


def compounded(gains: Floats, invested: Floats) -> Floats:
    """NaN from the day on which nothing was left to earn with, or all of it was lost."""
    factors = np.ones(len(gains))
    moved = gains != 0
    factors[moved] += gains[moved] / invested[moved]
    factors[moved & ((invested <= 0) | (factors <= 0))] = np.nan
    return np.asarray(np.cumprod(factors))
