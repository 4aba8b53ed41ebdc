"""Returns by month and year, and how they moved over time: what tables and rolling charts show."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tapeline.results.metrics.account import DAY, Account, Floats, Integers, Lacking
from tapeline.results.metrics.report_fields import Period

PORTION = 10_000  # windows computed together: each needs memory for all of its days


class Groups(NamedTuple):
    """Daily returns compounded by a period of the calendar."""

    labels: list[str]
    """`2024`, `2024-Q1`, `2024-03`."""
    returns: Floats

    @property
    def shown(self) -> list[Period]:
        """Null for what is not a finite number."""
        pairs = zip(self.labels, self.returns.tolist(), strict=True)
        return [Period(label, one if math.isfinite(one) else None) for label, one in pairs]


class Rolling(NamedTuple):
    window: int
    times: Floats
    """The end of the day that closes each window."""
    sharpe: Floats
    volatility: Floats


def by_month(account: Account) -> Groups:
    months = _months(account.return_days)
    return _grouped(months, account.returns, lambda one: f"{1970 + one // 12}-{one % 12 + 1:02}")


def by_quarter(account: Account) -> Groups:
    quarters = _months(account.return_days) // 3
    return _grouped(quarters, account.returns, lambda one: f"{1970 + one // 4}-Q{one % 4 + 1}")


def by_year(account: Account) -> Groups:
    years = _months(account.return_days) // 12
    return _grouped(years, account.returns, lambda one: f"{1970 + one}")


def since(account: Account, months_back: int | None, *, start_of: str | None = None) -> float:
    """The return from so many months before the last day on, or from the start of its period."""
    account.require_account()
    days, closes = account.marks
    last = days[-1]
    if start_of is not None:
        begin = np.datetime64(int(last), "D").astype(f"M8[{start_of}]").astype("M8[D]")
    else:
        begin = _months_before(np.datetime64(int(last), "D"), months_back or 0)
    before = np.flatnonzero(days < begin.astype("i8"))
    if not len(before):
        raise Lacking("The record is shorter than that.")
    base = float(closes[before[-1]])
    if base <= 0:
        raise Lacking("The account value fell to zero or below, so returns mean nothing.")
    return float(closes[-1]) / base - 1.0


def rolling(account: Account) -> Rolling:
    """Sharpe ratio and volatility over windows of half a year, as quantstats does."""
    returns, periods = account.several_returns, account.periods_per_year
    window = max(2, round(periods / 2))
    if len(returns) < window:
        raise Lacking(f"It takes at least {window} returns, half a year of them.")
    views = np.lib.stride_tricks.sliding_window_view(returns, window)
    portions = [views[start : start + PORTION] for start in range(0, len(views), PORTION)]
    means = np.concatenate([some.mean(axis=1) for some in portions])
    deviations = np.concatenate([some.std(axis=1, ddof=1) for some in portions])
    flat = deviations <= 1e-10 * np.abs(means) + 1e-15
    ratios = np.divide(means, deviations, out=np.full_like(means, np.nan), where=~flat)
    ends = (account.return_days[window - 1 :] + 1) * DAY
    return Rolling(
        window, np.asarray(ends), ratios * np.sqrt(periods), deviations * np.sqrt(periods)
    )


def _months(days: Integers) -> Integers:
    """Months since January 1970."""
    return np.asarray(days.astype("M8[D]").astype("M8[M]").astype("i8"))


def _months_before(day: np.datetime64, months: int) -> np.datetime64:
    """The same day of an earlier month, or that month's last."""
    month = day.astype("M8[M]")
    within = (day - month.astype("M8[D]")).astype(int)
    earlier = month - months
    length = ((earlier + 1).astype("M8[D]") - earlier.astype("M8[D]")).astype(int)
    found: np.datetime64 = earlier.astype("M8[D]") + min(within, length - 1)
    return found


def _grouped(keys: Integers, returns: Floats, label: Callable[[int], str]) -> Groups:
    firsts = np.flatnonzero(np.diff(keys, prepend=keys[0] - 1))
    compounded = np.multiply.reduceat(1.0 + returns, firsts) - 1.0
    return Groups([label(int(one)) for one in keys[firsts]], np.asarray(compounded))
