"""Trades that no sum of money may have: the rules of the books, for the trades of a backtest."""

from typing import Any

import pytest

from tapeline.results.metrics import all_metrics, not_computed
from tapeline.results.metrics.account import Account, ordered
from tapeline.results.metrics.metric import Subject
from tapeline.results.metrics.report_fields import Measured
from tapeline.results.metrics.round_trips import Matched
from tests.results.metrics.series import every_day
from tests.results.metrics.test_round_trips import buy, matched, sell

Pair = tuple[dict[str, Any], dict[str, Any]]


def computed(found: Matched) -> dict[str, Measured]:
    return all_metrics.compute(Subject(Account(ordered(every_day(3), [1.0, 2.0, 3.0])), found))


def one_of(symbol: str, gained: float, **more: Any) -> Pair:
    return (
        buy(1, 2_000, symbol=symbol, **more),
        sell(1, 2_000 + gained, symbol=symbol, **more),
    )


def in_dollars(*trades: dict[str, Any]) -> Matched:
    return matched(*trades, quote_asset="usd ")


def test_amounts_in_another_currency_are_in_no_sum_of_money() -> None:
    found = in_dollars(*one_of("BTC/USD", 10), *one_of("BTC/JPY", -1_000), *one_of("GOLD", 30))
    metrics = computed(found)
    assert metrics["expectancy"].value == 20
    assert (metrics["worst_trade"].value, metrics["win_rate_trades"].value) == (10, 1)
    assert (metrics["trades"].value, metrics["round_trips"].value) == (6, 3)
    assert (found.left_out, found.not_computed) == (2, {"BTC/JPY": not_computed.ELSEWHERE})
    assert [trip.profit for trip in found.trips] == [10, None, 30]
    assert metrics["turnover"].value is None
    assert (metrics["turnover"].reason or "").startswith("2 of 6 trades count in no sum of money")
    assert metrics["fees"].value == 0


def test_without_a_quote_asset_all_trades_count() -> None:
    assert matched(*one_of("BTC/JPY", -1_000)).trips[0].profit == -1_000


def test_nothing_to_count_says_why() -> None:
    reason = computed(in_dollars(*one_of("BTC/JPY", 10)))["expectancy"].reason
    assert (reason or "").startswith("2 of 2 trades count in no sum of money")


def test_fees_in_several_currencies_are_not_added_up() -> None:
    found = in_dollars(
        *one_of("ETH-USD", 5, fee=0.01, fee_currency="BNB"), *one_of("BTC/JPY", 9, fee=1_000)
    )
    assert (found.fees, computed(found)["fees"].value, found.left_out) == (None, None, 4)
    assert found.not_computed["ETH-USD"] == not_computed.FOREIGN_FEE
    assert [(trip.fees, trip.profit) for trip in found.trips] == [(None, None)] * 2


@pytest.mark.parametrize(
    ("symbol", "fee", "currency", "all_fees"),
    [
        ("ETH-USD", 1, "usd", 2),
        ("GOLD", 1, "USD", 2),
        ("ETH-USD", 0, "BNB", 0),
        ("ETH-USD", 0.001, "ETH", 2 + 2.01),
        ("ETH-USD", 1, None, 2),
        ("ETH-USD", 1, 7, 2),
    ],
)
def test_a_fee_that_can_be_added_is(
    symbol: str, fee: float, currency: Any, all_fees: float
) -> None:
    found = in_dollars(*one_of(symbol, 10, fee=fee, fee_currency=currency))
    assert found.fees == pytest.approx(all_fees)
    assert found.trips[0].profit == pytest.approx(10 - all_fees)


@pytest.mark.parametrize("inverse", [True, "true"])
def test_an_inverse_contract_is_not_computed(inverse: Any) -> None:
    found = in_dollars(
        buy(100, 50_000, inverse=inverse), sell(100, 60_000, inverse=inverse), buy(1, 1)
    )
    assert computed(found)["expectancy"].value is None
    assert [trip.reason for trip in found.trips] == [not_computed.INVERSE]
    assert in_dollars(*one_of("A", 1, inverse=False)).left_out == 0


@pytest.mark.parametrize("other", [5, None])
def test_trades_that_say_different_multipliers_are_not_computed(other: Any) -> None:
    found = in_dollars(buy(1, 10, multiplier=50), sell(1, 11, multiplier=other))
    assert [(trip.profit, trip.reason) for trip in found.trips] == [
        (None, not_computed.MULTIPLIERS)
    ]
    assert in_dollars(*one_of("A", 1, multiplier=1), *one_of("A", 1)).left_out == 0


@pytest.mark.parametrize("status", ["new", "OPEN", "partially_filled"])
def test_what_waits_with_nothing_filled_is_no_trade(status: str) -> None:
    found = matched(
        buy(1, 10, status=status, filled_size=0), sell(1, 12, status=status, filled_size="0.0")
    )
    assert (found.trades, found.trips, found.open) == (0, [], [])


@pytest.mark.parametrize("more", [{}, {"status": "done"}, {"status": "Filled"}, {"status": 3}])
def test_a_zero_beside_what_is_done_is_no_statement(more: dict[str, Any]) -> None:
    assert matched(buy(4, 10, filled_size=0, **more)).open[0].size == 4


def test_what_was_filled_before_a_cancel_stays() -> None:
    found = matched(
        buy(10, 10, status="canceled", filled_size=4),
        sell(4, 12),
        buy(1, 1, status="Expired", filled_size=0),
        buy(1, 1, status="rejected"),
    )
    assert [(trip.size, trip.profit) for trip in found.trips] == [(4, 8)]
    assert (found.open, found.trades) == ([], 2)
