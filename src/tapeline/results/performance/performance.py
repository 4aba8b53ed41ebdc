"""A live model as its owner sees it: one answer with all that a page about its account shows."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from tapeline.results.charts import running
from tapeline.results.charts.chart_window import Window
from tapeline.results.metrics import calendar_returns, drawdowns
from tapeline.results.metrics.account import Account, Floats, Lacking
from tapeline.results.metrics.report_fields import Basis, Period, Shown
from tapeline.results.performance import account_line
from tapeline.results.performance.account_line import AccountLine
from tapeline.results.performance.answers import (
    Exposure,
    OfDrawdown,
    Performance,
    Rolled,
    Unexplained,
)
from tapeline.results.performance.evidence import Evidence
from tapeline.results.performance.flows import MOST
from tapeline.results.performance.trip_answers import TripGroups
from tapeline.tape.backtest_results.series import Point, thinned

MOST_SYMBOLS = 20  # whose exposure is drawn by itself: the largest

T = TypeVar("T")


class View(NamedTuple):
    """Which part of a series to show, and in how many points."""

    window: Window
    points: int

    def of(self, times: Floats, values: Floats) -> list[Point]:
        since, until = self.window
        kept = np.ones(len(times), dtype=bool)
        kept[:-1] = times[:-1] != times[1:]  # the last value of each moment
        if since is not None:
            kept &= times >= since
        if until is not None:
            kept &= times <= until
        return thinned(times[kept], values[kept], self.points)


def performance(
    found: Evidence,
    reported: tuple[Floats, Floats],
    metrics: dict[str, Shown],
    trips: TripGroups,
    view: View,
) -> Performance:
    """`reported`: times and values of the account as the exchange said."""
    with np.errstate(all="ignore"):
        return _performance(found, reported, metrics, trips, view)


def _performance(
    found: Evidence,
    reported: tuple[Floats, Floats],
    metrics: dict[str, Shown],
    trips: TripGroups,
    view: View,
) -> Performance:
    line, reason = _or_reason(found.line)
    accounts = None
    if line is not None:
        accounts, ruin = _or_reason(lambda: account_line.accounts(line))
        reason = reason or ruin
    account = found.profit() if accounts is None else accounts.growth
    times = found.steps[0]
    capital = found.funded.capital
    answer = Performance(
        currency=found.currency,
        capital=capital,
        capital_from=found.funded.source,
        reason=reason,
        flows=found.flows[-MOST:],
        basis=_basis(account),
        profit=view.of(times, found.profits),
        exposure=Exposure(
            gross=view.of(times, running.gross(found.steps)),
            net=view.of(times, running.net(found.steps)),
            symbols=_by_symbol(found, view),
        ),
        reported=view.of(*reported),
        unexplained=None if line is None else _unexplained(line, reported),
        differences=[] if line is None else _differences(line, reported, view),
        drawdown=_drawdown(account, view),
        rolling=_rolling(account, view),
        metrics=metrics,
        round_trips=trips,
        not_computed=found.not_computed,
    )
    if line is not None and len(line.times):
        answer.account_value = float(line.value[-1])
        answer.account = view.of(line.times, line.value)
    if accounts is not None and line is not None and capital is not None:
        answer.returns = view.of(line.times, line.growth / capital.amount - 1.0)
    months, answer.periods_reason = _or_reason(lambda: calendar_returns.by_month(account))
    years, _ = _or_reason(lambda: calendar_returns.by_year(account))
    answer.months, answer.years = _periods(months), _periods(years)
    return answer


def _basis(account: Account) -> Basis:
    found = Basis(notes=account.series.notes)
    known, _ = _or_reason(lambda: account.known)
    if known is not None:
        times, values = known
        found.first, found.last = float(times[0]), float(times[-1])
        found.first_value, found.last_value = float(values[0]), float(values[-1])
        found.days = len(account.days)
    found.periods_per_year, found.reason = _or_reason(lambda: account.periods_per_year)
    return found


def _by_symbol(found: Evidence, view: View) -> dict[str, list[Point]]:
    """Of the symbols whose largest position was largest."""
    lines = []
    times, _, books, _, _, _, held = found.steps
    for one in found.books:
        here = books == one.book
        if not one.is_cash and here.any():
            values = held[here]
            lines.append((float(np.abs(values).max()), one.symbol, times[here], values))
    lines.sort(key=lambda line: (-line[0], line[1]))
    return {symbol: view.of(at, values) for _, symbol, at, values in lines[:MOST_SYMBOLS]}


def _unexplained(line: AccountLine, reported: tuple[Floats, Floats]) -> Unexplained | None:
    """The newest value that the exchange said, beside ours at that time."""
    times, values = reported
    found = differences(line, reported)
    if not len(found):
        return None
    said, difference = float(values[-1]), float(found[-1])
    return Unexplained(
        time=float(times[-1]), reported=said, computed=said - difference, difference=difference
    )


def differences(line: AccountLine, reported: tuple[Floats, Floats]) -> Floats:
    """Each value that the exchange said, less ours at that time."""
    times, values = reported
    if not len(times) or not len(line.times):
        return np.empty(0)
    places = np.searchsorted(line.times, times, side="right")
    return np.asarray(values - line.value[np.maximum(places - 1, 0)])


def _differences(line: AccountLine, reported: tuple[Floats, Floats], view: View) -> list[Point]:
    found = differences(line, reported)
    return view.of(reported[0], found) if len(found) else []


def _drawdown(account: Account, view: View) -> OfDrawdown:
    falls, reason = _or_reason(
        lambda: account.money_drawdown if account.is_money else account.drawdown
    )
    if falls is None:
        return OfDrawdown(reason=reason)
    deepest, _ = _or_reason(lambda: drawdowns.deepest(account, drawdowns.find(account)))
    return OfDrawdown(
        unit="money" if account.is_money else "percent",
        items=view.of(account.times, falls),
        deepest=deepest or [],
    )


def _rolling(account: Account, view: View) -> Rolled:
    rolled, reason = _or_reason(lambda: calendar_returns.rolling(account))
    if rolled is None:
        return Rolled(reason=reason)
    return Rolled(
        window=rolled.window,
        sharpe=view.of(rolled.times, rolled.sharpe),
        volatility=view.of(rolled.times, rolled.volatility),
    )


def _periods(groups: calendar_returns.Groups | None) -> list[Period]:
    if groups is None:
        return []
    return [Period(*one) for one in zip(groups.labels, groups.returns.tolist(), strict=True)]


def _or_reason(make: Callable[[], T]) -> tuple[T | None, str | None]:
    try:
        return make(), None
    except Lacking as lacking:
        return None, lacking.reason
