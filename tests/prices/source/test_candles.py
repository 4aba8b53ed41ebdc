"""Candles of an exchange pass the same checks as bars of models; wrong ones become a gap."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeline.errors import Problem
from tapeline.prices.source.candles import checked, fault_of
from tapeline.prices.source.messages import Row
from tapeline.tape.events import price_bodies

NOW = 1_800_000_000.0
PRICE = st.sampled_from([1.0, 2.0, 3.0, 1e31, math.nan, math.inf, None])


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ([1e12, 1, None, 1, 1, 1], "not a number"),
        ([1e12, 1, math.nan, 1, 1, 1], "not a number"),
        ([1e12, 1, True, 1, 1, 1], "not a number"),
        ([1e12, 1], "not a number"),
        ([1e12, 1, 3, 2, 3, 1], "low is above"),
        ([1e12, 5, 4, 1, 3, 1], "high is below"),
        ([1e12, 1, 1, 0, 1, 1], "above zero"),
        ([NOW * 1000 + 120_000, 1, 1, 1, 1, 1], "future"),
        ([-1, 1, 1, 1, 1, 1], "1970"),
    ],
)
def test_a_wrong_candle_is_left_out_and_said(row: Any, why: str) -> None:
    good: Row = [1e12 + 60_000, 1, 2, 1, 2, 7]
    found = checked([row, good], NOW)
    assert found.bars == [(1e9 + 60, 1, 2, 1, 2, 7)]
    assert found.sentence().startswith("1 of 2 candles were left out")
    assert why in found.sentence()


def test_order_and_repeats_do_not_matter_and_the_last_counts() -> None:
    rows: list[Row] = [
        [2e12 / 2 + 60_000, 1, 1, 1, 1, None],
        [1e12, 1, 1, 1, 1, -5],
        [1e12, 2, 2, 2, 2, 3],
    ]
    bars = checked(rows, NOW).bars
    assert [bar[:5] for bar in bars] == [(1e9, 2, 2, 2, 2), (1e9 + 60, 1, 1, 1, 1)]
    assert bars[0][5] == 3
    assert math.isnan(bars[1][5])


@given(st.tuples(PRICE, PRICE, PRICE, PRICE))
def test_what_is_refused_of_a_model_is_refused_of_an_exchange(prices: Any) -> None:
    body = dict(zip(price_bodies.PRICES, prices, strict=True), symbol="A", interval="1m")
    try:
        price_bodies.bar(body, False)
        is_good = True
    except Problem:
        is_good = False
    assert (fault_of([1e12, *prices, 1], NOW) is None) == is_good
