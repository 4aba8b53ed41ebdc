"""Series that nobody should send: nulls with a reason, never a wrong number, never an exception."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapeline.results.backtests.report import make
from tapeline.results.metrics import all_metrics, calendar_returns, drawdowns
from tapeline.results.metrics.account import Account, ordered
from tests.examples import some
from tests.results.metrics.series import DAY, MONDAY, computed, every_day, subject, walk, weekdays

NAN = float("nan")


def reasons(times: Any, values: Any) -> dict[str, str]:
    found = computed(times, values)
    assert set(found) == set(all_metrics.BY_NAME)
    for name, one in found.items():
        assert (one.value is None) == (one.reason is not None), name
        assert one.value is None or math.isfinite(one.value), name
    return {name: one.reason for name, one in found.items() if one.reason is not None}


def test_nothing_has_no_metric() -> None:
    found = reasons([], [])
    assert len(found) == len(all_metrics.BY_NAME)
    assert found["sharpe"] == "There is no account value."


def test_one_value_says_nothing_about_returns() -> None:
    found = reasons([MONDAY], [100.0])
    for name in ("total_return", "max_drawdown", "sharpe", "profit", "cagr", "volatility"):
        assert found[name] == "There is only one account value.", name


def test_nulls_are_left_out_and_only_nulls_have_a_reason() -> None:
    assert reasons(every_day(3), [NAN, NAN, NAN])["profit"] == "Every account value is null."
    values = walk(200)
    holed = np.insert(values, [50, 100], NAN)
    times = every_day(200)
    # At moments of their own, so that leaving them out leaves the same series.
    times_with_holes = np.insert(times, [50, 100], [times[49] + 60, times[99] + 60])
    assert computed(times_with_holes, holed) == computed(times, values)


def test_a_flat_account_returned_nothing_and_has_no_ratios() -> None:
    found = computed(every_day(50), np.full(50, 100.0))
    for name in ("total_return", "cagr", "volatility", "max_drawdown", "profit", "exposure_days"):
        assert found[name].value == 0, name
    for name in ("sharpe", "sortino", "calmar", "omega", "kelly", "var", "skew", "win_rate_days"):
        assert found[name].value is None, name
        assert found[name].reason


def test_what_leaves_the_doubles_is_null_in_lists_and_has_a_reason_among_metrics() -> None:
    account = Account(ordered(every_day(4), [1e-300, 1e300, 1e300, -1e300]), is_live=True)
    fallen = Account(ordered(every_day(3), [1e-300, -1e300, 1e-300]))
    with np.errstate(all="ignore"):
        (month,) = calendar_returns.by_month(
            Account(ordered(every_day(2), [1e-300, 1e300]), is_live=True)
        ).shown
        assert month.value is None
        assert len(drawdowns.deepest(account, drawdowns.find(account))) == 1
        assert drawdowns.deepest(fallen, drawdowns.find(fallen)) == []
    found = computed(every_day(3), [1e-300, -1e300, 1e-300])
    assert found["max_drawdown_start"].reason == "It is not a finite number."


def test_only_gains_have_no_ratio_to_losses() -> None:
    values = 100.0 * np.cumprod(1 + np.linspace(0.001, 0.01, 60))
    found = computed(every_day(60), values)
    assert found["max_drawdown"].value == 0
    assert found["sharpe"].value is not None
    for name in ("sortino", "profit_factor_days", "payoff_days", "kelly", "omega"):
        assert found[name].reason == "There was no loss to compare with.", name
    assert found["calmar"].reason == "There was no drawdown."


def test_an_account_that_is_worth_nothing_or_less_has_no_returns() -> None:
    for worst in (0.0, -50.0):
        found = computed(every_day(5), [100.0, 50.0, worst, 20.0, 30.0])
        assert found["total_return"].value == pytest.approx(-0.7)
        assert "fell to zero" in (found["sharpe"].reason or "")
        assert found["max_drawdown"].value == pytest.approx(worst / 100 - 1)
    from_debt = computed(every_day(3), [-100.0, 50.0, 60.0])
    for name in ("total_return", "max_drawdown", "cagr"):
        assert from_debt[name].value is None
    ruined = computed(every_day(3), [100.0, 50.0, 0.0])
    assert ruined["total_return"].value == -1


def test_order_does_not_matter_and_the_later_of_two_counts() -> None:
    times, values = weekdays(300), walk(300)
    order = np.random.default_rng(2).permutation(300)
    assert computed(times[order], values[order]) == computed(times, values)
    doubled_times = np.append(times, times[10:20])
    doubled = np.append(np.where((np.arange(300) >= 10) & (np.arange(300) < 20), 1.0, values),
                        values[10:20])  # fmt: skip
    assert computed(doubled_times, doubled) == computed(times, values)
    notes = ordered(doubled_times, doubled).notes
    assert (notes.sent, notes.duplicates, notes.unsorted) == (310, 10, True)


def test_values_with_gaps_are_not_annualised() -> None:
    times = np.append(every_day(30), every_day(30, MONDAY + 300 * DAY))
    found = computed(times, walk(60))
    assert (found["cagr"].reason or "").startswith("There are gaps")
    assert found["total_return"].value is not None
    holidays = np.delete(weekdays(260), [5, 80, 81, 150, 200])
    assert computed(holidays, walk(255))["cagr"].value is not None


def test_uneven_values_are_not_annualised() -> None:
    times = MONDAY + DAY * np.arange(0, 400, 3)
    found = computed(times, walk(len(times)))
    for name in ("cagr", "sharpe", "sortino", "volatility", "calmar"):
        assert "neither daily" in (found[name].reason or "")
    assert found["var"].value is not None


def test_one_day_of_minutes_has_one_return() -> None:
    times = MONDAY + 60.0 * np.arange(600)
    found = computed(times, walk(600))
    assert found["total_return"].value is not None
    assert found["max_drawdown"].value is not None
    assert found["sharpe"].reason == "It takes at least two daily returns."


def test_times_in_milliseconds_are_told_apart() -> None:
    found = reasons(every_day(5) * 1e3, walk(5))
    assert found["profit"] == "No time is within the years 1 to 9999; times are epoch seconds."
    assert ordered([1e300, MONDAY], [1.0, 2.0]).notes.impossible == 1


def test_weekends_decide_how_many_periods_a_year_has() -> None:
    assert subject(every_day(30), walk(30)).account.periods_per_year == 365
    assert subject(weekdays(30), walk(30)).account.periods_per_year == 252
    futures = every_day(60)
    futures = futures[(futures // DAY).astype(int) % 7 != 2]  # Sunday evenings, no Saturdays
    assert subject(futures, walk(len(futures))).account.periods_per_year == 302


NUMBERS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0.0, -0.0, 1e308, -1e308, 5e-324, NAN, 100.0]),
)


@settings(max_examples=some(150), deadline=None)
@given(points=st.lists(st.tuples(NUMBERS, NUMBERS), max_size=30), scale=st.booleans())
def test_anything_at_all_gives_numbers_or_reasons(
    points: list[tuple[float, float]], scale: bool
) -> None:
    times = [
        time if not scale or not math.isfinite(time) else MONDAY + math.fmod(time, 100) * DAY
        for time, _ in points
    ]
    values = [value for _, value in points]
    reasons(times, values)
    content = np.array(times, dtype="<f8").tobytes() + np.array(values, dtype="<f8").tobytes()
    pieces = {"equity": [content] if points else [], "trades": []}
    report, rows = make(lambda name: pieces.get(name, []), {})
    assert report.basis.notes.sent == len(points)
    assert list(rows)
