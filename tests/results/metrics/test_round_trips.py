"""Trades matched into round trips: first in, first out, nothing invented, nothing lost."""

import zlib
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapeline.results.metrics import all_metrics
from tapeline.results.metrics.account import Account, ordered
from tapeline.results.metrics.metric import Subject
from tapeline.results.metrics.round_trips import Matched, match
from tapeline.results.metrics.trades import Trade, read
from tests.examples import some
from tests.results.metrics.series import DAY, every_day


def matched(*trades: dict[str, Any], long_only: bool = False, quote_asset: str = "") -> Matched:
    sent = [{"symbol": "A", "time": place, **trade} for place, trade in enumerate(trades)]
    packed = [zlib.compress(msgspec.json.encode(sent))]
    return match(read(packed), long_only=long_only, quote_asset=quote_asset)


def buy(size: Any, price: Any = None, **more: Any) -> dict[str, Any]:
    return {"side": "buy", "size": size, "price": price, **more}


def sell(size: Any, price: Any = None, **more: Any) -> dict[str, Any]:
    return {"side": "SELL", "size": size, "price": price, **more}


def test_what_was_bought_first_is_sold_first() -> None:
    found = matched(buy(2, 10, fee=2), buy(1, 20), sell(2.5, 30, fee=5), sell(0.5, 5))
    assert [(trip.size, trip.entry_price, trip.exit_price) for trip in found.trips] == [
        (2, 10, 30),
        (0.5, 20, 30),
        (0.5, 20, 5),
    ]
    # 2 * 20, less the whole fee of the first buy and four fifths of the first sell's.
    assert [trip.profit for trip in found.trips] == pytest.approx([40 - 2 - 4, 5 - 1, -7.5])
    assert [trip.profit_percent for trip in found.trips] == pytest.approx([34 / 20, 0.4, -0.75])
    assert [(trip.entry_index, trip.exit_index) for trip in found.trips] == [(0, 2), (1, 2), (1, 3)]
    assert (found.open, found.oversold, found.fees, found.trades) == ([], 0, 7, 4)
    assert found.traded == pytest.approx(20 + 20 + 75 + 2.5)


def test_symbols_do_not_mix_and_what_is_left_is_open() -> None:
    found = matched(buy(1, 10), buy(3, 5, symbol="B"), sell(1, 6, symbol="B"))
    assert [(trip.symbol, trip.profit) for trip in found.trips] == [("B", 1)]
    assert [(one.symbol, one.size) for one in found.open] == [("A", 1), ("B", 2)]


def test_the_fees_of_what_is_still_open_are_apart_from_those_of_round_trips() -> None:
    found = matched(buy(4, 10, fee=4), sell(1, 20, fee=2), buy(1, 5, symbol="B", fee=7))
    assert [(trip.fees, trip.profit) for trip in found.trips] == [(1 + 2, 10 - 3)]
    assert [(one.symbol, one.fees) for one in found.open] == [("A", 3), ("B", 7)]
    assert found.fees == 13


def test_a_sell_of_more_than_is_held_is_a_warning_and_no_short_position() -> None:
    found = matched(sell(1, 10), buy(1, 10), sell(2, 12), long_only=True)
    assert [trip.profit for trip in found.trips] == [2]
    assert (found.oversold, found.open) == (2, [])


def test_the_fee_of_what_was_sold_without_being_held_is_the_round_trips_too() -> None:
    found = matched(buy(1, 10), sell(2, 12, fee=3), long_only=True)
    assert [(trip.fees, trip.profit) for trip in found.trips] == [(3, 2 - 3)]
    assert found.fees == 3


def test_a_declared_short_position_is_bought_back_where_no_sell_opens_one() -> None:
    declared = Trade(0, 0.0, "A", "sell", 2.0, 100.0, 0.0, is_declared=True)
    bought = Trade(1, 1.0, "A", "buy", 2.0, 90.0, 1.0)
    found = match([declared, bought], long_only=True)
    assert [(trip.side, trip.size, trip.profit) for trip in found.trips] == [("short", 2, 19)]
    assert (found.open, found.oversold, found.trades) == ([], 0, 1)


def test_a_short_position_is_a_round_trip_too_and_a_trade_may_cross_zero() -> None:
    found = matched(sell(2, 10, fee=2), buy(3, 7, fee=3), sell(1, 8, multiplier=1))
    assert [(trip.side, trip.size, trip.profit) for trip in found.trips] == [
        ("short", 2, 2 * 3 - 2 - 2),
        ("long", 1, 1 - 1),
    ]
    assert (found.oversold, found.open) == (0, [])
    (left,) = matched(sell(2, 10)).open
    assert (left.side, left.size) == ("short", 2)


def test_a_multiplier_scales_the_profit() -> None:
    found = matched(buy(2, 100, multiplier=50), sell(2, 101, multiplier=50))
    assert [(trip.profit, trip.profit_percent) for trip in found.trips] == [(100, 0.01)]
    assert found.traded == 20_100


def test_a_trade_without_its_price_is_matched_and_has_a_reason() -> None:
    found = matched(buy(1), sell(1, 12), buy(1, 10), sell(1, 12))
    first, second = found.trips
    assert (first.entry_time, first.exit_time, first.profit) == (0, 1, None)
    assert first.reason == "A trade came without its price."
    assert (second.profit, second.reason) == (2, None)
    assert (found.unpriced, found.traded) == (1, None)
    account = Account(ordered(every_day(3), [1.0, 2.0, 3.0]))
    computed = all_metrics.compute(Subject(account, found))
    assert computed["win_rate_trades"].reason == "1 trades came without their price."
    assert computed["round_trips"].value == 2


def test_other_spellings_and_texts_are_understood() -> None:
    found = matched(
        buy("2", "10"),
        sell(None, None, filled_size=1, executionPrice=20, fees="0.5"),
        sell(None, 30, funds=30),
    )
    assert [(trip.size, trip.exit_price, trip.profit) for trip in found.trips] == [
        (1, 20, 9.5),
        (1, 30, 20),
    ]


def test_trades_that_never_were_or_say_too_little_are_left_out_and_counted() -> None:
    odd: list[Any] = [None, "x", True, -1, 0, {}, 10**400]
    found = matched(
        buy(1, 10, status="canceled"),
        buy(1, 10, status="Rejected"),
        {"side": "hold", "size": 1},
        *(buy(one, 10) for one in odd),
        buy(1, 10),
        sell(1, 11),
    )
    assert (found.trades, found.sideless, found.unsized) == (10, 1, len(odd))
    assert [trip.profit for trip in found.trips] == [1]


def test_time_decides_the_order_and_ties_are_as_they_were_sent() -> None:
    found = matched(sell(1, 30, time=5), buy(1, 10, time=1), buy(1, 20, time=1))
    assert [(trip.entry_price, trip.exit_index) for trip in found.trips] == [(10, 0)]


def test_dust_does_not_stay_in_a_position() -> None:
    trades = (*(buy(0.1, 1) for _ in range(3)), sell(0.3, 1), sell(0.1, 1))
    found = matched(*trades, long_only=True)
    assert (len(found.trips), found.open, found.oversold) == (3, [], 1)
    assert [one.size for one in matched(*trades).open] == [0.1]


def test_metrics_of_trades_by_hand() -> None:
    found = matched(
        buy(1, 100, time=0, fee=1),
        sell(1, 120, time=DAY),
        buy(1, 100, time=2 * DAY),
        sell(1, 90, time=4 * DAY),
        buy(1, 100, time=4 * DAY),
        sell(1, 105, time=5 * DAY),
        buy(1, 50, time=8 * DAY),
    )
    account = Account(ordered([DAY * day for day in range(11)], [1_000.0] * 10 + [1_014.0]))
    ours = {
        name: one.value for name, one in all_metrics.compute(Subject(account, found)).items()
    }  # profits 19, -10, 5
    assert (ours["trades"], ours["round_trips"], ours["fees"]) == (7, 3, 1)
    assert ours["trades_per_day"] == pytest.approx(0.7)
    assert ours["win_rate_trades"] == pytest.approx(2 / 3)
    assert ours["profit_factor"] == pytest.approx(2.4)
    assert ours["payoff"] == pytest.approx(1.2)
    assert ours["expectancy"] == pytest.approx(14 / 3)
    assert ours["expectancy_percent"] == pytest.approx((0.19 - 0.1 + 0.05) / 3)
    assert ours["kelly_trades"] == pytest.approx((1.2 * 2 / 3 - 1 / 3) / 1.2)
    assert (ours["best_trade"], ours["worst_trade"]) == (19, -10)
    assert (ours["longest_winning_trades"], ours["longest_losing_trades"]) == (1, 1)
    assert ours["average_holding_days"] == pytest.approx(4 / 3)
    assert ours["exposure"] == pytest.approx((1 + 3 + 2) / 10)
    average = (10 * 1_000 + 1_014) / 11
    assert ours["turnover"] == pytest.approx((100 + 120 + 100 + 90 + 100 + 105 + 50) / average)
    assert ours["turnover_yearly"] == pytest.approx((ours["turnover"] or 0) * 36.525)


@settings(max_examples=some(100), deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["buy", "sell"]), st.integers(1, 9), st.integers(1, 99)),
        max_size=60,
    )
)
def test_money_is_neither_made_nor_lost_by_matching(trades: list[tuple[str, int, int]]) -> None:
    """What the closed trips earned is what was received for them less what was paid for them."""
    found = matched(*({"side": s, "size": n, "price": p} for s, n, p in trades))
    assert all(trip.entry_time <= trip.exit_time for trip in found.trips)
    way = {"long": 1, "short": -1}
    held = sum(n if s == "buy" else -n for s, n, _ in trades)
    assert held == pytest.approx(sum(way[one.side] * one.size for one in found.open))
    received = sum(n * p if s == "sell" else -n * p for s, n, p in trades)
    left = sum(way[one.side] * one.size * (one.entry_price or 0) for one in found.open)
    assert sum(trip.profit or 0 for trip in found.trips) == pytest.approx(received + left)
