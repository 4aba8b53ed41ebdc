"""Numbers and times as clients write them, at the edges of what is read."""

from decimal import Decimal
from typing import Any

import pytest

from tapeline.results.rules import words


@pytest.mark.parametrize(
    ("value", "number", "amount", "positive"),
    [
        (0.1, "0.1", "0.1", "0.1"),
        (2, "2", "2", "2"),
        (0, "0", "0", None),
        (-0.5, "-0.5", None, None),
        (True, None, None, None),
        ("1", None, None, None),
        (float("nan"), None, None, None),
        (float("-inf"), None, None, None),
        pytest.param(10**308, None, None, None, id="too large"),
        pytest.param(-(10**308), None, None, None, id="too small"),
        (None, None, None, None),
    ],
)
def test_a_number_is_read_as_it_was_written(
    value: Any, number: str | None, amount: str | None, positive: str | None
) -> None:
    found = (words.decimal(value), words.amount(value), words.positive(value))
    assert found == tuple(one and Decimal(one) for one in (number, amount, positive))


def test_a_large_integer_that_a_double_can_hold_is_read() -> None:
    assert words.decimal(10**308 - 1) == 10**308 - 1


@pytest.mark.parametrize(
    "value",
    [0, -1, 0.0, True, None, [], "", "soon", pytest.param(10**5000, id="thousands of digits")],
)
def test_a_time_that_cannot_be_was_not_said(value: Any) -> None:
    assert words.moment(value) is None
