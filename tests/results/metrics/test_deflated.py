"""The deflated Sharpe ratio beside an implementation of its own, and the paper's example."""

import math

import numpy as np
import pytest
from scipy import stats

from tapeline.results.metrics.deflated import Trial, deflate, expected_best, probabilistic


def trial(sharpe: float, returns: int = 1250, skew: float = -3.0, kurtosis: float = 10.0) -> Trial:
    return Trial(sharpe=sharpe, periods_per_year=250, returns=returns, skew=skew, kurtosis=kurtosis)


def independent(sharpe: float, n: int, skew: float, kurtosis: float, ratios: list[float]) -> float:
    """Written from the paper with scipy, sharing nothing with ours."""
    count, spread = len(ratios), float(np.std(ratios, ddof=1))
    luck = spread * (
        (1 - np.euler_gamma) * stats.norm.ppf(1 - 1 / count)
        + np.euler_gamma * stats.norm.ppf(1 - np.exp(-1) / count)
    )
    variance = (1 - skew * sharpe + (kurtosis - 1) / 4 * sharpe**2) / (n - 1)
    return float(stats.norm.cdf((sharpe - luck) / np.sqrt(variance)))


def test_the_example_of_the_paper() -> None:
    """Annualised 2.5 over five years of days, 100 trials with a variance of 1/2, in the paper's
    section "A numerical example": about 0.9004."""
    luck = expected_best(100, 0.5 / 250)
    assert luck == pytest.approx(0.1132, abs=5e-5)
    found = probabilistic(2.5 / math.sqrt(250), luck, 1250, -3.0, 10.0)
    assert found == pytest.approx(0.9004, abs=5e-4)


def test_it_equals_an_independent_implementation() -> None:
    draws = np.random.default_rng(3)
    for count in (2, 5, 40, 500):
        ratios = draws.normal(0.02, 0.05, count).tolist()
        mine = trial(ratios[0], returns=700, skew=0.4, kurtosis=5.5)
        found = deflate(mine, [(ratio, 250) for ratio in ratios], count)
        assert found.deflated_sharpe == pytest.approx(
            independent(ratios[0], 700, 0.4, 5.5, ratios), rel=1e-9
        )
        assert found.sharpe == pytest.approx(ratios[0] * math.sqrt(250))
        assert found.count == count


def test_one_backtest_is_deflated_by_nothing() -> None:
    one = trial(0.1, skew=0.0, kurtosis=3.0)
    found = deflate(one, [(0.1, 250)], 1)
    assert (found.expected_best, found.count) == (0, 1)
    assert found.deflated_sharpe == pytest.approx(probabilistic(0.1, 0.0, 1250, 0.0, 3.0))


def test_the_more_was_tried_the_less_is_left() -> None:
    others = [(0.08, 250), (0.02, 250), (-0.05, 250)]
    left = [deflate(trial(0.08), others, count).deflated_sharpe for count in (3, 30, 3_000)]
    assert all(one is not None for one in left)
    assert left == sorted(left, key=lambda one: -(one or 0))


def test_ratios_of_other_periods_are_brought_to_one() -> None:
    weekly = 0.1 * math.sqrt(250 / 52)
    same = deflate(trial(0.1), [(0.1, 250), (0.05, 250)], 2)
    mixed = deflate(trial(0.1), [(0.1, 250), (weekly / 2, 52)], 2)
    assert mixed.deflated_sharpe == pytest.approx(same.deflated_sharpe)


def test_without_a_ratio_there_is_a_reason_and_the_count() -> None:
    found = deflate(None, [(0.1, 250)], 7)
    assert (found.count, found.deflated_sharpe) == (7, None)
    assert found.reason
    assert deflate(trial(2.0, skew=9.0, kurtosis=1.0), [], 1).deflated_sharpe is None
