"""Axes have a few round numbers and moments, whatever the values are."""

import itertools
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeline.results.charts.ticks import time_ticks, value_texts, value_ticks

DAY = 86_400.0
EXAMPLES = Path(__file__).parents[3] / "web" / "src" / "charts" / "ticks.examples.json"
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


@pytest.mark.parametrize("example", msgspec.json.decode(EXAMPLES.read_bytes()))
def test_the_ticks_of_an_axis_are_written_as_on_the_owners_pages(example: list[Any]) -> None:
    scale, ticks, texts = example
    assert value_texts(ticks, percent=scale == "percent") == texts


def test_moments_on_the_axis_are_round_ones() -> None:
    def texts(span: float, most: int = 8) -> list[str]:
        return [text for _, text in time_ticks(1_700_000_003.0, 1_700_000_003.0 + span, most)]

    assert texts(100) == ["22:13:30", "22:13:45", "22:14:00", "22:14:15", "22:14:30", "22:14:45",
                          "22:15:00"]  # fmt: skip
    assert texts(3_000)[:2] == ["22:20", "22:30"]
    assert texts(86_400, 5)[:2] == ["Nov 15 00:00", "Nov 15 06:00"]
    assert texts(2 * 365 * DAY)[:2] == ["Jan 2024", "Apr 2024"]
    assert all(len(texts(span)) <= 9 for span in (1, 59, 61, 3_601, 90_000, 9e6, 9e7, 9e8, 9e9))
