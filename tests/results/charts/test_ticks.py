"""Axes have a few round numbers and moments, whatever the values are."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tapeline.results.charts.ticks import time_ticks, value_text, value_ticks

DAY = 86_400.0
VALUES = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@given(VALUES, VALUES)
def test_ticks_rise_and_enclose_the_values(one: float, other: float) -> None:
    low, high = sorted((one, other))
    ticks = value_ticks(low, high)
    tolerance = 1e-8 * (ticks[-1] - ticks[0])
    assert 3 <= len(ticks) <= 7
    assert all(before < after for before, after in itertools.pairwise(ticks))
    assert ticks[0] <= low + tolerance
    assert ticks[-1] >= high - tolerance


def test_a_tick_has_just_enough_digits() -> None:
    assert value_text(0.05, 0.025, percent=True) == "5.0%"
    assert value_text(1_250_000.0, 50_000.0, percent=False) == "1,250k"
    assert value_text(-0.0, 0.5, percent=False) == "0.0"


def test_moments_on_the_axis_are_round_ones() -> None:
    def texts(span: float, most: int = 8) -> list[str]:
        return [text for _, text in time_ticks(1_700_000_003.0, 1_700_000_003.0 + span, most)]

    assert texts(100) == ["22:13:30", "22:13:45", "22:14:00", "22:14:15", "22:14:30", "22:14:45",
                          "22:15:00"]  # fmt: skip
    assert texts(3_000)[:2] == ["22:20", "22:30"]
    assert texts(86_400, 5)[:2] == ["Nov 15 00:00", "Nov 15 06:00"]
    assert texts(2 * 365 * DAY)[:2] == ["Jan 2024", "Apr 2024"]
    assert all(len(texts(span)) <= 9 for span in (1, 59, 61, 3_601, 90_000, 9e6, 9e7, 9e8, 9e9))
