"""The price chart of a backtest: bars of its period, its own trades, their average price."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tapeline.results.backtests import trade_marks
from tests.conftest import Person, Service
from tests.http.prices.test_chart_api import DAY, HOUR, MONDAY, order, push
from tests.pushing import RESULT, Model, pushing


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as one:
        yield one


def trade(at: float, side: str, price: float | None, size: float = 1, symbol: str = "A") -> Any:
    return {"time": at, "symbol": symbol, "side": side, "size": size, "price": price}


def tested(model: Model, *trades: Any, **more: Any) -> None:
    period = {"start_time": MONDAY, "stop_time": MONDAY + 10 * HOUR}
    body = RESULT | period | {"symbols": ["A"], "account_values": [], "trades": list(trades)}
    model.push("/v1/backtest/result", body | more)


def test_bars_of_its_period_come_with_its_own_trades_only(model: Model) -> None:
    push(model, MONDAY - 5 * HOUR, 30)
    order(model, "live", MONDAY + HOUR)
    tested(model, trade(MONDAY + 2 * HOUR, "buy", 8), trade(MONDAY + 4 * HOUR, "sell", 10))
    found = model.get("/backtests/b1/prices")
    assert (found["symbol"], found["source"], found["interval"]) == ("A", "bars", HOUR)
    assert (found["bars"]["time"][0], found["bars"]["time"][-1]) == (MONDAY, MONDAY + 10 * HOUR)
    fills = found["fills"]["items"]
    assert [(one["side"], one["price"], one["order_id"]) for one in fills] == [
        ("buy", 8, "0"),
        ("sell", 10, "1"),
    ]
    assert found["symbols"] == [{"symbol": "A", "intervals": [HOUR]}]
    near = {"from": MONDAY + 3 * HOUR, "to": MONDAY + 5 * HOUR}
    assert len(model.get("/backtests/b1/prices", **near)["fills"]["items"]) == 1


def test_the_average_price_follows_the_trades_and_ends_with_the_position(model: Model) -> None:
    steps = [("buy", 10, 1), ("buy", 20, 3), ("sell", 99, 2), ("sell", 30, 3), ("buy", 5, 1)]
    tested(
        model,
        *(trade(MONDAY + at * HOUR, *one) for at, one in enumerate(steps, 1)),
    )
    found = model.get("/backtests/b1/prices")["average"]
    assert [(one["time"] - MONDAY, one["price"]) for one in found] == [
        (HOUR, 10),
        (2 * HOUR, 17.5),
        (4 * HOUR, 30),
        (5 * HOUR, None),
    ], "a sell of a part keeps the average; one of more than is held opens a short position"
    later = model.get("/backtests/b1/prices", **{"from": MONDAY + 3 * HOUR, "to": MONDAY + DAY})
    assert later["average"][0] == {"time": MONDAY + 3 * HOUR, "price": 17.5}


def test_without_bars_its_trades_are_a_line_and_without_trades_there_is_nothing(
    model: Model,
) -> None:
    tested(model, trade(MONDAY + HOUR, "buy", 5), trade(MONDAY + 2 * HOUR, "sell", None))
    found = model.get("/backtests/b1/prices")
    assert (found["source"], found["bars"]) == ("trades", None)
    assert found["line"] == [{"time": MONDAY + HOUR, "price": 5}]
    tested(model)
    found = model.get("/backtests/b1/prices")
    assert (found["source"], found["symbol"], found["line"]) == ("nothing", "A", [])
    model.push("/v1/backtest/status", {"backtest_id": "early", "successful": True})
    assert model.get("/backtests/early/prices")["symbol"] is None
    assert model.owner.get(f"/api/models/{model.id}/backtests/none/prices").status_code == 404


def test_many_trades_are_counted_together(model: Model) -> None:
    sides = ("buy", "sell")
    tested(model, *(trade(MONDAY + 10 * at, sides[at % 2], 5 + at) for at in range(3_000)))
    found = model.get("/backtests/b1/prices")
    marks = found["fills"]["items"]
    assert found["fills"]["grouped"]
    assert len(marks) <= 2 * 121
    assert sum(one["count"] for one in marks) == 3_000
    assert len(found["average"]) <= 1_000


def test_a_result_with_too_many_trades_says_so(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trade_marks, "MOST", 9_999)
    push(model, MONDAY, 5)
    tested(model, trade(MONDAY, "buy", 1))
    found = model.get("/backtests/b1/prices")
    assert (found["source"], found["fills"]["items"]) == ("bars", [])
    assert found["reason"] == trade_marks.TOO_MANY
