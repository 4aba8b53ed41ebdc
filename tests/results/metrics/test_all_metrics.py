"""Every metric equals quantstats on the same returns; where it must not, it is shown why."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tapeline.results.metrics import all_metrics, calendar_returns
from tapeline.results.metrics.account import Account, ordered
from tests.examples import some
from tests.results.metrics.series import (
    DAY,
    MONDAY,
    computed,
    every_day,
    frame,
    qs,
    subject,
    walk,
    weekdays,
)

Returns = Any
SAME: dict[str, Callable[[Returns, int], float]] = {
    "total_return": lambda r, _: qs.comp(r),
    "cagr": lambda r, n: qs.cagr(r, periods=n),
    "expected_daily": lambda r, _: qs.expected_return(r),
    "expected_monthly": lambda r, _: qs.expected_return(r, aggregate="ME"),
    "expected_yearly": lambda r, _: qs.expected_return(r, aggregate="YE"),
    "best_day": lambda r, _: qs.best(r),
    "worst_day": lambda r, _: qs.worst(r),
    "best_month": lambda r, _: qs.best(r, aggregate="ME"),
    "worst_month": lambda r, _: qs.worst(r, aggregate="ME"),
    "best_year": lambda r, _: qs.best(r, aggregate="YE"),
    "worst_year": lambda r, _: qs.worst(r, aggregate="YE"),
    "average_return": lambda r, _: qs.avg_return(r),
    "average_win": lambda r, _: qs.avg_win(r),
    "average_loss": lambda r, _: qs.avg_loss(r),
    "average_up_month": lambda r, _: qs.avg_win(r, aggregate="ME"),
    "average_down_month": lambda r, _: qs.avg_loss(r, aggregate="ME"),
    "win_rate_days": lambda r, _: qs.win_rate(r),
    "win_rate_months": lambda r, _: qs.win_rate(r, aggregate="ME"),
    "win_rate_quarters": lambda r, _: qs.win_rate(r, aggregate="QE"),
    "win_rate_years": lambda r, _: qs.win_rate(r, aggregate="YE"),
    "longest_winning_streak": lambda r, _: qs.consecutive_wins(r),
    "longest_losing_streak": lambda r, _: qs.consecutive_losses(r),
    "sharpe": lambda r, n: qs.sharpe(r, periods=n),
    "smart_sharpe": lambda r, n: qs.smart_sharpe(r, periods=n),
    "probabilistic_sharpe": lambda r, n: qs.probabilistic_sharpe_ratio(r, periods=n),
    "sortino": lambda r, n: qs.sortino(r, periods=n),
    "smart_sortino": lambda r, n: qs.smart_sortino(r, periods=n),
    "adjusted_sortino": lambda r, n: qs.adjusted_sortino(r, periods=n),
    "calmar": lambda r, n: qs.calmar(r, periods=n),
    "omega": lambda r, n: qs.omega(r, periods=n),
    "volatility": lambda r, n: qs.volatility(r, periods=n),
    "max_drawdown": lambda r, _: qs.max_drawdown(r),
    "ulcer_index": lambda r, _: qs.ulcer_index(r),
    "martin_ratio": lambda r, _: qs.ulcer_performance_index(r),
    "serenity_index": lambda r, _: qs.serenity_index(r),
    "var": lambda r, _: qs.value_at_risk(r),
    "cvar": lambda r, _: qs.cvar(r),
    "historical_cvar": lambda r, _: qs.cvar(r, method="historical"),
    "historical_var": lambda r, _: r.quantile(0.05),
    "skew": lambda r, _: qs.skew(r),
    "kurtosis": lambda r, _: qs.kurtosis(r),
    "tail_ratio": lambda r, _: qs.tail_ratio(r),
    "gain_to_pain": lambda r, _: qs.gain_to_pain_ratio(r),
    "profit_factor_days": lambda r, _: qs.profit_factor(r),
    "payoff_days": lambda r, _: qs.payoff_ratio(r),
    "kelly": lambda r, _: qs.kelly_criterion(r),
    "cpc_index": lambda r, _: qs.cpc_index(r),
    "common_sense_ratio": lambda r, _: qs.common_sense_ratio(r),
    "outlier_win_ratio": lambda r, _: qs.outlier_win_ratio(r),
    "outlier_loss_ratio": lambda r, _: qs.outlier_loss_ratio(r),
}
# Ours on purpose: quantstats has another convention, or none. Each is tested below or by hand.
OURS = {
    "profit", "return_on_exposure", "recovery_factor", "exposure_days", "month_to_date",
    "three_months", "six_months", "year_to_date", "one_year", "best_day_money", "worst_day_money",
    "average_day_money", "max_drawdown_money", "max_drawdown_start", "max_drawdown_valley",
    "max_drawdown_end", "max_drawdown_days", "longest_drawdown_days", "average_drawdown",
    "average_drawdown_days",
}  # fmt: skip

Case = tuple[Any, Any, int]


def cases() -> Iterator[tuple[str, Case]]:
    yield "three years of weekdays", (weekdays(760), walk(760), 252)
    yield "a losing year, every day", (every_day(400), walk(400, seed=7, drift=-0.002), 365)
    yield "a steep rise", (every_day(800), walk(800, seed=3, drift=0.004, spread=0.03), 365)
    yield "days without a move", (weekdays(300), np.repeat(walk(150, seed=5), 2), 252)
    yield "twelve days", (weekdays(12), walk(12, seed=9), 252)
    yield "weeks", (MONDAY + 7 * DAY * np.arange(150), walk(150, seed=4, spread=0.03), 52)
    dates = pd.date_range("2015-01-31", periods=80, freq="ME")
    yield "months", (dates.as_unit("s").asi8.astype(float), walk(80, seed=6, spread=0.04), 12)


CASES = dict(cases())


def test_every_metric_is_judged_by_quantstats_or_named_as_ours() -> None:
    trading = {row.name for row in all_metrics.GROUPS["Trading"]}
    assert set(all_metrics.BY_NAME) == set(SAME) | OURS | trading
    assert not set(SAME) & OURS


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("case", CASES)
def test_it_equals_quantstats(case: str, name: str) -> None:
    times, values, periods = CASES[case]
    assert subject(times, values).account.periods_per_year == periods
    _agree(name, frame(times, values), periods, computed(times, values)[name].value)


@settings(
    max_examples=some(40),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
@example(steps=[0.0, 0.0, 0.0, 0.1, -0.1], daily=True)
@example(steps=[0.1, 0.1, 0.1, 0.1, -0.2], daily=True)
@example(steps=[-0.2, 0.1, 0.1, 0.1, 0.1], daily=False)
@given(
    steps=st.lists(
        st.floats(-0.3, 0.3, allow_nan=False).map(lambda step: round(step, 6)),
        min_size=2,
        max_size=60,
    ),
    daily=st.booleans(),
)
@pytest.mark.filterwarnings("ignore")  # quantstats and numpy speak of what we answer with a reason
@pytest.mark.heavy
def test_it_equals_quantstats_whatever_the_returns(steps: list[float], daily: bool) -> None:
    values = 1_000.0 * np.cumprod([1.0, *(1.0 + step for step in steps)])
    times = every_day(len(values)) if daily else weekdays(len(values))
    found = subject(times, values)
    try:
        periods = found.account.periods_per_year
    except Exception:  # noqa: BLE001 - too short to tell
        return
    returns, ours = frame(times, values), all_metrics.compute(found)
    for name in SAME:
        _agree(name, returns, periods, ours[name].value)


def _agree(name: str, returns: Returns, periods: int, ours: float | None) -> None:
    if name.startswith("smart_") and _flat_but_for_one_end(returns):
        # quantstats too means no penalty then, but may correlate what floating point left over.
        name = name.removeprefix("smart_")
    theirs = float(SAME[name](returns, periods))
    if ours is None:
        # We are stricter: no value where a distribution has no spread or a loss no counterpart.
        spread = float(returns.std())
        few = len(returns) < 4 or (returns >= 0).all() or (returns <= 0).all()
        assert not math.isfinite(theirs) or theirs == 0 or few or spread < 1e-9, (name, theirs)
        return
    if not math.isfinite(theirs):
        return
    assert ours == pytest.approx(theirs, rel=1e-7, abs=1e-10), name


def _flat_but_for_one_end(returns: Returns) -> bool:
    return any(float(np.ptp(part)) < 1e-9 for part in (returns[:-1], returns[1:]))


def test_days_that_do_not_vary_foretell_nothing() -> None:
    returns = frame(every_day(6), [100.0, 100.0, 100.0, 100.0, 100.0, 90.0])
    ours = computed(every_day(6), [100.0, 100.0, 100.0, 100.0, 100.0, 90.0])
    assert ours["smart_sharpe"].value == pytest.approx(qs.smart_sharpe(returns, periods=365))
    assert ours["smart_sharpe"].value == ours["sharpe"].value
    assert ours["smart_sortino"].value == ours["sortino"].value


def test_monthly_and_yearly_returns_equal_quantstats() -> None:
    times, values, _ = CASES["three years of weekdays"]
    account, returns = Account(ordered(times, values)), frame(times, values)
    table = qs.monthly_returns(returns)
    months = calendar_returns.by_month(account)
    for label, value in zip(months.labels, months.returns, strict=True):
        year, month = label.split("-")
        name = pd.Timestamp(int(year), int(month), 1).strftime("%b").upper()
        assert value == pytest.approx(table.loc[year, name])
    years = calendar_returns.by_year(account)
    assert list(years.returns) == pytest.approx(list(table["EOY"]))


def test_rolling_ratios_equal_quantstats() -> None:
    for case in ("three years of weekdays", "a steep rise"):
        times, values, periods = CASES[case]
        returns, ours = (
            frame(times, values),
            calendar_returns.rolling(Account(ordered(times, values))),
        )
        assert ours.window == round(periods / 2)
        sharpe = qs.rolling_sharpe(returns, rolling_period=ours.window, periods_per_year=periods)
        spread = qs.rolling_volatility(returns, ours.window, periods)
        assert ours.sharpe == pytest.approx(sharpe.dropna().to_numpy(), rel=1e-7)
        assert ours.volatility == pytest.approx(spread.dropna().to_numpy(), rel=1e-7)


def test_the_drawdown_series_equals_quantstats() -> None:
    times, values, _ = CASES["three years of weekdays"]
    theirs = qs.to_drawdown_series(frame(times, values))
    ours = Account(ordered(times, values)).drawdown
    assert ours[1:] == pytest.approx(theirs.to_numpy(), abs=1e-12)


def test_drawdowns_are_those_of_quantstats_from_peak_to_recovery() -> None:
    """quantstats counts the days under water; we count from the peak to its recovery."""
    times, values, _ = CASES["a steep rise"]
    theirs = qs.drawdown_details(qs.to_drawdown_series(frame(times, values)))
    found = subject(times, values)
    assert len(found.drawdowns.depths) == len(theirs)
    assert found.drawdowns.depths == pytest.approx(theirs["max drawdown"].to_numpy() / 100)
    assert list(found.drawdowns.seconds[:-1] / DAY) == [days + 1 for days in theirs["days"][:-1]]
    worst = theirs.sort_values("max drawdown").iloc[0]
    valley = pd.Timestamp(found.deepest.valley, unit="s").strftime("%Y-%m-%d")
    assert valley == worst["valley"]
    ours = all_metrics.compute(found)
    assert ours["average_drawdown"].value == pytest.approx(theirs["max drawdown"].mean() / 100)


def test_recent_periods_start_from_the_close_before_them() -> None:
    times, values, _ = CASES["three years of weekdays"]
    returns, ours = frame(times, values), computed(times, values)
    last = returns.index[-1]
    for name, start in {
        "month_to_date": last.replace(day=1),
        "year_to_date": last.replace(month=1, day=1),
        "three_months": last - pd.DateOffset(months=3),
        "six_months": last - pd.DateOffset(months=6),
        "one_year": last - pd.DateOffset(years=1),
    }.items():
        assert ours[name].value == pytest.approx(qs.comp(returns[returns.index >= start])), name


def test_drawdowns_see_what_happened_within_a_day() -> None:
    """quantstats sees closes only: it would call this day's loss of half the account nothing."""
    days = every_day(10)
    times = np.sort(np.concatenate([days, days + 3600, days + 7200]))
    values = np.tile([100.0, 50.0, 101.0], 10)
    ours = computed(times, values)
    assert qs.max_drawdown(frame(times, values)) == 0
    assert ours["max_drawdown"].value == pytest.approx(50 / 101 - 1)


def test_the_first_days_own_return_is_counted() -> None:
    """pct_change would lose what happened between the first value and the first close."""
    times = [MONDAY, MONDAY + 3600, MONDAY + DAY, MONDAY + 2 * DAY]
    found = subject(times, [100.0, 80.0, 90.0, 99.0])
    assert found.account.returns == pytest.approx([-0.2, 0.125, 0.1])
    whole = np.prod(1 + found.account.returns) - 1
    assert whole == pytest.approx(all_metrics.compute(found)["total_return"].value)
    assert len(frame(times, [100.0, 80.0, 90.0, 99.0])) == 2


def test_exposure_is_exact_where_quantstats_rounds_up() -> None:
    times, values, periods = CASES["days without a move"]
    returns, ours = frame(times, values), computed(times, values)
    exact = float((returns != 0).mean())
    assert ours["exposure_days"].value == pytest.approx(exact)
    assert qs.exposure(returns) == math.ceil(exact * 100) / 100
    yearly = qs.cagr(returns, periods=periods)
    assert ours["return_on_exposure"].value == pytest.approx(yearly / exact)


def test_return_on_exposure_uses_the_periods_that_quantstats_forgets() -> None:
    times, values, periods = CASES["a steep rise"]
    returns, ours = frame(times, values), computed(times, values)
    assert qs.rar(returns, periods=periods) == pytest.approx(qs.cagr(returns, periods=252))
    assert ours["return_on_exposure"].value == pytest.approx(qs.cagr(returns, periods=365))


def test_a_loss_has_a_negative_recovery_factor() -> None:
    """quantstats takes the sum of returns without its sign."""
    times, values, _ = CASES["a losing year, every day"]
    returns, ours = frame(times, values), computed(times, values)
    assert qs.recovery_factor(returns) > 0
    assert ours["recovery_factor"].value == pytest.approx(
        qs.comp(returns) / abs(qs.max_drawdown(returns))
    )


def test_equal_returns_have_no_sharpe_ratio() -> None:
    """quantstats divides by what floating point leaves of a deviation of zero."""
    times, values = every_day(100), 1_000.0 * 1.01 ** np.arange(100)
    assert qs.sharpe(frame(times, values)) > 1e10
    assert computed(times, values)["sharpe"].reason == "The returns do not vary."


def test_money_metrics_by_hand() -> None:
    values = [100.0, 110.0, 90.0, 120.0]
    ours = {name: one.value for name, one in computed(every_day(4), values).items()}
    assert ours["profit"] == 20
    assert (ours["best_day_money"], ours["worst_day_money"]) == (30, -20)
    assert ours["average_day_money"] == pytest.approx(20 / 3)
    assert ours["max_drawdown_money"] == -20
    assert ours["max_drawdown_start"] == MONDAY + DAY
    assert ours["max_drawdown_valley"] == MONDAY + 2 * DAY
    assert ours["max_drawdown_end"] == MONDAY + 3 * DAY
    assert (ours["max_drawdown_days"], ours["longest_drawdown_days"]) == (2, 2)
    assert ours["average_drawdown_days"] == 2


def test_profit_and_loss_is_money_and_has_no_percent() -> None:
    found = computed(every_day(5), [-10.0, 5.0, 5.0, -20.0, 30.0], is_money=True)
    values = {name: one.value for name, one in found.items()}
    assert values["profit"] == 30
    assert values["max_drawdown_money"] == -25
    assert values["win_rate_days"] == pytest.approx(2 / 3)
    assert values["profit_factor_days"] == pytest.approx(65 / 25)
    for name in ("total_return", "cagr", "sharpe", "max_drawdown", "var", "best_month"):
        assert found[name].reason == "No account value is known, only profit and loss in money."


def test_each_has_a_sentence_a_name_and_a_formula() -> None:
    for metric in all_metrics.BY_NAME.values():
        assert metric.explanation.endswith(".")
        assert metric.explanation.count(". ") == 0
        assert metric.display_name
        assert metric.formula
    assert all_metrics.BY_NAME.keys() >= all_metrics.HIGHER_IS_WORSE | all_metrics.NEITHER
