"""Signed positions, declared ones, contracts: each rule by a case worked out by hand."""

from typing import Any

import pytest

from tapeline.results.pnl.books import ledger_of
from tapeline.results.rules.fills import INVERSE
from tests.results.pnl.bookkeeping import Books
from tests.results.pnl.test_profit_and_loss import MARKET, UPDATE, money, order


def position(size: float, price: float, symbol: str = "BTC-USD", **more: Any) -> dict[str, Any]:
    return {"symbol": symbol, "size": size, "average_price": price, **more}


def claims(books: Books) -> dict[str, int]:
    """What the sums for lists of models know of bare tickers' currencies."""
    books.keep()
    return books.store.read_now(ledger_of, books.tape).totals[""].claims


def test_a_sell_of_what_is_not_held_opens_a_short_position(books: Books) -> None:
    books.push((1, MARKET, order(1, "sell", size=2.0, price=100.0, fee=1.0)))
    books.push((2, "mark-price", {"symbol": "BTC-USD", "price": 90.0}))
    (held,) = books.pnl().positions
    assert (held.size, held.average_price, held.value) == (-2, 100, -180)
    assert money(books) == (-1, 20, 1)
    assert books.pnl().warnings == []


def test_a_buy_closes_a_short_position_first(books: Books) -> None:
    books.push((1, MARKET, order(1, "sell", size=2.0, price=100.0)))
    books.push((2, MARKET, order(2, "sell", size=2.0, price=110.0)))
    books.push((3, MARKET, order(3, "buy", size=1.0, price=95.0)))
    (held,) = books.pnl().positions
    assert (held.size, held.average_price) == (-3, 105)
    assert money(books) == (10, 30, 0)


@pytest.mark.parametrize(("side", "sign"), [("buy", 1), ("sell", -1)])
def test_a_fill_that_crosses_zero_closes_and_opens_at_its_own_price(
    books: Books, side: str, sign: int
) -> None:
    other = {"buy": "sell", "sell": "buy"}[side]
    books.push((1, MARKET, order(1, side, size=2.0, price=100.0)))
    books.push((2, MARKET, order(2, other, size=5.0, price=110.0, fee=3.0)))
    (held,) = books.pnl().positions
    assert (held.size, held.average_price) == (-3 * sign, 110)
    assert money(books) == (20 * sign - 3, 0, 3)


def test_a_model_that_is_long_only_stays_so_until_its_owner_changes_it(long_only: Books) -> None:
    books = long_only
    books.push((1, MARKET, order(1, "sell", size=2.0, price=100.0)))
    books.push((2, MARKET, order(2, "buy", size=1.0, price=90.0)))
    assert [one.size for one in books.pnl().positions] == [1]
    books.push((3, "account-settings", {"positions": "signed"}))
    found = books.pnl()
    assert [one.size for one in found.positions] == [-1]
    assert (found.realized, found.warnings, found.position_mode) == (10, [], "signed")
    books.push((4, "account-settings", {"positions": "long_only"}))
    assert [one.size for one in books.pnl().positions] == [1]


def test_what_was_held_before_is_declared(books: Books) -> None:
    books.push((10, MARKET, order(1, "sell", size=1.0, price=110.0)))
    assert books.pnl().positions[0].size == -1
    books.push((5, "position", position(3.0, 100.0)))
    found = books.pnl()
    assert (found.positions[0].size, found.positions[0].is_declared) == (2, True)
    assert (found.realized, found.unrealized, found.checks) == (10, 20, [])


def test_the_earliest_declaration_counts_and_later_ones_are_checks(books: Books) -> None:
    books.push((20, "position", position(-1.0, 90.0)), (30, "position", position(0.0, 1.0)))
    books.push((5, "position", position(2.0, 100.0)))
    books.push((10, MARKET, order(1, "sell", size=3.0, price=110.0)))
    found = books.pnl()
    assert (found.positions[0].size, found.realized) == (-1, 20)
    shown = [(one.time, one.reported, one.held, one.difference) for one in found.checks]
    assert shown == [(30, 0, -1, 1), (20, -1, -1, 0)]


def test_a_declaration_after_the_first_fill_is_a_check_and_changes_nothing(books: Books) -> None:
    books.push((1, MARKET, order(1, size=5.0, price=100.0)))
    books.push((2, "position", position(5.0, 100.0)))
    found = books.pnl()
    assert found.positions[0].size == 5
    assert [one.difference for one in found.checks] == [0]


def test_a_multiplier_scales_money_and_not_sizes(books: Books) -> None:
    contract: dict[str, Any] = {"multiplier": 50.0, "instrument": "future", "symbol": "ES-USD"}
    books.push((1, MARKET, order(1, size=2.0, price=4000.0, fee=4.0, **contract)))
    books.push((2, MARKET, order(2, "sell", size=1.0, price=4010.0, fee=4.0, **contract)))
    (held,) = books.pnl().positions
    assert (held.size, held.average_price, held.value) == (1, 4000, 200_500)
    assert (held.multiplier, held.instrument) == (50, "future")
    assert money(books) == (492, 500, 8)


def test_funds_buy_as_many_contracts_as_they_are_worth(books: Books) -> None:
    books.push((1, MARKET, order(1, funds=1000.0, price=10.0, multiplier=5.0)))
    assert books.pnl().positions[0].size == 20


@pytest.mark.parametrize("arrival", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_a_multiplier_that_changes_makes_the_symbol_not_computed(
    books: Books, arrival: tuple[int, ...]
) -> None:
    said = [
        (1.0, MARKET, order(1, price=10.0, multiplier=10.0)),
        (2.0, MARKET, order(2, "sell", price=12.0, multiplier=1.0)),
        (3.0, MARKET, order(3, symbol="ETH-USD", price=5.0, fee=1.0)),
    ]
    for place in arrival:
        books.push(said[place])
        books.keep()
    found = books.pnl()
    (one,) = found.not_computed
    assert (one.symbol, one.fills) == ("BTC-USD", 2)
    assert one.reason == "Its entries say different multipliers: 10 and 1."
    assert [held.symbol for held in found.positions] == ["ETH-USD"]
    assert (found.realized, found.fees) == (-1, 1)
    assert [(point.time, point.value) for point in found.series] == [(3, -1)]


def test_a_symbol_is_computed_again_when_the_conflict_is_gone(books: Books) -> None:
    books.push((1, MARKET, order(1, price=10.0, multiplier=10.0)))
    books.push((2, MARKET, order(2, "sell", price=12.0)))
    assert books.pnl().not_computed
    books.push((3, UPDATE, {"id": "2", "multiplier": 10.0}))
    found = books.pnl()
    assert (found.not_computed, found.realized) == ([], 20)
    assert [(point.time, point.value) for point in found.series] == [(1, 0), (2, 20)]


def test_fills_of_a_symbol_that_is_not_computed_have_no_profit(books: Books) -> None:
    books.push((1, MARKET, order(1, price=10.0)), (2, MARKET, order(2, "sell", price=30.0)))
    fills = {name: one["fill"] for name, one in books.orders().items()}
    assert [(fills[n].realized, fills[n].not_computed) for n in "12"] == [(0, None), (20, None)]
    books.push((3, MARKET, order(3, price=30.0, inverse=True)))
    fills = {name: one["fill"] for name, one in books.orders().items()}
    assert [(fills[n].realized, fills[n].not_computed) for n in "123"] == [(None, INVERSE)] * 3


def test_an_inverse_contract_is_not_computed(books: Books) -> None:
    books.push((1, MARKET, order(1, price=10.0, inverse=True)))
    found = books.pnl()
    assert (found.currency, found.realized, found.series, found.positions) == (None, None, [], [])
    assert "inverse" in found.not_computed[0].reason


def test_a_fee_in_what_was_bought_is_converted_at_the_price_of_the_fill(books: Books) -> None:
    paid: dict[str, Any] = {"fee": 0.01, "fee_currency": "BTC"}
    books.push((1, MARKET, order(1, size=1.0, price=200.0, **paid)))
    assert money(books) == (-2, 0, 2)
    assert books.orders()["1"]["fill"].fee == 2


def test_a_fee_in_a_currency_without_a_rate_makes_the_symbol_not_computed(books: Books) -> None:
    books.push((1, MARKET, order(1, price=200.0, fee=0.01, fee_currency="BNB")))
    assert "BNB" in books.pnl().not_computed[0].reason
    books.push((2, UPDATE, {"id": "1", "fee_currency": "USD"}))
    assert money(books) == (-0.01, 0, 0.01)


def test_a_ticker_that_is_said_to_be_quoted_elsewhere_is_not_computed(books: Books) -> None:
    books.push((1, "position", position(1.0, 10.0, "AAPL", quote="EUR")))
    books.push((2, MARKET, order(2, symbol="AAPL", price=12.0)))
    books.push((3, MARKET, order(3, symbol="MSFT", price=12.0, fee=1.0, fee_currency="USD")))
    found = books.pnl()
    assert [one.symbol for one in found.not_computed] == ["AAPL"]
    assert (found.realized, [point.value for point in found.series]) == (-1, [-1])


@pytest.mark.parametrize(("sold", "left"), [(1 + 1e-7, -1e-7), (1 + 1e-8, -1e-8), (1 + 1e-10, 0)])
def test_only_a_rest_below_a_billionth_is_a_rounding(
    books: Books, sold: float, left: float
) -> None:
    books.push((1, MARKET, order(1, price=100.0)))
    books.push((2, MARKET, order(2, "sell", size=sold, price=100.0)))
    (held,) = books.pnl().positions
    assert held.size == pytest.approx(left, rel=1e-6, abs=0)


def test_a_tiny_position_is_shown_and_not_taken_for_nothing(books: Books) -> None:
    books.push((1, MARKET, order(1, size=1e-15, price=2.0)))
    (held,) = books.pnl().positions
    assert (held.size, held.value) == (1e-15, 2e-15)


def test_an_estimated_fill_is_no_news_of_the_price(books: Books) -> None:
    books.push((1, "mark-price", {"symbol": "BTC-USD", "price": 100.0}))
    books.push((2, MARKET, order(1)))
    (held,) = books.pnl().positions
    assert (held.size, held.last_price, held.last_price_time) == (1, 100, 1)


def test_a_fee_in_what_was_bought_knows_no_multiplier(books: Books) -> None:
    fee = {"fee": 0.5, "fee_currency": "BTC"}
    books.push((1, MARKET, {**order(1, price=100.0, multiplier=10.0), **fee}))
    assert money(books) == (-50, 0, 50)


def test_a_fee_of_nothing_needs_no_rate(books: Books) -> None:
    books.push((1, MARKET, order(1, price=100.0, fee=0.0, fee_currency="BNB")))
    found = books.pnl()
    assert (found.not_computed, found.realized) == ([], 0)


def test_the_newest_instrument_is_shown(books: Books) -> None:
    books.push((1, MARKET, order(1, price=1.0, instrument="margin")))
    books.push((2, MARKET, order(2, price=1.0, instrument="perpetual")), (3, MARKET, order(3)))
    assert books.pnl().positions[0].instrument == "perpetual"


def test_of_several_reasons_the_first_by_time_is_shown(books: Books) -> None:
    books.push((2, MARKET, order(2, price=1.0, multiplier=5.0)))
    books.push((3, MARKET, order(3, price=1.0, multiplier=9.0)))
    books.push((1, MARKET, order(1, price=1.0, multiplier=5.0, inverse=True)))
    assert [one.reason for one in books.pnl().not_computed] == [INVERSE]


def test_a_ticker_counts_in_lists_again_when_the_claim_is_gone(books: Books) -> None:
    books.push((1, MARKET, order(1, symbol="AAPL", price=5.0, fee=1.0, fee_currency="EUR")))
    assert claims(books) == {"EUR": 1}
    books.push((2, UPDATE, {"id": "1", "fee_currency": "USD"}))
    assert (claims(books), money(books)) == ({"EUR": 0, "USD": 1}, (-1, 0, 1))


def test_a_declared_ticker_may_name_the_currency_that_its_model_counts_in(books: Books) -> None:
    books.push((1, "position", position(2.0, 5.0, "AAPL", quote="USD")))
    found = books.pnl()
    assert (found.not_computed, [one.size for one in found.positions]) == ([], [2])


def test_a_declared_position_counts_in_its_currency_before_any_order(books: Books) -> None:
    books.push((1, "position", position(2.0, 5.0, "BTC-EUR")))
    books.push((2, "mark-price", {"symbol": "BTC-EUR", "price": 8.0}))
    assert {name: one.unrealized for name, one in books.pnl().by_currency.items()} == {"EUR": 6}
