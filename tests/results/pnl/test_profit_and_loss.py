"""The rules of profit and loss, each by a case worked out by hand."""

from typing import Any

import pytest

from tapeline.results.charts import chart_window
from tapeline.results.charts.chart_window import Window
from tapeline.results.rules.symbols import currency_of
from tests.results.pnl.bookkeeping import Books

MARKET, LIMIT, STOP, UPDATE = "spot-market", "spot-limit", "spot-stop", "update-trade"


def order(number: int | str, side: str = "buy", symbol: str = "BTC-USD", **more: Any) -> Any:
    amount = {} if "funds" in more else {"size": 1.0}
    return {"id": str(number), "symbol": symbol, "exchange": "x", "side": side, **amount, **more}


def money(books: Books) -> tuple[float | None, float | None, float | None]:
    found = books.pnl()
    return found.realized, found.unrealized, found.fees


def test_a_model_without_orders_has_no_profit_and_no_loss(books: Books) -> None:
    found = books.pnl()
    assert (found.source, found.currency, found.series) == ("computed", None, [])
    assert money(books) == (None, None, None)


def test_a_sale_realizes_against_the_average_cost(books: Books) -> None:
    books.push((1, MARKET, order(1, price=10.0)), (2, MARKET, order(2, price=20.0)))
    books.push((3, MARKET, order(3, "sell", price=30.0)))
    (position,) = books.pnl().positions
    assert (position.size, position.average_price) == (1, 15)
    assert money(books) == (15, 15, 0)
    assert [(one.time, one.value) for one in books.pnl().series] == [(1, 0), (2, 10), (3, 30)]


def test_decimals_come_out_as_on_paper(books: Books) -> None:
    for number in range(3):
        books.push((number, MARKET, order(number, size=0.1, price=0.1)))
    books.push((9, MARKET, order(9, "sell", size=0.3, price=0.3)))
    assert money(books) == (0.06, 0, 0)
    assert books.pnl().positions[0].size == 0


def test_realized_is_net_of_all_fees_those_of_buys_at_once(books: Books) -> None:
    books.push((1, MARKET, order(1, price=10.0, fee=0.5)))
    assert money(books) == (-0.5, 0, 0.5)
    books.push((2, MARKET, order(2, "sell", price=12.0)), (3, UPDATE, {"id": "2", "fees": 0.25}))
    assert money(books) == (1.25, 0, 0.75)


def test_contracts_of_different_currencies_are_not_added_up(books: Books) -> None:
    for symbol, bought, sold in (("BTC-USDT-SWAP", 100.0, 110.0), ("ETH-JPY-SWAP", 1e4, 1.1e4)):
        books.push((1, MARKET, order(f"{symbol} 1", symbol=symbol, price=bought)))
        books.push((2, MARKET, order(f"{symbol} 2", "sell", symbol, price=sold)))
    found = books.pnl()
    assert {name: one.realized for name, one in found.by_currency.items()} == {
        "USDT": 10,
        "JPY": 1000,
    }
    assert (found.currency, found.realized) == ("JPY", 1000)


def test_a_ticker_that_names_its_contract_counts_in_the_currency_of_the_model(books: Books) -> None:
    books.push((1, MARKET, order(1, symbol="ETH-PERP", price=10.0)))
    books.push((2, MARKET, order(2, symbol="BTC-27DEC24-50000-C", price=5.0)))
    assert {one.currency for one in books.pnl().positions} == {"USD"}


def test_fills_count_in_the_order_of_their_execution_not_of_their_arrival(books: Books) -> None:
    books.push((1, MARKET, order(1, price=10.0)))
    books.push((5, MARKET, order(2, "sell", price=30.0)))
    books.push((6, MARKET, order(3, price=20.0)))
    assert money(books)[0] == 20
    books.push((7, UPDATE, {"id": "3", "executionTime": 3}))
    assert money(books)[0] == 15


def test_an_execution_time_may_be_in_milliseconds_or_in_words(books: Books) -> None:
    books.push((1, MARKET, order(1, price=1.0, executed_time=1700000000123)))
    books.push((2, MARKET, order(2, price=1.0, executionTime="2023-11-14T22:13:20Z")))
    books.push((3, MARKET, order(3, price=1.0, executionTime=0)))
    fills = {name: one["fill"].time for name, one in books.orders().items()}
    assert fills == {"1": 1700000000.123, "2": 1700000000, "3": 3}


def test_an_order_by_funds_buys_what_its_price_allows(books: Books) -> None:
    books.push((1, MARKET, order(1, funds=100.0, price=8.0)))
    assert books.orders()["1"]["fill"].size == 12.5
    books.push((2, MARKET, order(2, "sell", funds=50.0, executionPrice=10.0)))
    assert money(books) == (10, 15, 0)


def test_a_partial_fill_counts_what_was_filled(books: Books) -> None:
    books.push((1, LIMIT, order(1, size=10.0, price=5.0)))
    books.push((2, UPDATE, {"id": "1", "filled_size": 4, "filled_avg_price": 4.5}))
    fill = books.orders()["1"]["fill"]
    assert (fill.size, fill.price, fill.assumed) == (4, 4.5, False)
    books.push((3, UPDATE, {"id": "1", "filled_size": 10}))
    assert books.pnl().positions[0].size == 10


@pytest.mark.parametrize("key", ["executionPrice", "executed_price", "filled_avg_price"])
def test_the_updates_price_wins_over_the_orders_in_every_spelling(books: Books, key: str) -> None:
    books.push((1, LIMIT, order(1, price=5.0)), (2, UPDATE, {"id": "1", key: 4.0}))
    assert books.orders()["1"]["fill"].price == 4


def test_of_two_spellings_the_one_said_last_counts(books: Books) -> None:
    books.push((1, MARKET, order(1)), (3, UPDATE, {"id": "1", "executed_price": 7.0, "fees": 2}))
    books.push((2, UPDATE, {"id": "1", "executionPrice": 6.0, "fee": 1}))
    fill = books.orders()["1"]["fill"]
    assert (fill.price, fill.fee) == (7, 2)


def test_without_a_price_the_last_known_one_is_the_estimate(books: Books) -> None:
    books.push((1, MARKET, order(1, price=10.0)), (2, MARKET, order(2, "sell")))
    fill = books.orders()["2"]["fill"]
    assert (fill.price, fill.estimated, fill.unpriced) == (10, True, False)
    # A late word about the price at that time changes it.
    books.push((1.5, "mark-price", {"symbol": "BTC-USD", "price": 12.0}))
    assert books.orders()["2"]["fill"].price == 12
    assert money(books)[0] == 2
    assert books.pnl().counts.estimated == 1


def test_an_order_without_any_price_is_listed_and_counts_nowhere(books: Books) -> None:
    books.push((1, MARKET, order(1, fee=5.0)), (2, MARKET, order(2, price=10.0)))
    found = books.pnl()
    assert [(one.order_id, one.symbol, one.time) for one in found.unpriced] == [("1", "BTC-USD", 1)]
    assert (found.realized, found.counts.fills, found.counts.unpriced) == (0, 1, 1)
    fill = books.orders()["1"]["fill"]
    assert (fill.unpriced, fill.fee, fill.currency) == (True, 5, "USD")
    assert "mark-price" in found.warnings[0].message
    books.push((0.5, "mark-price", {"symbol": "BTC-USD", "price": 9.0}))
    found = books.pnl()
    assert (found.realized, found.unrealized, found.warnings) == (-5, 1, [])


@pytest.mark.parametrize("kind", [LIMIT, STOP])
def test_a_posted_order_is_assumed_filled_until_somebody_says_otherwise(
    books: Books, kind: str
) -> None:
    books.push((1, kind, order(1, price=5.0, active=5.0)))
    assert books.orders()["1"]["fill"].assumed
    assert books.pnl().counts.assumed == 1
    books.push((2, UPDATE, {"id": "1", "status": "filled"}))
    fill = books.orders()["1"]["fill"]
    assert (fill.assumed, fill.price) == (False, 5)


@pytest.mark.parametrize("status", ["canceled", "Cancelled", "rejected", "EXPIRED"])
def test_an_order_that_ends_unfilled_is_taken_out_with_its_price(books: Books, status: str) -> None:
    books.push((1, MARKET, order(1, price=10.0)), (2, LIMIT, order(2, price=50.0, fee=1.0)))
    assert money(books) == (-1, 40, 1)
    books.push((3, UPDATE, {"id": "2", "status": status}))
    assert money(books) == (0, 0, 0)
    assert books.orders()["2"]["fill"] is None
    assert books.pnl().positions[0].last_price == 10


def test_what_was_filled_before_an_order_was_canceled_counts(books: Books) -> None:
    books.push((1, LIMIT, order(1, size=10.0, price=5.0)))
    books.push((2, UPDATE, {"id": "1", "status": "canceled", "filled_size": 3}))
    assert books.pnl().positions[0].size == 3


def test_an_update_that_says_nothing_is_filled_takes_the_order_out(books: Books) -> None:
    books.push((1, LIMIT, order(1, price=5.0)), (2, UPDATE, {"id": "1", "filled_size": 0}))
    assert books.orders()["1"]["fill"] is None
    assert books.pnl().positions == []


def test_a_sale_of_more_than_is_held_is_a_warning_and_no_short(long_only: Books) -> None:
    books = long_only
    books.push((1, MARKET, order(1, size=2.0, price=10.0)))
    books.push((2, MARKET, order(2, "sell", size=5.0, price=11.0, fee=0.5)))
    found = books.pnl()
    assert (found.realized, found.unrealized, found.fees) == (1.5, 0, 0.5)
    assert (found.positions[0].size, found.positions[0].last_price) == (0, 11)
    (warning,) = found.warnings
    assert (warning.code, warning.order_id, warning.size) == ("oversold", "2", 3)
    assert "3 BTC-USD more than was held" in warning.message
    assert books.orders()["2"]["fill"].oversold == 3


def test_warnings_of_both_kinds_are_listed_newest_first(long_only: Books) -> None:
    books = long_only
    books.push((1, MARKET, order(1, symbol="A-USD")), (3, MARKET, order(3, symbol="C-USD")))
    books.push((2, MARKET, order(2, "sell", symbol="B-USD", price=11.0)))
    assert [one.order_id for one in books.pnl().warnings] == ["3", "2", "1"]


def test_a_sale_with_nothing_held_costs_its_fee_and_gives_a_price(long_only: Books) -> None:
    books = long_only
    books.push((1, MARKET, order(1, "sell", price=9.0, fee=1.0)), (2, MARKET, order(2)))
    assert money(books) == (-1, 0, 1)
    assert books.orders()["2"]["fill"].price == 9


def test_the_dust_of_doubles_is_no_oversell(books: Books) -> None:
    books.push(
        (1, MARKET, order(1, size=0.1, price=1.0)), (2, MARKET, order(2, size=0.2, price=1.0))
    )
    books.push((3, MARKET, order(3, "sell", size=0.1 + 0.2, price=2.0)))
    found = books.pnl()
    assert (found.warnings, found.realized, found.positions[0].size) == ([], 0.3, 0)


def test_unrealized_follows_the_newest_price_by_time(books: Books) -> None:
    books.push((1, MARKET, order(1, price=10.0)))
    books.push((9, "mark-price", {"symbol": "BTC-USD", "price": 13.0}))
    books.push((5, "mark-price", {"symbol": "BTC-USD", "price": 99.0}))
    found = books.pnl()
    assert found.unrealized == 3
    assert (found.positions[0].last_price, found.positions[0].last_price_time) == (13, 9)
    assert [(one.time, one.value) for one in found.series] == [(1, 0), (5, 89), (9, 3)]


def test_marks_of_what_is_not_held_leave_no_points(books: Books) -> None:
    for number in range(5):
        books.push((number, "mark-price", {"symbol": "BTC-USD", "price": 1.0 + number}))
    assert (books.pnl().series, books.pnl().positions) == ([], [])


def test_currencies_are_never_added_up(books: Books) -> None:
    books.push((1, MARKET, order(1, symbol="BTC-USD", price=10.0, fee=1.0)))
    books.push((2, MARKET, order(2, symbol="ETH/EUR", price=10.0, fee=2.0)))
    books.push((3, MARKET, order(3, symbol="SOL/EUR", price=10.0, fee=4.0)))
    found = books.pnl()
    assert {name: one.fees for name, one in found.by_currency.items()} == {"EUR": 6, "USD": 1}
    assert (found.currency, found.fees) == ("EUR", 6)
    assert [one.value for one in found.series] == [-2, -6]
    dollars = books.pnl(currency="usd")
    assert [one.value for one in dollars.series] == [-1]
    assert [one["fill"].currency for one in books.orders().values()] == ["EUR", "EUR", "USD"]


def test_of_currencies_with_as_many_fills_the_first_by_name_is_the_models(books: Books) -> None:
    books.push((1, MARKET, order(1, symbol="BTC-USD", price=10.0)))
    books.push((2, MARKET, order(2, symbol="BTC-EUR", price=10.0)))
    assert books.pnl().currency == "EUR"


def test_a_bare_ticker_is_quoted_in_what_the_newest_backtest_says(books: Books) -> None:
    books.push((1, MARKET, order(1, symbol="AAPL", price=10.0)))
    assert books.pnl().currency == "USD"
    books.push((2, MARKET, order(2, symbol="BTC-CHF", price=10.0, fee=1.0)))
    books.backtest({"quote_asset": "CHF"})
    found = books.pnl()
    assert (found.currency, list(found.by_currency)) == ("CHF", ["CHF"])
    assert {one.currency for one in found.positions} == {"CHF"}
    assert [(one.time, one.value) for one in found.series] == [(1, 0), (2, -1)]


@pytest.mark.parametrize(
    ("symbol", "currency"),
    [("BTC-USD", "USD"), ("btc/usdt", "USDT"), ("AAPL", ""), ("BRK-B", ""), ("A-B-EUR", "EUR"),
     ("BTC/USDT:USDT", "USDT"), ("BTC/USD:BTC", "USD"), ("A-XY", "XY"), ("-", "")],
)  # fmt: skip
def test_a_symbol_says_what_it_is_quoted_in(symbol: str, currency: str) -> None:
    assert currency_of(symbol) == currency


def test_an_update_may_move_an_order_to_another_symbol(books: Books) -> None:
    books.push(
        (1, MARKET, order(1, price=10.0)), (2, MARKET, order(2, symbol="ETH-USD", price=3.0))
    )
    books.keep()
    books.push((3, UPDATE, {"id": "1", "symbol": "ETH-USD"}))
    (position,) = books.pnl().positions
    assert (position.symbol, position.size, position.average_price) == ("ETH-USD", 2, 6.5)


def test_an_order_that_moves_to_another_symbol_stays_on_the_curve(books: Books) -> None:
    """Its place on the curve is the same; whose it was must not take it away."""
    books.push((1, MARKET, order(1, symbol="BTC-USD", price=1.0)))
    books.push((3, MARKET, order(2, symbol="ETH-USD", fee=0.5)))
    books.keep()
    moved = {"id": "2", "symbol": "BTC-USD", "price": 2.0}
    books.push((2, UPDATE, {"id": "1", "price": 2.0}), (4, UPDATE, moved))
    assert [(one.time, one.value) for one in books.pnl().series] == [(1, 0), (3, -0.5)]


def test_words_that_cannot_be_read_count_as_not_said(books: Books) -> None:
    books.push((1, LIMIT, order(1, price=5.0, fee=1.0)))
    nonsense: dict[str, Any] = {
        "side": 7,
        "symbol": None,
        "size": -1,
        "price": "?",
        "fee": [],
        "fees": True,
    }
    books.push((2, UPDATE, {"id": "1", "executionPrice": 0, "status": 3, **nonsense}))
    books.push((3, UPDATE, {"id": "1", "executionTime": {}, "filled_size": "many"}))
    fill = books.orders()["1"]["fill"]
    assert (fill.price, fill.size, fill.fee, fill.time) == (5, 1, 1, 1)


def test_an_annotation_costs_nothing_and_changes_nothing(books: Books) -> None:
    books.push((1, MARKET, order(1, price=10.0)))
    books.keep()
    books.push((2, "update-annotation", {"id": "1", "annotation": "why"}))
    (plan,) = books.keep()
    assert (plan.entries, plan.books, plan.curves) == ([], {}, [])


def test_numbers_beyond_all_measure_break_nothing(books: Books) -> None:
    books.push((1, MARKET, order(1, size=1e308, price=1e308)), (2, MARKET, order(2, price=5e-324)))
    books.push((3, MARKET, order(3, "sell", funds=1e308, price=5e-324)))
    assert books.pnl().counts.fills == 3
    assert books.pnl().series


@pytest.mark.parametrize("closely", [0, 16], ids=["sketches", "every point"])
def test_a_long_curve_is_shown_in_few_points_with_its_extremes(
    books: Books, monkeypatch: pytest.MonkeyPatch, closely: int
) -> None:
    monkeypatch.setattr(chart_window, "CLOSELY", closely)
    books.push((0, MARKET, order(0, price=100.0)))
    marks = [
        (float(n), "mark-price", {"symbol": "BTC-USD", "price": 100 + n % 7 / 8})
        for n in range(1, 6000)
    ]
    marks[4321] = (4322.0, "mark-price", {"symbol": "BTC-USD", "price": 500.0})
    marks[1234] = (1235.0, "mark-price", {"symbol": "BTC-USD", "price": 1.0})
    for start in range(0, len(marks), 2000):
        books.push(*marks[start : start + 2000])
    for points in (100, 500, 5000):
        found = books.pnl(points).series
        assert len(found) <= points
        values = [one.value or 0.0 for one in found]
        assert (max(values), min(values)) == (400, -99)
        assert [one.time for one in found] == sorted({one.time for one in found})
    if not closely:
        return
    closer = books.pnl(100, Window(4300, 4350)).series
    assert [one.time for one in closer] == [float(n) for n in range(4300, 4351)]
    assert closer[22].value == 400
