"""Limits on an account: reached by what a model reports, and left again; flows and late reports
are neither losses nor peaks."""

import time

import pytest

from tests.conftest import on_both
from tests.pushing import Model
from tests.waiting import wait_for
from tests.watch.conditions.asking import DAY, Watcher, about, cash, fund, mark, order, trade


@pytest.fixture
def now() -> float:
    """Noon, so that a day has a morning; of yesterday: what is dated ahead counts from its
    arrival."""
    return (time.time() // DAY - 1) * DAY + 12 * 3600.0


def test_a_drawdown_fires_in_percent_and_in_money_and_is_over(
    model: Model, watcher: Watcher, now: float
) -> None:
    fund(model, 1_000)
    trade(model, now - 3 * DAY, order(1, 100))
    mark(model, now - 2 * DAY, 300)  # 1,200
    mark(model, now - DAY, 180)  # 1,080: 10 % below
    found = watcher.of_model(model, "drawdown", limit=10, now=now)
    assert found.holds is True
    assert found.value == about(10)
    assert "10.00 % below its peak" in found.said
    assert watcher.of_model(model, "drawdown", limit=10.01, now=now).holds is False
    money = watcher.of_model(model, "drawdown", limit=120, unit="money", now=now)
    assert (money.holds, money.value) == (True, 120)
    mark(model, now, 299)
    assert watcher.of_model(model, "drawdown", limit=10, now=now).holds is False


def test_flows_are_no_drawdown_and_no_profit(model: Model, watcher: Watcher, now: float) -> None:
    fund(model, 1_000)
    trade(model, now - 3 * DAY, order(1, 100))
    cash(model, now - 2 * DAY, "deposit", 9_000)
    cash(model, now - DAY, "withdrawal", -8_000)
    for name in ("drawdown", "loss-of-day", "loss-of-week", "profit-target"):
        found = watcher.of_model(model, name, limit=1, now=now)
        assert (found.holds, found.value) == (False, about(0, 1e-9)), name
    mark(model, now, 300)  # 200 on 2,000: 10 %
    assert watcher.of_model(model, "profit-target", limit=10, now=now).holds is True
    found = watcher.of_model(model, "account-below", limit=2_200.01, now=now)
    assert (found.holds, found.value) == (True, about(2_200))


def test_the_loss_of_a_day_ends_with_the_day(model: Model, watcher: Watcher, now: float) -> None:
    fund(model, 1_000)
    trade(model, now - 10 * DAY, order(1, 500))
    mark(model, now - DAY, 600)
    mark(model, now, 490)  # from 1,100 to 990
    found = watcher.of_model(model, "loss-of-day", limit=10, now=now)
    assert (found.holds, found.value) == (True, about(10))
    assert found.look_again == now // DAY * DAY + DAY
    money = watcher.of_model(model, "loss-of-day", limit=110.01, unit="money", now=now)
    assert (money.holds, money.value) == (False, about(110))
    tomorrow = watcher.of_model(model, "loss-of-day", limit=10, now=now + DAY)
    assert (tomorrow.holds, tomorrow.value) == (False, 0)
    next_week = watcher.of_model(model, "loss-of-week", limit=0.1, now=now + 8 * DAY)
    assert (next_week.holds, next_week.value) == (False, 0)


def test_what_is_reported_late_counts_at_its_own_time(
    model: Model, watcher: Watcher, now: float
) -> None:
    fund(model, 1_000)
    trade(model, now - 20 * DAY, order(1, 100))
    mark(model, now - 3600, 100)
    cash(model, now - 15 * DAY, "fee", -400)  # arrives now
    assert watcher.of_model(model, "loss-of-day", limit=1, now=now).value == about(0)
    assert watcher.of_model(model, "loss-of-week", limit=1, now=now).value == about(0)
    found = watcher.of_model(model, "drawdown", limit=40, now=now)
    assert (found.holds, found.value) == (True, about(40))


def test_without_a_capital_percent_is_unknown_and_money_is_not(
    model: Model, watcher: Watcher, now: float
) -> None:
    assert watcher.of_model(model, "drawdown", limit=1).said == "It has not reported anything yet."
    trade(model, now - DAY, order(1, 100))
    mark(model, now, 60)
    found = watcher.of_model(model, "drawdown", limit=1, now=now)
    assert found.holds is None
    assert found.said.startswith("No capital is known.")
    money = watcher.of_model(model, "drawdown", limit=40, unit="money", now=now)
    assert (money.holds, money.value) == (True, 40)
    below = watcher.of_model(model, "account-below", limit=1, now=now)
    assert below.holds is None


def test_several_currencies_and_ruin_are_unknown(
    model: Model, watcher: Watcher, now: float
) -> None:
    fund(model, 1_000)
    trade(model, now - DAY, order(1, 2_000))
    mark(model, now, 900)
    found = watcher.of_model(model, "drawdown", limit=1, now=now)
    assert (found.holds, found.said[:17]) == (None, "The account value")
    trade(model, now, order(2, 10, symbol="ETH-EUR"))
    found = watcher.of_model(model, "drawdown", limit=1, unit="money", now=now)
    assert found.holds is None
    assert "in EUR too" in found.said


def test_a_value_that_orders_do_not_explain(model: Model, watcher: Watcher, now: float) -> None:
    fund(model, 1_000)
    trade(model, now - DAY, order(1, 100))
    assert watcher.of_model(model, "account-unexplained", limit=1, now=now).holds is None
    value = {"value": 950}
    model.push("/v1/live/account-value", value, headers={"time": repr(now - 60)})
    found = watcher.of_model(model, "account-unexplained", limit=5, now=now)
    assert (found.holds, found.value) == (True, about(100 * 50 / 950))
    money = watcher.of_model(model, "account-unexplained", limit=50.01, unit="money", now=now)
    assert (money.holds, money.value) == (False, about(50))
    cash(model, now - 120, "fee", -50)
    assert watcher.of_model(model, "account-unexplained", limit=5, now=now).holds is False


def test_a_project_counts_as_one_account(model: Model, watcher: Watcher, now: float) -> None:
    assert watcher.of_project(model, "drawdown", limit=10, now=now).holds is None
    fund(model, 1_000)
    trade(model, now - 3 * DAY, order(1, 100))
    mark(model, now - 2 * DAY, 300)
    mark(model, now, 180)
    # It is not computed anew at once: the time that it took decides when.
    wait_for(lambda: watcher.of_project(model, "drawdown", limit=10, now=now).holds is not None)
    found = watcher.of_project(model, "drawdown", limit=10, now=now)
    assert (found.holds, found.value) == (True, about(10))
    day = watcher.of_project(model, "loss-of-day", limit=120, unit="money", now=now)
    assert (day.holds, day.value) == (True, about(120))
    below = watcher.of_project(model, "account-below", limit=1_081, now=now)
    assert (below.holds, below.value) == (True, about(1_080))


@on_both
def test_a_preview_has_the_stretches_of_the_past(
    model: Model, watcher: Watcher, now: float
) -> None:
    fund(model, 1_000)
    trade(model, now - 20 * DAY, order(1, 500))
    mark(model, now - 10 * DAY, 400)  # 900
    mark(model, now - 9 * DAY, 500)
    mark(model, now - DAY, 300)  # 800
    found = watcher.preview(model, "drawdown", limit=10, now=now)
    assert [(one.began_at, one.ended_at) for one in found] == [
        (now - 10 * DAY, now - 9 * DAY),
        (now - DAY, None),
    ]
    assert found[0].value == about(10)
    days = watcher.preview(model, "loss-of-day", limit=10, now=now)
    midnight = now // DAY * DAY
    assert [(one.began_at, one.ended_at) for one in days] == [
        (now - 10 * DAY, midnight - 9 * DAY),
        (now - DAY, midnight),
    ]
    assert [
        one.began_at for one in watcher.preview(model, "account-below", limit=850, now=now)
    ] == [now - DAY]
    assert watcher.preview(model, "profit-target", limit=1, now=now) == []


@on_both
def test_a_long_history_is_exact_at_the_price_of_its_sketches(
    model: Model, watcher: Watcher, now: float
) -> None:
    fund(model, 100_000)
    start = now - 5 * DAY
    lines = [
        {"path": "/v1/live/spot-market", "time": start, "body": order(1, 100)},
        *(
            {
                "path": "/v1/live/mark-price",
                "time": start + 100 * n,
                "body": {"symbol": "BTC-USD", "price": 100 + (n * 7919 % 1009)},
            }
            for n in range(1, 4_000)
        ),
        {
            "path": "/v1/live/cash",
            "time": start + 150_050,
            "body": {"type": "deposit", "amount": 50_000},
        },
    ]
    model.push("/v1/batch", lines)
    page = model.get("/performance")
    found = watcher.of_model(model, "drawdown", limit=1, now=now)
    items = page["drawdown"]["items"]
    assert found.value == about(-100 * items[-1]["value"])
