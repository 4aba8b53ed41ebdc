"""The distribution of results: nothing is lost, and gains and losses stay apart."""

import random
from itertools import pairwise

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as some

from tapeline.results.performance.distribution import distribution


def test_results_are_counted_in_round_ranges() -> None:
    found = distribution(np.array([-3.0, -1.0, 0.0, 4.0, 4.0]))
    assert {round(one.high - one.low, 9) for one in found} == {0.5}
    counted = [(one.low, one.round_trips) for one in found if one.round_trips]
    assert counted == [(-3.0, 1), (-1.0, 1), (0.0, 1), (4.0, 2)]


def test_one_huge_result_does_not_flatten_the_others() -> None:
    chance = random.Random(1)
    found = distribution(np.array([chance.gauss(0, 10) for _ in range(500)] + [1e9]))
    assert sum(one.round_trips > 0 for one in found) >= 8
    assert found[-1].high == 1e9


@given(
    some.lists(
        some.one_of(some.floats(-1e12, 1e12), some.floats(allow_nan=False, allow_infinity=False)),
        max_size=60,
    )
)
@example([0.5 + place * 1e-8 for place in range(300)] + [-1.0])
@example([-0.5 - place * 1e-8 for place in range(300)] + [1.0])
@example([1.7e308, -1.7e308])
@example([-1e-290, 1.7e308])
@example([1e12, 1e12 - 2e-4])
@example([-1e12, -1e12 + 2e-4])
@example([-5e-324, 2.0])
@example([1e12] * 30 + [1e12 - 2e-4] * 30)
def test_every_result_is_counted_once_and_no_range_mixes_signs(profits: list[float]) -> None:
    found = distribution(np.array(profits))
    assert sum(one.round_trips for one in found) == len(profits)
    assert len(found) <= 25
    for one in found:
        assert one.low < one.high
        assert one.high <= 0 or one.low >= 0
    for one, after in pairwise(found):
        assert one.high == after.low


@given(
    some.floats(-1e15, 1e15), some.floats(0, 1e-6), some.integers(100, 400), some.floats(-1e9, 1e9)
)
def test_many_like_results_and_one_on_the_other_side_of_zero_stay_a_few_ranges(
    about: float, spread: float, count: int, one: float
) -> None:
    profits = [about * (1 + spread * place / count) for place in range(count)] + [one]
    found = distribution(np.array(profits))
    assert sum(one.round_trips for one in found) == len(profits)
    assert len(found) <= 25


def test_results_without_bounds_are_left_out() -> None:
    found = distribution(np.array([1.0, np.nan, np.inf, -np.inf, 2.0]))
    assert sum(one.round_trips for one in found) == 2
    assert distribution(np.array([np.nan])) == []
