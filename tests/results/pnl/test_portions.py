"""Partial fills: what is filled is a running total, and each rise of it is a fill."""

from typing import Any

import pytest

from tests.results.pnl.bookkeeping import Books
from tests.results.pnl.test_profit_and_loss import LIMIT, MARKET, UPDATE, order


def portions(books: Books, name: str = "1") -> list[tuple[float, float, float | None, float]]:
    fill = books.orders()[name]["fill"]
    return [(one.time, one.size, one.price, one.fee) for one in fill.portions]


def test_each_rise_is_a_fill_at_its_own_time_and_price(books: Books) -> None:
    books.push((1, LIMIT, order(1, size=10.0, price=100.0)))
    books.push((2, UPDATE, {"id": "1", "filled_size": 4, "filled_avg_price": 99.0, "fee": 0.4}))
    books.push((5, UPDATE, {"id": "1", "filled_size": 10, "filled_avg_price": 99.6, "fee": 1.0}))
    assert portions(books) == [(2, 4, 99, 0.4), (5, 6, 100, 0.6)]
    fill = books.orders()["1"]["fill"]
    assert (fill.size, fill.price, fill.time, fill.fee) == (10, 99.6, 5, 1)
    assert books.pnl().counts.fills == 2
    assert [(one.time, one.value) for one in books.pnl().series] == [(2, -0.4), (5, 3)]


def test_the_order_of_arrival_does_not_matter(books: Books) -> None:
    books.push((5, UPDATE, {"id": "1", "filled_size": 10, "filled_avg_price": 99.6}))
    books.keep()
    books.push((1, LIMIT, order(1, size=10.0, price=100.0)))
    books.keep()
    books.push((2, UPDATE, {"id": "1", "filled_size": 4, "filled_avg_price": 99.0}))
    assert portions(books) == [(2, 4, 99, 0), (5, 6, 100, 0)]


@pytest.mark.parametrize("status", ["canceled", "rejected", "expired"])
def test_what_was_filled_before_a_cancel_stays(books: Books, status: str) -> None:
    books.push((1, LIMIT, order(1, size=10.0, price=100.0)))
    books.push(
        (2, UPDATE, {"id": "1", "filled_size": 3}), (3, UPDATE, {"id": "1", "status": status})
    )
    (held,) = books.pnl().positions
    assert (held.size, held.average_price) == (3, 100)


def test_an_execution_price_is_that_of_its_portion_alone(books: Books) -> None:
    books.push((1, MARKET, order(1, size=3.0)))
    books.push((2, UPDATE, {"id": "1", "filled_size": 1, "executionPrice": 10.0}))
    books.push((3, UPDATE, {"id": "1", "filled_size": 3, "executionPrice": 13.0}))
    assert portions(books) == [(2, 1, 10, 0), (3, 2, 13, 0)]
    assert books.pnl().positions[0].average_price == 12


def test_a_time_that_an_update_names_is_the_time_of_its_portion(books: Books) -> None:
    books.push((1, MARKET, order(1, size=3.0, price=10.0)))
    books.push((20, UPDATE, {"id": "1", "filled_size": 1, "executionTime": 5}))
    books.push((30, UPDATE, {"id": "1", "filled_size": 3, "executionTime": 5}))
    assert [one[:2] for one in portions(books)] == [(5, 1), (5, 2)]


def test_what_is_told_alone_is_about_the_portion_before_it(books: Books) -> None:
    books.push((1, MARKET, order(1, size=3.0)), (2, UPDATE, {"id": "1", "filled_size": 1}))
    books.push((3, UPDATE, {"id": "1", "executionPrice": 10.0, "fee": 1.0}))
    books.push((4, UPDATE, {"id": "1", "filled_size": 3, "executionPrice": 11.0}))
    books.push((5, UPDATE, {"id": "1", "fee": 1.5, "executionTime": 4.5}))
    assert portions(books) == [(2, 1, 10, 1), (4.5, 2, 11, 0.5)]


def test_a_total_that_falls_is_a_correction(books: Books) -> None:
    books.push((1, MARKET, order(1, size=5.0, price=10.0)))
    books.push(
        (2, UPDATE, {"id": "1", "filled_size": 2}), (3, UPDATE, {"id": "1", "filled_size": 5})
    )
    books.push((4, UPDATE, {"id": "1", "filled_size": 3}))
    assert [one[:2] for one in portions(books)] == [(2, 2), (3, 1)]
    books.push((5, UPDATE, {"id": "1", "filled_size": 0}))
    assert books.orders()["1"]["fill"] is None


def test_the_fee_of_a_portion_that_was_none_stays_with_the_order(books: Books) -> None:
    books.push((1, MARKET, order(1, size=5.0, price=10.0)))
    books.push((2, UPDATE, {"id": "1", "filled_size": 2, "fee": 1.0}))
    books.push((3, UPDATE, {"id": "1", "filled_size": 3, "fee": 1.5}))
    books.push((4, UPDATE, {"id": "1", "filled_size": 5}), (5, UPDATE, {"id": "1", "fee": 3.0}))
    books.push((6, UPDATE, {"id": "1", "filled_size": 3}))
    assert portions(books) == [(2, 2, 10, 1), (3, 1, 10, 2)]


def test_a_portion_without_a_price_has_the_one_that_was_said_last(books: Books) -> None:
    books.push((1, MARKET, order(1, size=3.0)))
    books.push((2, UPDATE, {"id": "1", "filled_size": 1, "executionPrice": 10.0}))
    books.push((3, UPDATE, {"id": "1", "filled_size": 3}))
    books.push((2.5, "mark-price", {"symbol": "BTC-USD", "price": 99.0}))
    assert portions(books) == [(2, 1, 10, 0), (3, 2, 10, 0)]
    assert not books.orders()["1"]["fill"].estimated


def test_an_order_is_priced_when_one_of_its_portions_is(books: Books) -> None:
    books.push((1, MARKET, order(1, size=3.0)), (2, UPDATE, {"id": "1", "filled_size": 1}))
    books.push((3, UPDATE, {"id": "1", "filled_size": 3, "executionPrice": 13.0}))
    assert portions(books) == [(2, 1, None, 0), (3, 2, 13, 0)]
    fill = books.orders()["1"]["fill"]
    assert (fill.unpriced, fill.price) == (False, 13)


def test_what_the_order_itself_says_comes_first_whatever_its_time(books: Books) -> None:
    books.push((5, MARKET, order(1, size=3.0, price=10.0, filled_size=1.0)))
    books.push((2, UPDATE, {"id": "1", "filled_size": 3.0}))
    assert books.pnl().positions[0].size == 3


@pytest.mark.parametrize("average", [50.0, 40.0])
def test_an_average_that_no_price_can_explain_is_the_price_of_all(
    books: Books, average: float
) -> None:
    """The second portion would cost nothing, or less."""
    books.push((1, MARKET, order(1, size=2.0)))
    books.push((2, UPDATE, {"id": "1", "filled_size": 1, "filled_avg_price": 100.0}))
    books.push((3, UPDATE, {"id": "1", "filled_size": 2, "filled_avg_price": average}))
    assert portions(books) == [(2, 1, average, 0), (3, 1, average, 0)]


@pytest.mark.heavy
def test_an_order_in_many_portions_costs_a_row_each(books: Books) -> None:
    books.push((0, LIMIT, order(1, size=100.0, price=10.0)))
    books.keep()
    for number in range(1, 101):
        books.push((number, UPDATE, {"id": "1", "filled_size": float(number)}))
        (plan,) = books.keep()
        assert (len(plan.entries), len(plan.statements)) == (1, 1)
    assert books.pnl().positions[0].size == 100


@pytest.mark.parametrize("status", ["filled", "Executed", "closed"])
def test_an_order_that_began_with_nothing_filled_is_filled_by_its_status(
    books: Books, status: str
) -> None:
    books.push((1, MARKET, order(1, filled_size=0, status="new")))
    assert books.orders()["1"]["fill"] is None
    books.push((2, UPDATE, {"id": "1", "status": status, "executionPrice": 100.0, "fee": 1.0}))
    books.push((5, "mark-price", {"symbol": "BTC-USD", "price": 110.0}))
    assert portions(books) == []  # one fill has none
    fill = books.orders()["1"]["fill"]
    assert (fill.time, fill.size, fill.price, fill.fee) == (2, 1, 100, 1)
    assert (books.pnl().realized, books.pnl().unrealized) == (-1, 10)


def test_the_status_filled_fills_the_rest_at_its_own_time(books: Books) -> None:
    books.push((3, UPDATE, {"id": "1", "status": "filled"}))
    books.push((1, LIMIT, order(1, size=10.0, price=100.0)))
    books.push((2, UPDATE, {"id": "1", "filled_size": 4, "executionPrice": 99.0}))
    assert portions(books) == [(2, 4, 99, 0), (3, 6, 99, 0)]
    books.push((9, UPDATE, {"id": "1", "status": "filled", "filled_avg_price": 99.6}))
    assert portions(books) == [(2, 4, 99, 0), (3, 6, 100, 0)]


def test_a_total_beside_the_status_filled_or_after_it_counts(books: Books) -> None:
    books.push((1, LIMIT, order(1, size=10.0, price=100.0)))
    books.push((2, UPDATE, {"id": "1", "status": "filled", "filled_size": 4}))
    assert books.pnl().positions[0].size == 4
    books.push((3, UPDATE, {"id": "1", "status": "filled"}))
    assert books.pnl().positions[0].size == 10
    books.push((4, UPDATE, {"id": "1", "filled_size": 7}))
    assert books.pnl().positions[0].size == 7


def test_an_order_that_was_canceled_after_all_keeps_what_a_total_said(books: Books) -> None:
    books.push((1, LIMIT, order(1, size=10.0, price=100.0, filled_size=4)))
    books.push((2, UPDATE, {"id": "1", "status": "filled"}))
    books.push((3, UPDATE, {"id": "1", "status": "canceled"}))
    assert books.pnl().positions[0].size == 4


def test_an_order_of_funds_that_began_with_nothing_filled_is_filled_by_its_status(
    books: Books,
) -> None:
    books.push((1, MARKET, order(1, funds=500.0, filled_size=0, status="new")))
    books.push((2, UPDATE, {"id": "1", "status": "filled", "executionPrice": 100.0}))
    assert books.pnl().positions[0].size == 5


def test_the_status_filled_takes_nothing_back(books: Books) -> None:
    books.push((1, LIMIT, order(1, size=10.0, price=100.0)))
    books.push((2, UPDATE, {"id": "1", "filled_size": 11}))
    books.push((3, UPDATE, {"id": "1", "status": "filled"}))
    assert books.pnl().positions[0].size == 11


@pytest.mark.parametrize("unreadable", [None, "", "abc", -1])
def test_a_total_that_cannot_be_read_moves_no_fill(books: Books, unreadable: Any) -> None:
    books.push((1, MARKET, order(1, executionPrice=100.0, filled_size=unreadable)))
    books.push((2, UPDATE, {"id": "1", "status": "filled"}))
    assert books.orders()["1"]["fill"].time == 1


def test_what_was_filled_stays_filled_whatever_an_exchange_calls_it_later(books: Books) -> None:
    books.push((1, LIMIT, order(1, size=10.0, price=100.0, filled_size=4)))
    books.push((2, UPDATE, {"id": "1", "status": "filled"}))
    books.push((3, UPDATE, {"id": "1", "status": "settled"}))
    assert portions(books) == [(1, 4, 100, 0), (2, 6, 100, 0)]
