"""What is reported long after its own time is counted, whatever the bookkeeper took together."""

from typing import Any

import pytest

from tapeline.results.pnl import late_entries, planning
from tapeline.results.pnl.late_entries import Late
from tapeline.tape.lateness import late_by
from tests.results.pnl.bookkeeping import Books
from tests.results.pnl.test_profit_and_loss import MARKET, order

HOUR = 3600.0
MARK = {"symbol": "BTC-USD", "price": 5.0}
HELD = {"symbol": "BTC-USD", "size": 1.0, "average_price": 5.0}


def cash(**more: Any) -> dict[str, Any]:
    return {"type": "funding", "amount": 1.0, **more}


def counted(books: Books, late_after: float = HOUR) -> Late:
    books.keep()
    return books.store.read_now(late_entries.late, books.tape, late_after)


def test_what_arrives_as_late_as_allowed_is_not_late() -> None:
    assert [late_by(100.0, at, 300.0) for at in (400.0, 400.5)] == [None, 300.5]
    assert (late_by(None, 5.0, 0.0), late_by(5.0, None, 0.0)) == (None, None)


@pytest.mark.parametrize("portion", [1, 1000])
def test_late_prices_cash_and_positions_are_counted_by_kind(
    books: Books, monkeypatch: pytest.MonkeyPatch, portion: int
) -> None:
    monkeypatch.setattr(planning, "PORTION", portion)
    books.received_at = 10 * HOUR
    for hours in (8, 9, 10):
        at = hours * HOUR
        books.push((at, "mark-price", MARK), (at, "cash", cash()), (at, "position", HELD))
        books.push((at, MARKET, order(hours, price=5.0)), (at, "account-value", {"value": 1.0}))
    assert counted(books) == Late(prices=1, cash=1, positions=1)  # an hour is not more than one
    assert counted(books, HOUR - 1) == Late(prices=2, cash=2, positions=2)
    assert counted(books, 5 * HOUR) == Late()


@pytest.mark.parametrize("portion", [1, 1000])
def test_cash_that_is_replaced_is_a_change_and_a_retry_is_none(
    books: Books, monkeypatch: pytest.MonkeyPatch, portion: int
) -> None:
    monkeypatch.setattr(planning, "PORTION", portion)
    books.push((1, "cash", cash(id="a")), (1, "cash", cash(id="a")), (1, "cash", cash(id="b")))
    assert counted(books) == Late()
    books.push((2, "cash", cash(id="a", amount=2.0)), (3, "cash", cash(id="a", amount=3.0)))
    books.push((4, "cash", cash()), (5, "cash", cash()))
    assert counted(books) == Late(replaced_cash=2)
