"""What is dated into the future is listed, and hides no change of what it counts for until then."""

from typing import Any

from tapeline.results.changes.change import Change
from tests.results.changes.both_ways import from_both
from tests.results.pnl.bookkeeping import Books

HOUR = 3_600.0
DAY = 24 * HOUR
LATE = 300.0


def push(books: Books, at: float, kind: str, time: float | None = None, **body: Any) -> None:
    books.received_at = at
    books.push((at if time is None else time, kind, body))


def order(books: Books, at: float, name: str, side: str, **more: Any) -> None:
    said = {"id": name, "symbol": "A-USD", "exchange": "x", "side": side, "size": 1}
    push(books, at, "spot-market", **{**said, **more})


def look(books: Books) -> tuple[list[Change], float, float]:
    changes, figures = from_both(books, LATE)
    return changes, figures.first.by_currency["USD"], figures.now.by_currency["USD"]


def sorts(changes: list[Change]) -> list[tuple[str, str]]:
    return [(one.about, one.sort) for one in changes]


def test_a_price_of_the_future_does_not_hide_those_until_then(books: Books) -> None:
    order(books, 0.0, "in", "buy", executionPrice=100)
    push(books, HOUR, "mark-price", DAY, symbol="A-USD", price=190)
    push(books, 2 * HOUR, "mark-price", symbol="A-USD", price=60)
    changes, first, now = look(books)
    assert sorts(changes) == [("price", "early")]
    assert (changes[0].time, changes[0].late_by) == (DAY, 0)
    assert (first, now) == (-40, 90)


def test_a_tiny_fill_of_the_future_is_no_price_until_then(books: Books) -> None:
    order(books, 0.0, "in", "buy", executionPrice=100)
    push(books, HOUR, "mark-price", symbol="A-USD", price=60)
    order(books, HOUR, "tiny", "buy", size=1e-9, executionPrice=190, executionTime=DAY)
    push(books, 2 * HOUR, "mark-price", symbol="A-USD", price=60)
    changes, first, now = look(books)
    assert sorts(changes) == [("order", "early")]
    assert (round(first), round(now)) == (-40, 90)


def test_a_position_of_the_future_that_another_replaces_before_it_is_due(books: Books) -> None:
    push(books, 0.0, "position", DAY, symbol="A-USD", size=1, average_price=100)
    push(books, 10.0, "mark-price", symbol="A-USD", price=60)
    push(books, HOUR, "position", symbol="A-USD", size=1, average_price=10)
    changes, first, now = look(books)
    assert sorts(changes) == [("position", "early")]
    assert (first, now) == (-40, 50)


def test_the_rate_of_a_fee_cannot_be_changed_before_it_is_due(books: Books) -> None:
    push(books, 0.0, "mark-price", symbol="BNB-USD", price=40)
    order(books, 0.0, "in", "buy", executionPrice=100)
    later = {"executionPrice": 100, "executionTime": DAY, "fee": 1, "fee_currency": "BNB"}
    order(books, 1.0, "out", "sell", **later)
    push(books, HOUR, "mark-price", symbol="BNB-USD", price=0.0001)
    changes, first, now = look(books)
    assert sorts(changes) == [("order", "early")]
    assert (first, round(now)) == (-40, 0)


def test_an_order_without_a_price_takes_that_of_its_arrival_and_no_later_one(books: Books) -> None:
    push(books, 0.0, "mark-price", symbol="A-USD", price=100)
    order(books, 0.0, "in", "buy", executionTime=DAY)
    push(books, HOUR, "mark-price", symbol="A-USD", price=10)
    push(books, 2 * HOUR, "mark-price", symbol="A-USD", price=60)
    changes, first, now = look(books)
    assert sorts(changes) == [("order", "early")]
    assert (first, now) == (-40, 0)


def test_cash_of_the_future_is_listed(books: Books) -> None:
    push(books, 0.0, "cash", DAY, type="funding", amount=5)
    push(books, 0.0, "cash", DAY, type="funding", amount=6, id="c")
    changes, first, now = look(books)
    assert sorts(changes) == [("cash", "early"), ("cash", "early")]
    assert (first, now) == (11, 11)


def test_a_fill_of_the_future_that_is_changed_before_it_is_due_is_a_change(books: Books) -> None:
    order(books, 0.0, "in", "buy", executionPrice=100)
    order(books, 1.0, "out", "sell", executionPrice=60, executionTime=DAY)
    push(books, HOUR, "update-trade", id="out", executionPrice=190)
    changes, first, now = look(books)
    assert sorts(changes) == [("order", "early"), ("order", "changed")]
    assert (first, now) == (-40, 90)


def test_a_clock_that_is_a_little_fast_is_no_change(books: Books) -> None:
    order(books, 0.0, "in", "buy", executionPrice=100, executionTime=LATE)
    push(books, 0.0, "mark-price", LATE - 1, symbol="A-USD", price=90)
    changes, first, now = look(books)
    assert (changes, first) == ([], now)
