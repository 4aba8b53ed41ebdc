"""Rates between currencies: fees in a third one, and sums over all of them."""

from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, select, update

from tapeline.results.pnl import planning, stored_rates
from tapeline.results.pnl.books import carry_out
from tapeline.results.portfolio.rates_by_day import Rates
from tapeline.store.tables.core import models
from tests.results.pnl.bookkeeping import Books, Opened
from tests.results.pnl.test_profit_and_loss import MARKET, UPDATE, money, order

MARK = "mark-price"
IN_BNB: dict[str, Any] = {"fee": 0.01, "fee_currency": "bnb"}


def join(books: Books, other: Books) -> None:
    """Put the other model into the same project."""

    def move(connection: Connection) -> None:
        project = select(models.c.project_id).where(models.c.id == books.model).scalar_subquery()
        same = update(models).where(models.c.id == other.model)
        connection.execute(same.values(project_id=project))

    books.store.write_now(move)


def neighbours(books: Books, opened: Opened, count: int) -> list[Books]:
    found = [Books(*opened) for _ in range(count)]
    for one in found:
        join(books, one)
    return found


def mark(symbol: str, price: float) -> dict[str, Any]:
    return {"symbol": symbol, "price": price}


@pytest.mark.parametrize(("symbol", "price"), [("BNB-USD", 500.0), ("USD/BNB", 0.002)])
def test_a_fee_in_a_third_currency_is_converted_by_the_last_mark_before_it(
    books: Books, symbol: str, price: float
) -> None:
    books.push((1, MARK, mark(symbol, 900.0)), (2, MARK, mark(symbol, price)))
    books.push((3, MARKET, order(1, price=200.0, **IN_BNB)))
    books.push((4, MARK, mark(symbol, 700.0)))
    assert money(books) == (-5, 0, 5)
    fill = books.orders()["1"]["fill"]
    assert (fill.fee, fill.fee_rate.symbol, fill.fee_rate.price, fill.fee_rate.time) == (
        5, symbol, price, 2,
    )  # fmt: skip


def test_a_rate_that_arrives_late_converts_fees_that_are_booked_already(books: Books) -> None:
    books.push((10, MARKET, order(1, price=200.0, **IN_BNB)))
    books.push((20, MARKET, order(2, price=200.0, **IN_BNB)))
    assert "no rate was reported before it" in books.pnl().not_computed[0].reason
    books.push((15, MARK, mark("BNB-USD", 100.0)))
    assert len(books.pnl().not_computed) == 1  # the first fee still has none
    books.push((5, MARK, mark("BNB-USD", 300.0)))
    assert (money(books), books.pnl().not_computed) == ((-4, 0, 4), [])
    books.push((12, MARK, mark("BNB-USD", 200.0)))
    assert money(books) == (-4, 0, 4)  # nobody paid between 12 and 15
    books.push((18, MARK, mark("BNB-USD", 200.0)))
    assert money(books) == (-5, 0, 5)


def test_of_rates_that_arrive_late_together_the_earliest_counts_too(
    books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "COPIED_EVERY", 1)
    books.push((10, MARKET, order(1, price=200.0, **IN_BNB)))
    books.push((20, MARKET, order(2, price=200.0, **IN_BNB)))
    books.keep()
    books.push((5, MARK, mark("BNB-USD", 300.0)), (15, MARK, mark("BNB-USD", 100.0)))
    assert (money(books), books.pnl().not_computed) == ((-4, 0, 4), [])


@pytest.mark.parametrize("at", [1.5, 6.5])
def test_a_late_rate_joins_a_correction_that_is_still_under_way(
    books: Books, monkeypatch: pytest.MonkeyPatch, at: float
) -> None:
    """Whichever of the two is earlier, all that follows it is computed again."""
    monkeypatch.setattr(planning, "COPIED_EVERY", 1)
    monkeypatch.setattr(planning, "AGAIN", 1)
    books.push((0.5, MARK, mark("BNB-USD", 100.0)))
    for number in range(1, 9):
        books.push((number, MARKET, order(number, price=200.0, **IN_BNB)))
    books.keep()
    books.push((20, UPDATE, {"id": "2", "fee": 0.02}))
    plan = books.store.read_now(planning.plan, books.tape, 2**62)
    assert plan is not None
    assert plan.ledger.pending
    assert books.store.write_now(carry_out, plan)
    books.push((at, MARK, mark("BNB-USD", 300.0)))
    paid = sum((3 if number > at else 1) * (2 if number == 2 else 1) for number in range(1, 9))
    assert money(books) == (-paid, 0, paid)
    assert books.pnl().series[-1].value == -paid


def test_each_portion_of_an_order_has_the_rate_of_its_own_time(books: Books) -> None:
    books.push((1, MARK, mark("BNB-USD", 100.0)))
    books.push((2, "spot-limit", order(1, price=10.0, size=4.0, fee_currency="BNB")))
    books.push((3, UPDATE, {"id": "1", "filled_size": 1.0, "fee": 0.01}))
    books.push((4, MARK, mark("BNB-USD", 200.0)))
    books.push((5, UPDATE, {"id": "1", "filled_size": 4.0, "fee": 0.03}))
    assert money(books) == (-5, 0, 5)
    fill = books.orders()["1"]["fill"]
    assert [one.fee for one in fill.portions] == [1, 4]
    assert (fill.fee, fill.fee_rate.price, fill.fee_rate.time) == (5, 200, 4)


def test_an_order_without_a_price_needs_no_rate(books: Books) -> None:
    books.push((1, MARKET, order(1, **IN_BNB)))
    found = books.pnl()
    assert (found.not_computed, [one.code for one in found.warnings]) == ([], ["unpriced"])


def test_a_long_row_of_marks_is_read_in_pieces(
    books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_rates, "TOGETHER", 3)
    monkeypatch.setattr(stored_rates, "LOOKED", 2)
    books.push(*((float(n), MARK, mark("BNB-USD", float(n))) for n in range(1, 40)))
    declared = {"symbol": "BNB-USD", "size": 1.0, "average_price": 1.0}
    books.push(*((20 + n / 10, "position", declared) for n in range(1, 9)))
    books.keep()
    orders = [(at + 0.95, order(number, price=1.0, **IN_BNB))
              for number, at in enumerate((0.05, 3, 3.01, 20, 38, 7), 1)]  # fmt: skip
    books.push(*((at, MARKET, body) for at, body in orders))
    fills = books.orders()
    assert [fills[str(n)]["fill"].fee_rate.price for n in range(1, 7)] == [1, 3, 3, 20, 38, 7]


def test_currencies_are_added_up_by_rates_that_say_from_when_they_are(books: Books) -> None:
    books.push((1, MARKET, order(1, price=200.0, fee=3.0)), (2, MARKET, order(2, price=200.0)))
    assert books.pnl().together is None
    books.push((3, MARKET, order(3, symbol="DAX-EUR", price=100.0, fee=2.0)))
    books.push((4, MARK, mark("DAX-EUR", 110.0)))
    books.push((5, "cash", {"type": "interest", "amount": 1.0, "currency": "EUR"}))
    found = books.pnl().together
    assert found is not None
    assert (found.total, found.rates) == (None, [])
    assert found.reason == (
        "There is no rate between EUR and USD. Report one with mark-price of EUR-USD."
    )
    books.push((6, MARK, mark("EUR-USD", 1.5)))
    found = books.pnl().together
    assert found is not None
    assert (found.currency, found.realized, found.unrealized) == ("USD", -6, 15)
    assert (found.fees, found.cash, found.total, found.reason) == (6, 1.5, 10.5, None)
    (rate,) = found.rates
    assert (rate.symbol, rate.price, rate.time, rate.model_id) == ("EUR-USD", 1.5, 6, books.model)


def test_a_rate_may_come_from_another_model_of_the_project_and_from_no_other(
    books: Books, opened: Opened
) -> None:
    books.push((1, MARKET, order(1, price=200.0, fee=3.0)))
    books.push((3, MARKET, order(3, symbol="A-EUR", price=100.0, fee=2.0)))
    books.push((4, MARKET, order(4, price=200.0)))
    other = Books(*opened)
    other.push((6, MARK, mark("EUR/USD", 2.0)), (9, MARKET, order(1, price=3.0, symbol="EUR/USD")))
    other.keep()
    found = books.pnl().together
    assert found is not None
    assert found.total is None

    join(books, other)
    found = books.pnl().together
    assert found is not None
    # The other model's fill at 3 is no mark.
    assert (found.total, found.rates[0].model_id, found.rates[0].time) == (-7, other.model, 6)


def test_the_newest_mark_of_the_project_counts_however_many_models_trade_the_pair(
    books: Books, opened: Opened
) -> None:
    books.push((1, MARKET, order(1, price=200.0, fee=3.0)), (2, MARKET, order(2, price=200.0)))
    books.push((3, MARKET, order(3, symbol="A-EUR", price=100.0, fee=2.0)))
    marking, *trading = neighbours(books, opened, 13)
    marking.push((5, MARK, mark("EUR-USD", 1.5)))
    for at, one in enumerate(trading):  # newer fills, and older marks or none
        one.push((100 + at, MARKET, order(1, price=3.0, symbol="EUR-USD")))
        one.push(*([(4, MARK, mark("EUR/USD", 2.0))] if at % 2 else []))
    for one in (marking, *trading):
        one.keep()
    found = books.pnl().together
    assert found is not None
    assert [(one.price, one.time, one.model_id) for one in found.rates] == [(1.5, 5, marking.model)]


def test_a_mark_that_comes_with_a_newer_fill_is_still_the_newest(books: Books) -> None:
    books.push((1, MARKET, order(1, price=200.0)), (2, MARKET, order(2, symbol="A-EUR", price=1.0)))
    books.push((3, MARK, mark("EUR-USD", 1.5)), (1, MARK, mark("EUR-USD", 1.0)))
    books.push((9, MARKET, order(3, price=3.0, symbol="EUR-USD")))
    found = books.pnl().together
    assert found is not None
    assert [(one.price, one.time) for one in found.rates] == [(1.5, 3)]


def test_the_rates_of_each_day_are_those_of_all_models_of_the_project(
    books: Books, opened: Opened
) -> None:
    day = 86_400.0
    for number, one in enumerate(neighbours(books, opened, 8)):  # each reported one day
        one.push((number * day + 1, MARK, mark("EUR-USD", 1.0 + number)))
        one.push(((9 - number) * day, MARKET, order(1, price=3.0, symbol="EUR-USD")))
        one.keep()

    def rates(connection: Connection) -> list[float]:
        project = connection.scalar(select(models.c.project_id).where(models.c.id == books.model))
        assert project is not None
        found = Rates(connection, "USD", {project: books.tape})
        found.read(project, "EUR", 2, 7)
        return [*found.by_day(project, "EUR", np.arange(2, 8))]

    assert books.store.read_now(rates) == [3, 4, 5, 6, 7, 8]


def test_of_marks_of_one_moment_the_last_to_arrive_counts_however_the_pair_is_spelled(
    books: Books,
) -> None:
    books.push((1, MARKET, order(1, price=200.0)), (2, MARKET, order(2, symbol="A-EUR", price=1.0)))
    books.push((1, MARK, mark("EUR-USD", 9.0)), (1, MARK, mark("EUR/USD", 8.0)))
    for symbol, price in (("EUR/USD", 2.0), ("EUR-USD", 1.5)):
        books.push((3, MARK, mark(symbol, price)))
        found = books.pnl().together
        assert found is not None
        assert [(one.symbol, one.price) for one in found.rates] == [(symbol, price)]
