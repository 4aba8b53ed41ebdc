"""Shared pages and commands write numbers as the owner's pages do."""

import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tapeline import figures

EXAMPLES = Path(__file__).parents[1] / "web" / "src" / "format" / "numbers.examples.json"
WRITERS: dict[str, Any] = {
    "quantity": lambda value, _: figures.quantity(value),
    "price": lambda value, _: figures.price(value),
    "ratio": lambda value, _: figures.ratio(value),
    "percent": lambda value, _: figures.percent(value),
    "days": lambda value, _: figures.days(value),
    "money": figures.money,
    "gain": figures.gain,
    "amount": figures.amount,
    "signedAmount": figures.signed_amount,
    "hundredths": lambda value, _: figures.hundredths(value),
}


@pytest.mark.parametrize("example", msgspec.json.decode(EXAMPLES.read_bytes()))
def test_numbers_are_written_as_on_the_owners_pages(example: list[Any]) -> None:
    kind, value, currency, text = example
    assert WRITERS[kind](value, currency) == text


def test_a_number_that_somebody_reads_is_written_without_an_exponent() -> None:
    for value in (5e-324, -1e18, 9.99e21, 1e-7):
        for write in WRITERS.values():
            assert "e" not in write(value, None)


def test_an_absurd_number_is_written_in_short() -> None:
    assert figures.money(1.2e305, "USD") == "1.2e305\N{NO-BREAK SPACE}USD"
    assert figures.gain(-1e24, None) == f"{figures.MINUS}1e24"
    assert figures.signed_amount(1.234e24, "EUR") == "+1.23e24"
    assert figures.percent(1.7976931348623157e308) == "1.8e310 %"


def test_what_is_no_finite_number_can_be_written_too() -> None:
    for write in WRITERS.values():
        assert figures.ENDLESS in write(math.inf, "USD")
        assert write(-math.inf, None).startswith((figures.MINUS, figures.ENDLESS))
        assert figures.NOTHING in write(math.nan, "BTC")
    assert figures.gain(math.inf, None) == f"+{figures.ENDLESS}"
    assert figures.tone(figures.gain(-math.inf, None)) == "loss"
    assert figures.tone(figures.gain(math.nan, None)) == ""


def test_a_loss_that_is_written_as_nothing_is_not_a_loss() -> None:
    for nothing in ("-0.00", "0.00 %", "−0.00 1INCH", "", "–"):  # noqa: RUF001
        assert figures.tone(nothing) == ""
    assert figures.tone("-0.01") == figures.tone("−1.00 USD") == "loss"  # noqa: RUF001
    assert figures.tone("0.01") == figures.tone("+1.00") == "gain"
    assert figures.without_sign_of_nothing("-0.00%") == "0.00%"
    assert figures.without_sign_of_nothing("-0.01%") == "-0.01%"
