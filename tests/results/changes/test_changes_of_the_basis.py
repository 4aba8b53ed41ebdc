"""A later change of what a record is counted in, or of what of it can be computed, is listed."""

from typing import Any

from tapeline.results.changes.change import Change
from tests.results.changes.both_ways import Found, from_both
from tests.results.pnl.bookkeeping import Books

HOUR = 3_600.0
LATE = 300.0


def push(books: Books, at: float, kind: str, **body: Any) -> None:
    """Arrives at its own time."""
    books.received_at = at
    books.push((at, kind, body))


def order(books: Books, at: float, name: str, side: str, price: float, **more: Any) -> None:
    said = {"id": name, "symbol": "A-USD", "exchange": "x", "side": side, "size": 1}
    push(books, at, "spot-market", **{**said, "executionPrice": price, **more})


def lose(books: Books, **more: Any) -> None:
    order(books, 0.0, "in", "buy", 100, **more)
    order(books, 1.0, "out", "sell", 60, **more)


def backtest(books: Books, at: float, asset: str) -> None:
    books.received_at = at
    books.backtest({"quote_asset": asset})


def fields(found: Found) -> list[tuple[str, int, list[tuple[str, Any, Any]]]]:
    return [
        (one.about, one.seq, [(field.name, field.before, field.after) for field in one.fields])
        for one in found[0]
    ]


def both(found: Found) -> tuple[dict[str, float], dict[str, float]]:
    return found[1].first.by_currency, found[1].now.by_currency


def test_a_later_backtest_in_another_currency_is_listed(books: Books) -> None:
    lose(books, symbol="TICK")
    backtest(books, HOUR, "JPY")
    found = from_both(books, LATE)
    assert fields(found) == [("account", 3, [("own_currency", "USD", "JPY")])]
    assert (found[0][0].received_at, found[0][0].late_by) == (HOUR, HOUR)
    assert both(found) == ({"USD": -40}, {"JPY": -40})
    assert (found[1].first_currency, found[1].currency) == ("USD", "JPY")


def test_a_result_that_is_sent_again_counts_by_its_arrival(books: Books) -> None:
    backtest(books, 0.0, "JPY")
    lose(books, symbol="TICK")
    backtest(books, HOUR, "EUR")
    found = from_both(books, LATE)
    assert fields(found) == [("account", 4, [("own_currency", "JPY", "EUR")])]
    assert both(found) == ({"JPY": -40}, {"EUR": -40})


def test_a_backtest_before_the_first_order_is_no_change(books: Books) -> None:
    backtest(books, 0.0, "JPY")
    lose(books, symbol="TICK")
    found = from_both(books, LATE)
    assert found[0] == []
    assert both(found) == ({"JPY": -40}, {"JPY": -40})


def test_a_backtest_matters_only_where_something_counts_in_its_currency(books: Books) -> None:
    lose(books)
    backtest(books, HOUR, "JPY")
    assert from_both(books, LATE)[0] == []


def test_a_bare_ticker_that_moves_cash_to_another_currency_is_listed(books: Books) -> None:
    order(books, 0.0, "in", "buy", 100, symbol="A-EUR")
    push(books, 1.0, "cash", type="fee", amount=-40)
    order(books, HOUR, "tiny", "buy", 1, symbol="TICK", size=1e-6)
    found = from_both(books, LATE)
    assert ("account", 3, [("own_currency", "EUR", "USD")]) in fields(found)
    assert both(found)[0]["EUR"] == -40
    assert both(found)[1]["USD"] == -40


def test_a_declared_position_of_a_bare_ticker_moves_it_too(books: Books) -> None:
    order(books, 0.0, "in", "buy", 100, symbol="A-EUR")
    push(books, 1.0, "cash", type="fee", amount=-40)
    push(books, HOUR, "position", symbol="TICK", size=1, average_price=1)
    found = from_both(books, LATE)
    assert fields(found) == [("account", 3, [("own_currency", "EUR", "USD")])]


def test_the_currency_of_most_fills_that_becomes_another_one_is_listed(books: Books) -> None:
    lose(books)
    for number in range(3):
        order(books, HOUR + number, f"e{number}", "buy", 1, symbol="E-EUR", size=1e-6)
    found = from_both(books, LATE)
    assert fields(found) == [("account", 3, [("currency", "USD", "EUR")])]
    assert (found[1].first_currency, found[1].currency) == ("USD", "EUR")
    assert both(found)[0]["USD"] == both(found)[1]["USD"] == -40


def test_a_capital_that_is_set_later_is_listed(books: Books) -> None:
    lose(books)
    push(books, HOUR, "account-settings", capital={"amount": 100.0, "currency": "USD"})
    push(books, 2 * HOUR, "account-settings", capital={"amount": 9000.0, "currency": "USD"})
    assert fields(from_both(books, LATE)) == [
        ("account", 3, [("capital", None, "100.0 USD")]),
        ("account", 4, [("capital", "100.0 USD", "9,000.0 USD")]),
    ]


def short(books: Books) -> None:
    """A loss with a short position, which a model that is never short does not have."""
    order(books, 0.0, "in", "sell", 100)
    order(books, 1.0, "out", "buy", 140)


def test_positions_that_are_kept_otherwise_later_are_listed_and_not_first_reported(
    books: Books,
) -> None:
    short(books)
    push(books, HOUR, "account-settings", positions="long_only")
    found = from_both(books, LATE)
    assert fields(found) == [("account", 3, [("positions", "signed", "long_only")])]
    assert both(found) == ({"USD": -40}, {"USD": 0})


def test_positions_that_were_kept_so_from_the_beginning_are_as_first_reported(
    books: Books,
) -> None:
    push(books, 0.0, "account-settings", positions="long_only")
    short(books)
    push(books, HOUR, "account-settings", positions="long_only")
    assert fields(from_both(books, LATE)) == []
    assert both(from_both(books, LATE)) == ({"USD": 0}, {"USD": 0})
    push(books, 2 * HOUR, "account-settings", positions="signed")
    found = from_both(books, LATE)
    assert fields(found) == [("account", 5, [("positions", "long_only", "signed")])]
    assert both(found) == ({"USD": 0}, {"USD": -40})


def test_positions_that_are_said_to_be_signed_later_are_no_change(books: Books) -> None:
    short(books)
    push(books, HOUR, "account-settings", positions="signed")
    assert fields(from_both(books, LATE)) == []


def symbols(found: Found) -> list[Change]:
    return [one for one in found[0] if one.about == "symbol"]


def test_a_symbol_that_a_later_multiplier_leaves_out_is_listed(books: Books) -> None:
    lose(books)
    order(books, HOUR, "odd", "buy", 1, size=1e-6, multiplier=5)
    found = from_both(books, LATE)
    (one,) = found[0]
    assert (one.about, one.symbol, one.seq, one.late_by) == ("symbol", "A-USD", 3, HOUR)
    assert one.fields[0].after == "Its entries say different multipliers: 1 and 5."
    assert both(found) == ({"USD": -40}, {})


def test_a_symbol_that_a_later_fee_leaves_out_is_listed(books: Books) -> None:
    lose(books)
    order(books, HOUR, "odd", "buy", 1, size=1e-6, fee=1, fee_currency="XYZ")
    found = from_both(books, LATE)
    assert [(one.symbol, one.seq) for one in symbols(found)] == [("A-USD", 3)]
    assert both(found) == ({"USD": -40}, {})


def test_a_symbol_that_an_update_leaves_out_is_listed_with_the_update(books: Books) -> None:
    lose(books)
    push(books, HOUR, "update-trade", id="in", multiplier=5)
    found = from_both(books, LATE)
    assert [(one.about, one.seq) for one in found[0]] == [("order", 3), ("symbol", 3)]
    assert both(found) == ({"USD": -40}, {})


def test_a_bare_ticker_that_a_later_backtest_leaves_out_is_listed(books: Books) -> None:
    lose(books, symbol="TICK", fee_currency="USD")
    backtest(books, HOUR, "JPY")
    found = from_both(books, LATE)
    assert [one.about for one in found[0]] == ["account"]
    assert both(found)[0] == {"USD": -40}


def test_a_symbol_that_was_never_computed_is_no_change(books: Books) -> None:
    order(books, 0.0, "in", "buy", 100)
    order(books, 1.0, "odd", "buy", 1, multiplier=5)
    order(books, HOUR, "out", "sell", 60)
    found = from_both(books, LATE)
    assert found[0] == []
    assert both(found) == ({}, {})


def test_an_order_that_is_renamed_counts_as_first_reported_under_its_first_symbol(
    books: Books,
) -> None:
    lose(books)
    push(books, 2.0, "mark-price", symbol="B-USD", price=500)
    push(books, HOUR, "update-trade", id="in", symbol="B-USD")
    push(books, HOUR, "update-trade", id="out", symbol="C-USD")
    found = from_both(books, LATE)
    assert len(found[0]) == 2
    assert both(found)[0] == {"USD": -40}


def test_a_symbol_that_is_renamed_to_another_currency_keeps_its_first_figure(books: Books) -> None:
    lose(books)
    for name in ("in", "out"):
        push(books, HOUR, "update-trade", id=name, symbol="TICK")
    assert both(from_both(books, LATE))[0] == {"USD": -40}
    backtest(books, 2 * HOUR, "JPY")
    assert both(from_both(books, LATE))[0] == {"USD": -40}
