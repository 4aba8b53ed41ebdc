"""Money that is no order: it counts once, by type and currency, and not as realized profit."""

from typing import Any

from tests.results.pnl.bookkeeping import Books
from tests.results.pnl.test_profit_and_loss import MARKET, order


def cash(kind: str, amount: float, **more: Any) -> dict[str, Any]:
    return {"type": kind, "amount": amount, **more}


def test_cash_is_shown_by_type_and_counts_in_the_series_and_the_total(books: Books) -> None:
    books.push((1, MARKET, order(1, price=100.0, fee=1.0)))
    books.push((2, "cash", cash("funding", -0.25, symbol="BTC-USD")))
    books.push((3, "cash", cash("funding", 0.75, symbol="BTC-USD")), (4, "cash", cash("fee", -2.0)))
    found = books.pnl()
    assert (found.realized, found.unrealized, found.total) == (-1, 0, -2.5)
    assert found.cash == {"fee": -2.0, "funding": 0.5}
    assert found.positions[0].cash == {"funding": 0.5}
    series = [(one.time, one.value) for one in found.series]
    assert series == [(1, -1), (2, -1.25), (3, -0.5), (4, -2.5)]


def test_deposits_and_withdrawals_are_flows_and_no_profit(books: Books) -> None:
    books.push((1, "cash", cash("deposit", 1000.0)), (2, "cash", cash("withdrawal", -100.0)))
    found = books.pnl()
    assert (found.currency, found.total, found.cash) == ("USD", 0, {})
    assert found.by_currency["USD"].flows == {"deposit": 1000, "withdrawal": -100}
    assert found.series == []


def test_cash_counts_in_its_own_currency(books: Books) -> None:
    books.push((1, "cash", cash("dividend", 5.0, symbol="AAPL", currency="EUR")))
    books.push((2, "cash", cash("interest", 7.0, symbol="BTC-USDT")))
    found = books.pnl()
    assert {name: one.total for name, one in found.by_currency.items()} == {"EUR": 5, "USDT": 7}


def test_the_currency_that_cash_names_wins_over_that_of_its_symbol(books: Books) -> None:
    books.push((1, "cash", cash("rebate", 5.0, symbol="BTC-USD", currency="EUR")))
    assert {name: one.total for name, one in books.pnl().by_currency.items()} == {"EUR": 5}


def test_the_same_id_again_is_a_retry_and_other_content_replaces_by_time(books: Books) -> None:
    books.push(
        (5, "cash", cash("funding", 1.0, id="f1")), (6, "cash", cash("funding", 1.0, id="f1"))
    )
    assert books.pnl().total == 1
    books.push((4, "cash", cash("funding", 9.0, id="f1")))
    assert books.pnl().total == 1
    books.push((7, "cash", cash("rebate", 3.0, id="f1", symbol="BTC-USD")))
    found = books.pnl()
    assert (found.cash, [(one.time, one.value) for one in found.series]) == (
        {"rebate": 3},
        [(7, 3)],
    )


def test_without_an_id_each_event_counts(books: Books) -> None:
    books.push((1, "cash", cash("funding", 1.0)), (1, "cash", cash("funding", 1.0)))
    assert books.pnl().total == 2


def in_euros(number: int, **more: Any) -> Any:
    return order(number, symbol="SAP-EUR", price=100.0, **more)


def currencies(books: Books) -> dict[str, float]:
    return {name: one.total for name, one in books.pnl().by_currency.items()}


def test_cash_that_names_no_currency_is_in_the_one_that_the_model_trades_in(books: Books) -> None:
    """Whatever comes first: the fill, the cash or a fill that makes another currency the main."""
    books.push((2, "cash", cash("interest", 2.0)))
    assert currencies(books) == {"USD": 2}, "nothing says otherwise yet"
    books.push((1, MARKET, in_euros(1)))
    found = books.pnl()
    assert (found.currency, found.total, found.cash) == ("EUR", 2, {"interest": 2})
    assert [(one.time, one.value) for one in found.series] == [(1, 0), (2, 2)]
    books.push((3, MARKET, order(2, price=1.0)), (4, MARKET, order(3, price=1.0)))
    assert (books.pnl().currency, currencies(books)) == ("USD", {"EUR": 0, "USD": 2})
    books.push((5, MARKET, in_euros(4)))
    assert currencies(books) == {"EUR": 2, "USD": 0}, "of as many fills, the first by name"


def test_the_quote_asset_of_a_backtest_is_the_currency_of_the_model(books: Books) -> None:
    books.push((1, MARKET, in_euros(1)), (2, "cash", cash("interest", 2.0)))
    books.backtest({"quote_asset": "CHF"})
    assert currencies(books) == {"CHF": 2, "EUR": 0}


def test_bare_tickers_stay_in_dollars_and_cash_with_them(books: Books) -> None:
    """Both are in the model's currency, which cannot be two."""
    books.push((1, MARKET, in_euros(1)), (2, MARKET, in_euros(2)))
    books.push((3, MARKET, order(3, symbol="AAPL", price=7.0)), (4, "cash", cash("fee", -1.0)))
    assert currencies(books) == {"EUR": 0, "USD": -1}


def test_before_the_first_fill_cash_is_in_the_currency_of_the_capital(books: Books) -> None:
    said = {"capital": {"amount": 1000.0, "currency": "EUR"}}
    books.push((1, "account-settings", said), (2, "cash", cash("deposit", 500.0)))
    assert books.pnl().by_currency["EUR"].flows == {"deposit": 500}
