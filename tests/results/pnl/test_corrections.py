"""Corrections of entries in the middle of a book: all that comes after them is computed again."""

import pytest

from tapeline.results.pnl import planning, unbooked
from tapeline.results.pnl.books import carry_out
from tapeline.store.tables.tape import tapes
from tests.results.pnl.bookkeeping import Books
from tests.results.pnl.test_profit_and_loss import MARKET, UPDATE, order

PRICES = [10.0, 13.0, 20.0, 19.0, 30.0, 37.0, 40.0, 42.0]
SIDES = ["buy", "sell"] * 4


@pytest.mark.parametrize(("apart", "copied_every", "again"), [(0, 1, 1), (1, 2, 5_000), (1, 3, 1)])
def test_every_entry_can_be_corrected_whether_it_keeps_a_copy_or_not(
    books: Books, monkeypatch: pytest.MonkeyPatch, apart: float, copied_every: int, again: int
) -> None:
    """Also where a portion ends between two entries of one moment."""
    monkeypatch.setattr(planning, "COPIED_EVERY", copied_every)
    monkeypatch.setattr(planning, "AGAIN", again)
    prices = list(PRICES)
    for number, side in enumerate(SIDES):
        said = order(number, side, executionPrice=prices[number])
        books.push((100 + number * apart, MARKET, said))
        books.keep()
    for number in range(1, len(prices)):
        for one in (number - 1, number):  # neighbours: a portion can end with either
            prices[one] += number * (one + 1)
            update = {"id": str(one), "executionPrice": prices[one]}
            books.push((200.0 + number, UPDATE, update))
        found = books.pnl()
        assert found.realized == sum(prices[1::2]) - sum(prices[::2])
        assert found.series[-1].value == found.total
    assert [one["fill"].realized for one in books.orders().values()][::-2] == [0, 0, 0, 0]


def test_an_order_that_loses_its_price_leaves_the_curve(books: Books) -> None:
    books.push((1, MARKET, order(1, fee=2.0)), (2, UPDATE, {"id": "1", "executionPrice": 10.0}))
    books.push((5, MARKET, order(2, symbol="ETH-USD", price=7.0, fee=1.0)))
    assert [(one.time, one.value) for one in books.pnl().series] == [(1, -2), (5, -3)]
    books.push((6, UPDATE, {"id": "1", "executionPrice": None}))
    found = books.pnl()
    assert [(one.time, one.value) for one in found.series] == [(5, -1)]
    assert (found.counts.unpriced, found.total) == (1, -1)


def test_books_are_behind_until_all_that_follows_a_correction_is_computed(
    books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "COPIED_EVERY", 1)
    monkeypatch.setattr(planning, "AGAIN", 1)
    for number, price in enumerate(PRICES):
        books.push((number + 1, MARKET, order(number, executionPrice=price)))
    books.keep()
    books.push((100, UPDATE, {"id": "0", "executionPrice": 5.0}))
    plan = books.store.read_now(planning.plan, books.tape, 2**62)
    assert plan is not None
    assert books.store.write_now(carry_out, plan)
    here = tapes.c.no == books.tape
    assert list(books.store.read_now(unbooked.behind, here)) == [books.tape]
    books.keep()
    assert books.store.read_now(unbooked.behind, here) == {}


def test_books_are_not_behind_after_a_last_portion_that_was_full(
    books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "PORTION", 4)
    said = [(number + 1, MARKET, order(number, executionPrice=1.0)) for number in range(8)]
    books.push(*said)
    here = tapes.c.no == books.tape
    assert list(books.store.read_now(unbooked.behind, here)) == [books.tape]
    assert len(books.keep()) == 2
    assert books.store.read_now(unbooked.behind, here) == {}


def test_an_update_without_a_size_takes_none_away(books: Books) -> None:
    books.push((1, MARKET, order(1, executionPrice=100.0)), (2, UPDATE, {"id": "1", "size": None}))
    assert books.orders()["1"]["fill"].size == 1
