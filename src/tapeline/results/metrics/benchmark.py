"""An account beside a benchmark: returns over the same days, and the formulas that compare them.

Equal to quantstats' where it has them. Pure: two series in, numbers or the reason for none out.
"""

import math
from functools import cached_property

import numpy as np

from tapeline.results.metrics.account import (
    DAY,
    Account,
    Floats,
    Integers,
    Lacking,
    ordered,
)
from tapeline.results.metrics.formulas import geometric_mean
from tapeline.results.metrics.metric import deviation

NEVER = "The benchmark never {} in this time."


class Benchmark:
    """Both series at the closes of the days on which both have one.

    A return goes from one such day to the next, on both sides: a day that is missing on one side
    neither counts as a standstill nor shifts the other side's returns."""

    def __init__(self, account: Account, days: Integers, closes: Floats) -> None:
        """`days` since 1970, rising, and the benchmark's last price of each."""
        self._account = account
        self._days = days
        self._closes = closes

    @cached_property
    def _common(self) -> tuple[Account, Account]:
        account = self._account
        account.require_account()
        _ = account.values
        days, mine, theirs = np.intersect1d(
            account.days, self._days, assume_unique=True, return_indices=True
        )
        if len(days) < 3:
            raise Lacking(
                f"It takes three days with both an account value and a price; there are {len(days)}"
                "."
            )
        times = days * DAY
        return (
            Account(ordered(times, account.closes[mine])),
            Account(ordered(times, self._closes[theirs])),
        )

    @property
    def days(self) -> Integers:
        return self._common[0].days

    @property
    def values(self) -> Floats:
        """The benchmark's closes on these days."""
        return self._common[1].values

    @property
    def ours(self) -> Floats:
        return self._common[0].returns

    @property
    def theirs(self) -> Floats:
        return self._common[1].returns

    @property
    def periods_per_year(self) -> int:
        return self._common[0].periods_per_year

    @property
    def active(self) -> Floats:
        """By how much each return was above the benchmark's."""
        return np.asarray(self.ours - self.theirs)


def total(pair: Benchmark) -> float:
    return float(pair.values[-1] / pair.values[0]) - 1.0


def excess(pair: Benchmark) -> float:
    return float(np.prod(1.0 + pair.ours)) - 1.0 - total(pair)


def beta(pair: Benchmark) -> float:
    deviation(pair.theirs)
    covered = np.cov(pair.ours, pair.theirs)
    return float(covered[0, 1] / covered[1, 1])


def alpha(pair: Benchmark) -> float:
    daily = float(pair.ours.mean()) - beta(pair) * float(pair.theirs.mean())
    return daily * pair.periods_per_year


def correlation(pair: Benchmark) -> float:
    deviation(pair.ours)
    deviation(pair.theirs)
    return float(np.corrcoef(pair.ours, pair.theirs)[0, 1])


def r_squared(pair: Benchmark) -> float:
    return correlation(pair) ** 2


def tracking_error(pair: Benchmark) -> float:
    return float(pair.active.std(ddof=1)) * math.sqrt(pair.periods_per_year)


def information_ratio(pair: Benchmark) -> float:
    return float(pair.active.mean()) / deviation(pair.active)


def up_capture(pair: Benchmark) -> float:
    rising = pair.theirs > 0
    if not rising.any():
        raise Lacking(NEVER.format("rose"))
    return geometric_mean(pair.ours[rising]) / geometric_mean(pair.theirs[rising])


def down_capture(pair: Benchmark) -> float:
    falling = pair.theirs < 0
    if not falling.any():
        raise Lacking(NEVER.format("fell"))
    return geometric_mean(pair.ours[falling]) / geometric_mean(pair.theirs[falling])
