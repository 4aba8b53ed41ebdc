"""Curves and figures of a link: rebased where amounts are hidden, so that none can be derived."""

from typing import NamedTuple

import msgspec
import numpy as np

from tapeline.results.backtests.tear_sheet import written
from tapeline.results.metrics import all_metrics, calendar_returns, drawdowns
from tapeline.results.metrics.account import Account, Floats, Lacking, Ordered, led, ordered
from tapeline.results.metrics.metric import Subject
from tapeline.results.metrics.report_fields import Drawdown, Measured, Period, Report, Shown
from tapeline.results.performance.evidence import Evidence
from tapeline.sharing.exhibits.answers import SharedFigure, SharedPeriods, SharedYear, Unit
from tapeline.sharing.links.choices import Choices
from tapeline.tape.backtest_results.series import Point, thinned

HUNDRED = 100.0
FIGURES = (
    "total_return", "profit", "cagr", "sharpe", "max_drawdown", "max_drawdown_money", "volatility",
    "win_rate_trades", "win_rate_days", "profit_factor_days", "longest_drawdown_days",
)  # fmt: skip
MOST_FIGURES = 6
NO_BASE = "No capital is known that this could be a percentage of."


quietly = np.errstate(all="ignore")
"""Sums of huge reports overflow; a curve has a gap where they did."""


class Line(NamedTuple):
    unit: Unit
    times: Floats
    values: Floats


def profit_line(line: tuple[Floats, Floats] | None) -> Ordered:
    """Profit and loss, with the last value of each moment."""
    times, values = (np.empty(0), np.empty(0)) if line is None else line
    if len(times) > 1:
        shown = np.append(times[:-1] != times[1:], [True])
        times, values = times[shown], values[shown]
    return ordered(times, values)


@quietly
def live_account(line: tuple[Floats, Floats] | None, base: float | None) -> Account:
    """Profit and loss on top of the capital, where that is known; else money alone."""
    start, profit = base or 0.0, profit_line(line)
    series = ordered(*led(start, profit.times, profit.values + start))
    return Account(series, is_live=True, is_money=base is None)


class LiveAccount(NamedTuple):
    """A live model as an account, as far as its capital is known."""

    subject: Subject
    capital: float | None


def account_of(
    found: Evidence, line: tuple[Floats, Floats] | None, base: float | None
) -> LiveAccount:
    """With the model's capital; with the link's `base` only where the model has none."""
    capital = found.funded.capital
    if capital is None:
        return LiveAccount(Subject(live_account(line, base)), base)
    if found.reason is None and len(found.steps[0]):
        subject = found.subject(None)
        if not subject.account.is_money:
            return LiveAccount(subject, capital.amount)
    return LiveAccount(Subject(live_account(line, None)), None)


@quietly
def live_line(profit: Ordered, account: LiveAccount, choices: Choices) -> Line:
    """The curve of profit and loss; this decides its unit. Deposits and withdrawals do not move
    it, in percent either."""
    if choices.shows_money:
        return Line("money", profit.times, profit.values)
    if account.capital is not None:
        grown = account.subject.account.series
        return Line("percent", grown.times, grown.values / account.capital * HUNDRED)
    return Line("index", profit.times, profit.values / _span(profit) * HUNDRED)


@quietly
def live_drawdown(account: Account, choices: Choices) -> tuple[Line, list[Drawdown], str | None]:
    """The line, the deepest drawdowns, and the reason if there is none."""
    try:
        found = drawdowns.deepest(account, drawdowns.find(account))
        if not account.is_money:
            return Line("percent", account.times, account.drawdown), found, None
        times, values = account.times, account.money_drawdown
    except Lacking as lacking:
        return Line("percent", np.empty(0), np.empty(0)), [], lacking.reason
    if choices.shows_money:
        return Line("money", times, values), found, None
    scale = HUNDRED / _span(account.series)
    scaled = [msgspec.structs.replace(one, depth=one.depth * scale) for one in found]
    return Line("index", times, values * scale), scaled, None


@quietly
def _span(series: Ordered) -> float:
    """From the lowest to the highest value, zero among them; no number if that is none."""
    known = np.append(series.values[~np.isnan(series.values)], [0.0])
    span = float(known.max() - known.min()) or 1.0
    return span if np.isfinite(span) else np.nan


@quietly
def backtest_line(times: Floats, values: Floats, first: float | None, choices: Choices) -> Line:
    """`first` is the first known account value of the whole backtest."""
    if choices.shows_money:
        return Line("money", times, values)
    if first is not None and first > 0:
        return Line("percent", times, values / first * HUNDRED)
    return Line("index", times, np.full_like(values, np.nan))


def points(
    line: Line, start: float | None, end: float | None, most: int
) -> tuple[list[Point], int]:
    kept = np.ones(len(line.times), dtype=bool)
    if start is not None:
        kept &= line.times >= start
    if end is not None:
        kept &= line.times <= end
    values = np.where(np.isfinite(line.values), line.values, np.nan)[kept]
    return thinned(line.times[kept], values, most), len(line.times)


def live_metrics(account: LiveAccount) -> dict[str, Measured]:
    with np.errstate(all="ignore"):
        return all_metrics.compute(account.subject)


def chosen_metrics(found: dict[str, Measured], choices: Choices) -> dict[str, Shown]:
    """Without metrics whose unit would reveal hidden amounts."""
    return {
        name: one
        for name, one in all_metrics.shown(found).items()
        if one.type != "money" or choices.shows_money
    }


def figures(shown: dict[str, Shown], currency: str) -> list[SharedFigure]:
    """The first available figures of the most important ones."""
    there = [name for name in FIGURES if name in shown and shown[name].value is not None]
    if "max_drawdown" in there and "max_drawdown_money" in there:
        there.remove("max_drawdown_money")  # the same drawdown twice
    return [
        SharedFigure(
            name=name,
            display_name=shown[name].display_name,
            value=shown[name].value,
            type=shown[name].type,
            text=written(shown[name].value, shown[name].type, currency),
            explanation=shown[name].explanation,
        )
        for name in there[:MOST_FIGURES]
    ]


def live_periods(account: Account) -> SharedPeriods:
    if account.is_money:
        return SharedPeriods([], NO_BASE)
    try:
        with np.errstate(all="ignore"):
            months, years = calendar_returns.by_month(account), calendar_returns.by_year(account)
    except Lacking as lacking:
        return SharedPeriods([], lacking.reason)
    return SharedPeriods(_years(years.shown, months.shown), None)


def backtest_periods(report: Report) -> SharedPeriods:
    return SharedPeriods(_years(report.years, report.months), report.periods_reason)


def _years(years: list[Period], months: list[Period]) -> list[SharedYear]:
    by_month = {one.period: one.value for one in months}
    return [_year(one.period, one.value, by_month) for one in years]


def _year(label: str, value: float | None, months: dict[str, float | None]) -> SharedYear:
    return SharedYear(
        int(label), value, [months.get(f"{label}-{month:02}") for month in range(1, 13)]
    )
