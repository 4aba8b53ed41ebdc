"""Every kind of event reaches the tape as its caller said it."""

import datetime
import decimal
import enum
import math
import uuid
from typing import Any

import numpy as np
import pytest
from tapeline_client import ClientClosed, InvalidEvent, Problem, checks

from tapeline.tape.events import account_bodies
from tapeline.tape.events.kinds import BY_PATH
from tests.client.conftest import Make
from tests.pushing import Model

NOW = 1_794_718_410.25


class Side(enum.Enum):
    BUY = "buy"


def test_every_kind_arrives(make: Make, model: Model, problems: list[Problem]) -> None:
    client = make()
    client.lifecycle(message="Warming up", start_at=NOW, running=True, time=NOW)
    client.used_symbol("BTC-USD")
    client.used_exchange("kraken")
    client.event("signal", {"a": 1}, {"b": [2]}, "because")
    client.market_order("BTC-USD", "buy", 0.5, id="m", exchange="kraken", annotation="dip")
    client.limit_order("BTC-USD", "SELL", funds=100, price=7, id="l", exchange="kraken", tag="x")
    client.stop_order("ETH-USD", "buy", 1, price=9, active=8, id="s", exchange="kraken")
    client.update_trade("m", executionPrice=41_000, executionTime=NOW, status="filled")
    client.update_annotation("l", "changed my mind")
    client.screener_result({"AAPL": {"rsi": 30.5, "buy": True}})
    client.log("a line", "warning")
    client.set_pnl([(NOW, 1.5), {"time": NOW + 1, "value": 2}])
    client.set_custom_metric("hit_rate", 0.61, "Hit rate", "percent")
    client.auto_pnl(False)
    client.cash("funding", -1.25, symbol="BTC-USD", id="f1", currency="usd")
    client.position("ETH-PERP", -2, 2_450, multiplier=10, instrument="perpetual")
    client.account_value(10_000, currency="USD")
    client.backtest_result(
        symbols=["AAPL"],
        quote_asset="USD",
        start_time=1,
        stop_time=2,
        account_values=[{"time": 1, "value": 100}],
        backtest_id="b",
    )
    client.backtest_log("in the past", backtest_id="b")
    client.backtest_status(True, "done", "", 1.5, backtest_id="b")
    if "/v1/live/mark-price" in BY_PATH:
        client.mark_price("BTC-USD", 40_000)
    assert client.flush()
    assert not problems
    kinds = {BY_PATH[f"/v1/live/{name}"].number for name in ("lifecycle", "used-symbol", "event")}
    stored = model.records()
    assert {record.kind for record in stored} >= kinds
    assert len(stored) == client.stats()["sent"] == client.stats()["taken"]
    orders = {order["id"]: order for order in model.items("/orders")}
    assert orders["m"]["annotation"] == "dip"
    assert orders["m"]["executionPrice"] == 41_000
    assert orders["l"]["side"] == "sell"
    assert orders["l"]["annotation"] == "changed my mind"
    assert orders["l"]["tag"] == "x"
    assert orders["s"]["active"] == 8
    assert model.get()["lifecycle"]["message"] == "Warming up"
    assert model.items("/logs")[0]["type"] == "warning"


def test_bars_and_indicators_arrive_beside_the_tape(
    make: Make, model: Model, problems: list[Problem]
) -> None:
    client = make()
    client.bar("BTC-USD", "1h", 2, 4, np.float32(1), decimal.Decimal(3), volume=math.nan)
    first = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
    starts = [first + datetime.timedelta(days=number) for number in range(250)]
    ones = np.ones(250)
    client.bars("BTC-USD", 86_400, starts, ones, ones, ones, ones, volume=[math.nan, *ones[1:]])
    client.bars("ETH-USD", "4h", np.arange(2_500) * 14_400, *[[1.0] * 2_500] * 4)
    for value in (1.5, None, math.nan, np.float32("nan")):
        client.indicator("rsi", value, symbol="BTC-USD", pane="momentum")
    assert client.flush()
    assert not problems
    assert model.size() == 0
    found = model.get("/prices", symbol="BTC-USD", interval="1h")
    assert found["bars"]["close"] == [3]
    assert found["bars"]["time"][0] % 3_600 == 0, "the bar that is under way"
    days = model.get("/prices", symbol="BTC-USD", interval="1d")["bars"]
    assert days["time"][0] == first.timestamp()
    assert days["volume"][:2] == [None, 1]
    four = model.get("/prices", symbol="ETH-USD", points=5_000)["bars"]
    assert len(four["time"]) == 2_500


@pytest.mark.parametrize(
    "wrong",
    [
        {"low": 3}, {"high": 1}, {"close": 9}, {"open": "much"}, {"interval": "2h"},
        {"interval": 0}, {"interval": 1.5}, {"volume": -1}, {"symbol": ""},
    ],
)  # fmt: skip
def test_a_bar_that_contradicts_itself_is_refused_at_once(make: Make, wrong: Any) -> None:
    client = make()
    bar = {"symbol": "A", "interval": "1m", "open": 2, "high": 4, "low": 1, "close": 3, **wrong}
    with pytest.raises(InvalidEvent):
        client.bar(**bar)
    with pytest.raises(InvalidEvent):
        client.bars("A", "1m", [0, 60], [2], [4, 4], [1, 1], [3, 3])


def test_the_time_is_that_of_the_call_unless_said_otherwise(make: Make, model: Model) -> None:
    client = make()
    before = datetime.datetime.now(datetime.UTC).timestamp()
    client.log("now")
    after = datetime.datetime.now(datetime.UTC).timestamp()
    client.log("then", time=datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC))
    client.log("text", time="2026-01-03T00:00:00Z")
    assert client.flush()
    text, then, now = (one["time"] for one in model.items("/logs"))
    assert before - 0.001 <= now <= after + 0.001
    assert then == 1_767_312_000
    assert text == 1_767_312_000 + 24 * 3600


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (decimal.Decimal("0.1"), 0.1),
        (np.float64(1.5), 1.5),
        (np.float32(0.5), 0.5),
        (np.int64(7), 7),
        (np.bool_(True), True),
        (np.array([1, 2]), [1, 2]),
        (math.nan, None),
        (-math.inf, None),
        (np.float64("nan"), None),
        ({"deep": [math.nan, 1]}, {"deep": [None, 1]}),
        (datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC), 1_767_312_000.0),
        (np.datetime64("2026-01-02T00:00:00.5", "ns"), 1_767_312_000.5),
        (np.datetime64("NaT"), None),
        (datetime.timedelta(minutes=1), 60.0),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (uuid.UUID(int=5), str(uuid.UUID(int=5))),
        (Side.BUY, "buy"),
        ({1, }, [1]),
        ((1, "a"), [1, "a"]),
        (b"bytes", "bytes"),
        ({3: "x", None: "y", (1, 2): "z"}, {"3": "x", "null": "y", "(1, 2)": "z"}),
        ("half \ud83d a pair, \0 and \u2028", "half ? a pair, \ufffd and \u2028"),
        ("😀 ü", "😀 ü"),
        (object, "<class 'object'>"),
    ],
)  # fmt: skip
def test_values_get_their_nearest_form(make: Make, model: Model, value: Any, stored: Any) -> None:
    client = make()
    client.event("value", {"it": value})
    assert client.flush()
    found = model.items("/events")[0]["args"]["it"]
    assert found == stored


def test_a_circle_and_a_well_do_not_hurt(make: Make, model: Model) -> None:
    client = make()
    circle: dict[str, Any] = {}
    circle["me"] = circle
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    client.event("circle", circle)
    client.event("well", {"deep": deep})
    assert client.flush()
    assert [one["type"] for one in model.items("/events")] == ["well", "circle"]


def test_numbers_of_orders_come_in_any_type(make: Make, model: Model) -> None:
    client = make()
    client.limit_order(
        "A", Side.BUY, decimal.Decimal("0.25"), price=np.float64(3), id=7, exchange="x"
    )
    assert client.flush()
    order = model.items("/orders")[0]
    assert (order["size"], order["price"], order["id"], order["side"]) == (0.25, 3, "7", "buy")


@pytest.mark.parametrize(
    ("method", "args", "keys", "said"),
    [
        ("market_order", ("A", "hold", 1), {"id": "1", "exchange": "x"}, "`side` must be buy"),
        ("market_order", ("A", "buy"), {"id": "1", "exchange": "x"}, "exactly one of"),
        ("market_order", ("A", "buy", 1, 2), {"id": "1", "exchange": "x"}, "exactly one of"),
        ("market_order", ("A", "buy", math.nan), {"id": "1", "exchange": "x"}, "`size` must be"),
        ("market_order", ("A", "buy", "much"), {"id": "1", "exchange": "x"}, "must be a number"),
        ("market_order", ("", "buy", 1), {"id": "1", "exchange": "x"}, "`symbol` is required"),
        ("limit_order", ("A", "buy", 1), {"id": "1", "exchange": "x", "price": 0}, "`price` must"),
        (
            "market_order",
            ("A", "buy", 1),
            {"id": "1", "exchange": "x", "multiplier": 0},
            "`multiplier` must be",
        ),
        ("cash", ("withdrawal", 5), {}, "a withdrawal negative"),
        ("cash", ("deposit", -5), {}, "must be positive"),
        ("cash", ("funding", math.nan), {}, "`amount` must be finite"),
        ("cash", ("", 1), {}, "`type` is required"),
        ("cash", ("Withdrawal", 5), {}, "a withdrawal negative"),
        ("cash", ("bonus", 1), {}, "`type` must be deposit, withdrawal, funding, "),
        ("cash", ("funding", True), {}, "`amount` must be a number, not True"),
        ("cash", ("funding", 10**400), {}, "`amount` must be finite"),
        ("position", ("A", 1, 1), {"instrument": "futures"}, "`instrument` must be spot, margin"),
        ("position", ("A", 1, 1), {"multiplier": -1}, "`multiplier` must be"),
        (
            "market_order",
            ("A", "buy", 1),
            {"id": "1", "exchange": "x", "instrument": "futures"},
            "`instrument` must be spot, margin",
        ),
        ("position", ("A", 1), {}, "`average_price` must be"),
        ("position", ("A", math.inf, 1), {}, "`size` must be finite"),
        ("account_value", ("much",), {}, "must be a number"),
        ("update_trade", ("1",), {}, "at least one key"),
        ("event", ("t", [1]), {}, "`args` must be a dictionary"),
        ("screener_result", ({},), {}, "at least one symbol"),
        ("screener_result", ({"A": 1},), {}, "must be a dictionary"),
        ("set_pnl", ([1],), {}, "a pair of time and value"),
        ("backtest_result", ({"symbols": []},), {"backtest_id": "b"}, "needs `quote_asset`"),
        ("backtest_log", ("line",), {}, "`backtest_id` is required"),
        ("log", ("line",), {"time": object()}, "`time` must be a time"),
    ],
)
def test_what_cannot_be_right_is_said_at_the_call(
    make: Make, method: str, args: tuple[Any, ...], keys: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidEvent, match=said) as raised:
        getattr(make(), method)(*args, **keys)
    assert "\n" not in str(raised.value)


def test_client_and_server_know_the_same_words() -> None:
    assert checks.CASH_TYPES == account_bodies.CASH_TYPES
    assert checks.INSTRUMENTS == account_bodies.INSTRUMENTS


def test_a_loop_that_must_go_on_is_told_instead(make: Make, problems: list[Problem]) -> None:
    client = make(raise_errors=False)
    client.market_order("A", "hold", 1, id="1", exchange="x")
    client.close()
    client.log("too late")
    assert [one.kind for one in problems] == ["invalid", "invalid"]


def test_a_closed_client_says_so(make: Make) -> None:
    client = make()
    assert client.close()
    with pytest.raises(ClientClosed):
        client.log("too late")


def test_a_backtest_sends_its_own_lines_and_no_live_trading(
    make: Make, model: Model, problems: list[Problem]
) -> None:
    client = make(backtest_id="b9")
    client.log("a line")
    client.market_order("A", "buy", 1, id="1", exchange="x")
    client.backtest_result(symbols=["A"], quote_asset="USD", start_time=1, stop_time=2)
    assert client.flush()
    assert model.items("/orders") == []
    assert model.items("/backtests/b9/logs")[0]["line"] == "a line"
    assert [one.kind for one in problems] == ["backtest"]
