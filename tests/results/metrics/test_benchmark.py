"""Metrics against a benchmark equal quantstats' on the same returns, and documented examples."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapeline.results.metrics.account import Account, ordered
from tapeline.results.metrics.benchmark import Benchmark
from tapeline.results.metrics.of_benchmark import BENCHMARK, compute
from tapeline.results.metrics.report_fields import Measured
from tests.examples import some
from tests.results.metrics.series import DAY, MONDAY, every_day, frame, qs, walk, weekdays

METRICS = Path(__file__).parents[3] / "docs" / "metrics.md"

Returns = Any
SAME: dict[str, Callable[[Returns, Returns, int], float]] = {
    "benchmark_return": lambda _, b, __: qs.comp(b),
    "excess_return": lambda r, b, _: qs.comp(r) - qs.comp(b),
    "alpha": lambda r, b, n: qs.greeks(r, b, periods=n)["alpha"],
    "beta": lambda r, b, n: qs.greeks(r, b, periods=n)["beta"],
    "correlation": lambda r, b, _: r.corr(b),  # as its reports have it
    "r_squared": lambda r, b, _: qs.r_squared(r, b),
    "tracking_error": lambda r, b, n: qs.volatility(r - b, periods=n),
    "information_ratio": lambda r, b, _: qs.information_ratio(r, b),
    "up_capture": lambda r, b, _: qs.geometric_mean(r[b > 0]) / qs.geometric_mean(b[b > 0]),
    "down_capture": lambda r, b, _: qs.geometric_mean(r[b < 0]) / qs.geometric_mean(b[b < 0]),
}
REASONS = {
    "The returns do not vary.",
    "The benchmark never rose in this time.",
    "The benchmark never fell in this time.",
}


def against(times: Any, values: Any, at: Any, prices: Any) -> dict[str, Measured]:
    days = np.floor_divide(np.asarray(at), DAY).astype("i8")
    account = Account(ordered(times, values))
    return compute(Benchmark(account, days, np.asarray(prices, dtype=float)))


def test_each_is_judged_by_quantstats() -> None:
    assert {metric.name for metric in BENCHMARK} == set(SAME)


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize(("days", "periods"), [(weekdays, 252), (every_day, 365)])
def test_it_equals_quantstats(name: str, days: Callable[[int], Any], periods: int) -> None:
    times, values, prices = days(400), walk(400), walk(400, seed=2, spread=0.02)
    prices = 0.5 * (prices + values)  # of accounts that have something in common
    theirs = SAME[name](frame(times, values), frame(times, prices), periods)
    assert against(times, values, times, prices)[name].value == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize("seed", range(some(16)))
@pytest.mark.filterwarnings("ignore")  # quantstats and numpy speak of what we answer with a reason
def test_it_equals_quantstats_whatever_the_returns(seed: int) -> None:
    """Short series with steps of zero and equal steps: where doubt is most likely."""
    random = np.random.default_rng(seed)
    moves = 1 + random.integers(-3, 4, (2, random.integers(3, 12))) / 100
    values, prices = 1000 * np.cumprod(moves[0]), 50 * np.cumprod(moves[1])
    times = every_day(len(values))
    ours = against(times, values, times, prices)
    for name, judge in SAME.items():
        value = ours[name].value
        if value is None:  # returns without any spread, or no day in this direction
            assert ours[name].reason in REASONS, ours[name]
            continue
        theirs = float(judge(frame(times, values), frame(times, prices), 365))
        assert value == pytest.approx(theirs, rel=1e-6, abs=1e-9), name


def test_days_that_one_side_lacks_are_bridged_on_both_sides() -> None:
    times, values, prices = every_day(60), walk(60), walk(60, seed=8)
    mine, theirs = np.delete(np.arange(60), [7, 30]), np.delete(np.arange(60), [20, 21, 30])
    both = np.intersect1d(mine, theirs)
    gaps = against(times[mine], values[mine], times[theirs], prices[theirs])
    alone = against(times[both], values[both], times[both], prices[both])
    assert gaps == alone
    # Aligned as calendars are, a return of two days would stand beside one of a single day.
    naive = frame(times[mine], values[mine]), frame(times[theirs], prices[theirs])
    assert gaps["beta"].value != pytest.approx(qs.greeks(*naive)["beta"], rel=1e-3)


def test_what_is_missing_is_said() -> None:
    times = every_day(10)
    flat = against(times, walk(10), times, np.full(10, 5.0))
    assert {flat[one].reason for one in ("alpha", "beta", "correlation")} == {
        "The returns do not vary."
    }
    assert flat["up_capture"].reason == "The benchmark never rose in this time."
    assert flat["down_capture"].reason == "The benchmark never fell in this time."
    apart = against(times, walk(10), times + 9 * DAY, walk(10))
    assert {one.reason for one in apart.values()} == {
        "It takes three days with both an account value and a price; there are 1."
    }
    ruined = against(times, [100.0, -5, *range(8)], times, walk(10))
    assert "zero or below" in str(ruined["beta"].reason)
    money = Benchmark(Account(ordered(times, walk(10)), is_money=True), times.astype("i8"), times)
    assert "No account value is known" in str(compute(money)["alpha"].reason)


def test_the_documented_example_is_right() -> None:
    times = MONDAY + DAY * np.arange(4.0)
    found = against(times, [100, 110, 99, 108.9], times, [50, 52, 50.96, 52.9984])
    _, _, example = METRICS.read_text().partition("<!-- worked example: benchmark -->")
    rows = re.findall(r"\| `(\w+)` \| ([-\d.]+) \|", example.partition("<!-- end of")[0])
    assert len(rows) == 7
    for name, value in rows:
        assert found[name].value == pytest.approx(float(value), abs=5e-7), name
