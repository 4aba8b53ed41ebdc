"""A metric is a row of a table: name, explanation, formula, and the function that computes it.

The tables are in `of_returns`, `of_risk`, `of_trades` and `of_benchmark`.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from tapeline.results.metrics import calendar_returns
from tapeline.results.metrics.account import Account, Flags, Floats, Lacking
from tapeline.results.metrics.drawdowns import Drawdowns, deepest, find
from tapeline.results.metrics.report_fields import Drawdown, Measured, Shown, Type
from tapeline.results.metrics.round_trips import Matched, RoundTrip, left_out

NEVER_LOST = "There was no loss to compare with."
NEVER_WON = "There was no gain."
FLAT = "The returns do not vary."
NO_DRAWDOWN = "There was no drawdown."
NOT_FINITE = "It is not a finite number."
NO_TRIPS = "No trade was closed."

S = TypeVar("S")


class Subject:
    """The input of metrics. Each part exists, or raises what is missing."""

    def __init__(
        self,
        account: Account,
        matched: Matched | None = None,
        *,
        money: Account | None = None,
        worth: Account | None = None,
    ) -> None:
        """Where money came and went, `account` is what the capital alone became; `money` has the
        profit and loss, and `worth` what the account was worth."""
        self.account = account
        self.matched = matched
        self.money = money or account
        self.worth = worth or account

    @cached_property
    def drawdowns(self) -> Drawdowns:
        return find(self.account)

    @cached_property
    def deepest(self) -> Drawdown:
        _ = self.account.values  # at least two: one value cannot show a loss
        if not np.isfinite(self.drawdowns.depths).all():
            raise Lacking(NOT_FINITE)
        found = deepest(self.account, self.drawdowns, 1)
        if not found:
            raise Lacking(NO_DRAWDOWN)
        return found[0]

    @cached_property
    def max_drawdown(self) -> float:
        """Negative; zero if there was none."""
        _ = self.account.values
        return float(self.account.drawdown.min())

    @cached_property
    def daily_drawdown(self) -> Floats:
        """At the days' closes, as quantstats sees it."""
        returns = self.account.several_returns
        worth = np.cumprod(1.0 + returns)
        return np.asarray(worth / np.maximum(np.maximum.accumulate(worth), 1.0) - 1.0)

    @cached_property
    def months(self) -> Floats:
        return calendar_returns.by_month(self.account).returns

    @cached_property
    def quarters(self) -> Floats:
        return calendar_returns.by_quarter(self.account).returns

    @cached_property
    def years(self) -> Floats:
        return calendar_returns.by_year(self.account).returns

    @property
    def trades(self) -> Matched:
        if self.matched is None:
            raise Lacking("The trades are not known here.")
        if not self.matched.trades:
            raise Lacking("There are no trades.")
        return self.matched

    @cached_property
    def counted(self) -> list[RoundTrip]:
        """The round trips of the symbols that are computed."""
        trades = self.trades
        if not trades.trips:
            raise Lacking(NO_TRIPS)
        found = [trip for trip in trades.trips if trip.symbol not in trades.not_computed]
        if not found:
            raise Lacking(left_out(trades))
        return found

    @cached_property
    def profits(self) -> Floats:
        """Of the round trips, in money."""
        found = [trip.profit for trip in self.counted if trip.profit is not None]
        if len(found) < len(self.counted):
            raise Lacking(f"{self.trades.unpriced} trades came without their price.")
        return np.array(found)

    @cached_property
    def shares(self) -> Floats:
        """Of the round trips, as a share of what the entry cost."""
        _ = self.profits
        return np.array([trip.profit_percent or 0.0 for trip in self.counted])


class Metric(NamedTuple, Generic[S]):
    name: str
    display_name: str
    type: Type
    explanation: str
    """One sentence."""
    formula: str
    """For docs/metrics.md."""
    compute: Callable[[S], float]


def measure(metric: Metric[S], subject: S) -> Measured:
    try:
        with np.errstate(all="ignore"):
            value = float(metric.compute(subject))
    except Lacking as lacking:
        return Measured(None, lacking.reason)
    except (ZeroDivisionError, OverflowError):
        return Measured(None, NOT_FINITE)
    if not math.isfinite(value):
        return Measured(None, NOT_FINITE)
    return Measured(value, None)


def described(metrics: Iterable[Metric[Any]], found: Mapping[str, Measured]) -> dict[str, Shown]:
    """With name and explanation. A metric that a stored report does not have yet is left out."""
    return {
        metric.name: Shown(
            value=found[metric.name].value,
            display_name=metric.display_name,
            type=metric.type,
            explanation=metric.explanation,
            reason=found[metric.name].reason,
        )
        for metric in metrics
        if metric.name in found
    }


def deviation(returns: Floats) -> float:
    """The standard deviation of a sample; rounding noise of equal returns counts as zero."""
    found = float(returns.std(ddof=1))
    if found <= 1e-10 * float(np.abs(returns).max()) or found < 1e-15:
        raise Lacking(FLAT)
    return found


def wins(changes: Floats) -> Floats:
    found = changes[changes > 0]
    if not len(found):
        raise Lacking(NEVER_WON)
    return np.asarray(found)


def losses(changes: Floats) -> Floats:
    found = changes[changes < 0]
    if not len(found):
        raise Lacking(NEVER_LOST)
    return np.asarray(found)


def win_rate(changes: Floats) -> float:
    moved = changes[changes != 0]
    if not len(moved):
        raise Lacking("Nothing was won or lost.")
    return float((moved > 0).sum() / len(moved))


def profit_factor(changes: Floats) -> float:
    return float(changes[changes > 0].sum() / -losses(changes).sum())


def payoff(changes: Floats) -> float:
    return float(wins(changes).mean() / -losses(changes).mean())


def kelly(changes: Floats) -> float:
    rate, ratio = win_rate(changes), payoff(changes)
    return (ratio * rate - (1.0 - rate)) / ratio


def longest_run(flags: Flags) -> float:
    """Of true ones."""
    edges = np.diff(np.concatenate([[0], flags.astype("i1"), [0]]))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return float((ends - starts).max()) if len(starts) else 0.0


def skew(returns: Floats) -> float:
    """Adjusted for the size of the sample, as pandas does."""
    n = len(returns)
    if n < 3:
        raise Lacking("It takes at least three returns.")
    deviation(returns)
    off = returns - returns.mean()
    second, third = float((off**2).mean()), float((off**3).mean())
    return math.sqrt(n * (n - 1)) / (n - 2) * third / float(second**1.5)


def excess_kurtosis(returns: Floats) -> float:
    """Adjusted for the size of the sample, as pandas does; zero for a normal distribution."""
    n = len(returns)
    if n < 4:
        raise Lacking("It takes at least four returns.")
    deviation(returns)
    off = returns - returns.mean()
    second, fourth = float((off**2).mean()), float((off**4).mean())
    raw = fourth / second**2 - 3.0
    return (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * raw + 6.0)
