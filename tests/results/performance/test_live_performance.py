"""Turnover, time in market and round trips of a live model, with figures computed by hand."""

from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, insert

from tapeline.ids import new_id
from tapeline.results.charts import running
from tapeline.results.performance import live_metrics
from tapeline.results.performance.evidence import evidence
from tapeline.results.performance.live_metrics import Measures
from tapeline.results.performance.trip_answers import Group
from tapeline.results.pnl import summary
from tapeline.store.tables.runs import runs, versions
from tests.results.metrics.series import computed
from tests.results.pnl.bookkeeping import Books

DAY = 86_400.0
START = 20_000 * DAY
CAPITAL = {"type": "deposit", "amount": 1000.0}


def push(books: Books, day: float, kind: str, **body: Any) -> None:
    books.push((START + day * DAY, kind, body))


def order(
    books: Books, day: float, side: str, size: float, price: float | None = None, **more: Any
) -> None:
    priced = {} if price is None else {"executionPrice": price}
    said = {"id": new_id(), "symbol": "A-USD", "exchange": "x", "side": side, "size": size}
    push(books, day, "spot-market", **said | priced | more)


def run(books: Books, number: int, day: float | None, kind: str = "live") -> None:
    """A run of a new version, which started on a day; None: it never started."""
    version = {
        "id": new_id(), "model_id": books.model, "number": number, "description": "",
        "archive": "a", "size": 1, "manifest": {}, "plan": "nano", "python_version": "3.11",
        "created_at": START, "created_by": "ada",
    }  # fmt: skip
    one = {
        "id": new_id(), "model_id": books.model, "version_id": version["id"], "kind": kind,
        "state": "exited", "desired": "stopped", "reason": "", "plan": "nano", "memory_mb": 1,
        "cpu_milli": 1, "python_version": "3.11", "description": "", "launches": 1, "restarts": 0,
        "confinement": "", "journal": 0, "refused": 0, "created_at": START, "created_by": "ada",
        "started_at": None if day is None else START + day * DAY,
    }  # fmt: skip

    def store(connection: Connection) -> None:
        connection.execute(insert(versions).values(**version))
        connection.execute(insert(runs).values(**one))

    books.store.write_now(store)


def exposure(books: Books) -> tuple[list[float], list[float]]:
    """Gross and net, after each entry."""
    books.keep()
    said = books.store.read_now(summary.own_of, books.tape)
    steps = books.store.read_now(evidence, books.tape, said).steps
    return running.gross(steps).tolist(), running.net(steps).tolist()


def measured(books: Books) -> Measures:
    books.keep()
    return books.store.read_now(live_metrics.measured, books.tape, books.model, None)


def trade(books: Books) -> None:
    """Account values, at noon of days 0 to 3: 999, 1018, 1518, 1495; day 5: 1513; days 8 to 10:
    1513, 1613, 1713."""
    push(books, 0.5, "cash", **CAPITAL)
    order(books, 0.5, "buy", 2, 100, fee=1.0)
    order(books, 1.5, "sell", 1, 110, fee=1.0)  # 10 realized, 10 unrealized
    push(books, 2.5, "cash", type="deposit", amount=500.0)
    order(books, 3.5, "sell", 3, 90, fee=3.0)  # closes 1 at a loss of 10, and opens a short of 2
    order(books, 5.5, "buy", 2, 80, fee=2.0)  # closes it with a gain of 20
    order(books, 8.5, "buy", 2, 2, symbol="F-USD", multiplier=50.0)
    push(books, 9.5, "mark-price", symbol="F-USD", price=3.0)
    order(books, 10.5, "sell", 1, 4, symbol="F-USD", multiplier=50.0)


def test_turnover_is_what_was_traded_over_the_mean_account_value(books: Books) -> None:
    trade(books)
    found = measured(books).metrics
    traded = 200 + 110 + 270 + 160 + 2 * 2 * 50 + 4 * 50
    mean = (999 + 1018 + 1518 + 2 * 1495 + 4 * 1513 + 1613 + 1713) / 11  # of every day
    assert found["turnover"].value == pytest.approx(traded / mean)
    days = 10 + 1 / DAY  # an account begins a second before its first entry
    assert found["turnover_yearly"].value == pytest.approx(traded / mean * 365.25 / days)
    assert (found["trades"].value, found["round_trips"].value) == (6, 4)
    assert found["fees"].value == 7


def test_days_in_cash_count_as_days_of_the_account(books: Books) -> None:
    """As in a backtest that reports the same account value on every day."""
    push(books, 0.5, "cash", **CAPITAL)
    values = [1000.0]
    for day in range(1, 60):
        if day % 5 == 1:
            order(books, day + 0.1, "buy", 1, 100)
        if day % 5 in (1, 2, 3):
            gained = (day * 7) % 11 - 4.0
            values.append(values[-1] + gained)
            push(books, day + 0.2, "cash", type="interest", amount=gained)
        else:  # in cash, and nothing is reported
            values.append(values[-1])
        if day % 5 == 3:
            order(books, day + 0.3, "sell", 1, 100)
    found = measured(books).metrics
    last = 59 - next(place for place in range(60) if values[59 - place] != values[58 - place])
    times = START + DAY * (np.arange(last + 1) + 0.5)
    expected = computed(times, np.array(values[: last + 1]))
    for name in ("cagr", "sharpe", "sortino", "volatility", "exposure_days", "max_drawdown"):
        assert found[name].value == pytest.approx(expected[name].value), name
    assert found["exposure_days"].value == pytest.approx(0.6, abs=0.05)


def test_time_in_market_is_long_or_short_and_still_open(books: Books) -> None:
    trade(books)
    held = (5.5 - 0.5) + (10.5 - 8.5)
    found = measured(books).metrics["exposure"]
    assert found.value == pytest.approx(held * DAY / (10 * DAY + 1))


def test_two_symbols_held_at_once_are_one_time_in_market(books: Books) -> None:
    order(books, 0.5, "buy", 1, 100)
    order(books, 1.5, "sell", 1, 50, symbol="B-USD")
    order(books, 2.5, "sell", 1, 101)
    order(books, 3.5, "buy", 1, 49, symbol="B-USD")
    push(books, 4.5, "cash", type="interest", amount=1.0)
    found = measured(books).metrics
    assert found["exposure"].value == pytest.approx(3 * DAY / (4 * DAY + 1))
    assert found["turnover"].value is None  # nobody said how large the account is


def test_exposure_is_gross_without_the_sign_and_net_with_it(books: Books) -> None:
    order(books, 0.5, "buy", 1, 100)
    order(books, 1.5, "sell", 2, 30, symbol="B-USD")
    push(books, 2.5, "mark-price", symbol="B-USD", price=40.0)
    order(books, 3.5, "sell", 3, 50)  # 1 long becomes 2 short
    order(books, 4.5, "buy", 2, 20, symbol="B-USD")
    assert exposure(books) == ([100, 160, 180, 180, 100], [100, 40, 20, -180, -100])


def test_a_declared_position_is_in_the_market_and_no_trade(books: Books) -> None:
    push(books, 0.5, "cash", **CAPITAL)
    push(books, 0.5, "position", symbol="A-USD", size=-2.0, average_price=100.0)
    push(books, 0.5, "mark-price", symbol="A-USD", price=90.0)  # 1020
    order(books, 2.5, "buy", 2, 80)  # 1040
    push(books, 4.5, "cash", type="funding", amount=-20.0)  # 1020
    found = measured(books)
    assert found.metrics["exposure"].value == pytest.approx(2 * DAY / (4 * DAY + 1))
    # On Friday, Sunday and Tuesday, and on the Monday between them.
    assert found.metrics["turnover"].value == pytest.approx(160 / ((1020 + 2 * 1040 + 1020) / 4))
    assert (found.metrics["trades"].value, found.trips.profit) == (1, 40)


def test_round_trips_belong_to_the_version_that_ran_live_when_they_were_entered(
    books: Books,
) -> None:
    run(books, 1, 0.25)
    run(books, 2, 3.5)  # the very moment of an order: the version that sends it runs
    run(books, 3, 0.4, kind="backtest")
    run(books, 4, None)
    run(books, 10, 8)
    trade(books)
    assert measured(books).trips.versions == [
        Group(key="1", round_trips=2, profit=8.5 - 11.5, fees=3, win_rate=0.5,
              average_seconds=2 * DAY),
        Group(key="2", round_trips=1, profit=16, fees=4, win_rate=1, average_seconds=2 * DAY),
        Group(key="10", round_trips=1, profit=100, fees=0, win_rate=1, average_seconds=2 * DAY),
    ]  # fmt: skip


def test_round_trips_from_before_the_first_run_belong_to_no_version(books: Books) -> None:
    order(books, 0.5, "buy", 1, 100)
    order(books, 1.5, "sell", 1, 90)
    run(books, 1, 1)
    (group,) = measured(books).trips.versions
    assert (group.key, group.profit, group.win_rate) == ("", -10, 0)


def test_an_order_without_a_price_counts_in_no_round_trip(books: Books) -> None:
    """As in the books, where it counts nowhere."""
    order(books, 0.5, "buy", 1)
    order(books, 1.5, "buy", 1, 100)
    order(books, 2.5, "sell", 1, 90)
    found = measured(books)
    assert (found.trips.count, found.trips.profit, found.trips.open) == (1, -10, [])
    assert found.metrics["win_rate_trades"].value == 0
    assert books.pnl().realized == -10
