"""Shared pages write numbers as the owner's pages do."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tapeline.sharing.pages import numbers

EXAMPLES = Path(__file__).parents[3] / "web" / "src" / "format" / "numbers.examples.json"
WRITERS: dict[str, Any] = {
    "quantity": lambda value, _: numbers.quantity(value),
    "price": lambda value, _: numbers.price(value),
    "money": numbers.money,
    "gain": numbers.gain,
}


@pytest.mark.parametrize("example", msgspec.json.decode(EXAMPLES.read_bytes()))
def test_numbers_are_written_as_on_the_owners_pages(example: list[Any]) -> None:
    kind, value, currency, text = example
    assert WRITERS[kind](value, currency) == text


def test_a_number_of_any_size_is_written_without_an_exponent() -> None:
    for value in (5e-324, 1.7976931348623157e308, -1e22, 1e-7):
        for write in WRITERS.values():
            assert "e" not in write(value, None)
