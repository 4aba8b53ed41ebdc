"""Adapters with the real packages: what Tapeline shows is what the package itself says."""

import hashlib
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tapeline_client import InvalidEvent
from tapeline_client.adapters import backtesting, bt, ccxt
from tapeline_client.adapters import pandas as tables

from tests.client.conftest import Make
from tests.client.exchange import FEE, PRICE, open_exchange
from tests.client.test_killed import environment
from tests.pushing import Model
from tests.waiting import A_PROGRAM

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "adapters"
PINNED = ROOT / "requirements" / "adapters.txt"


@pytest.fixture(scope="session")
def packages() -> Path:
    """A Python with the real packages, made once for each list of them."""
    made_of = hashlib.sha256(PINNED.read_bytes() + sys.version.encode()).hexdigest()[:16]
    folder = ROOT / ".venv" / f"adapters-{made_of}"
    python, done = folder / "bin" / "python", folder / "made"
    if done.exists():
        return python
    uv = [sys.executable, "-m", "uv"]
    for command in (
        [*uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)],
        [
            *uv, "pip", "install", "--quiet", "--python", str(python),
            "--require-hashes", "-r", str(PINNED),
        ],
    ):  # fmt: skip
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
    done.touch()
    return python


def run_example(python: Path, name: str, model: Model, folder: Path, **more: str) -> Any:
    """What an example prints as its last line."""
    variables = environment(model.service.address, model.headers, folder / "state")
    # Whatever an example imports is compiled once, and not all that is installed.
    del variables["PYTHONDONTWRITEBYTECODE"]
    ended = subprocess.run(
        [str(python), str(EXAMPLES / name)],
        env=variables | {"HOME": str(folder), "MPLBACKEND": "agg"} | more,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=A_PROGRAM,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


def gain(model: Model, backtest: str) -> float:
    values = model.get(f"/backtests/{backtest}/equity", points=5000)["items"]
    return float(values[-1]["value"] / values[0]["value"] - 1)


@pytest.mark.heavy
def test_a_backtest_of_backtesting_py(packages: Path, model: Model, tmp_path: Path) -> None:
    said = run_example(packages, "backtesting_py.py", model, tmp_path)
    name = said["backtest_id"]
    shown = model.get(f"/backtests/{name}")
    assert shown["status"]["successful"]
    assert shown["description"] == "10 and 30 days on GOOG"
    custom, computed = shown["metrics"]["custom"], shown["metrics"]["computed"]
    assert custom["return"]["value"] == pytest.approx(said["Return [%]"] / 100)
    assert custom["return"]["type"] == "percent"
    assert custom["trades"]["value"] == said["# Trades"]
    assert custom["equity_final"] == {
        "value": pytest.approx(said["Equity Final [$]"]),
        "display_name": "Equity Final",
        "type": "money",
    }
    assert gain(model, name) == pytest.approx(said["Return [%]"] / 100)
    assert computed["total_return"]["value"] == pytest.approx(said["Return [%]"] / 100)
    assert computed["max_drawdown"]["value"] == pytest.approx(said["Max. Drawdown [%]"] / 100)
    trips = model.get(f"/backtests/{name}/round-trips")["items"]
    assert len(trips) == said["# Trades"]
    profit = said["Equity Final [$]"] - 10_000
    assert sum(one["profit"] for one in trips) == pytest.approx(profit, abs=0.01)
    lines = model.items(f"/backtests/{name}/indicators")
    assert [one["display_name"] for one in lines] == ["Quick", "Steady"]


@pytest.mark.heavy
def test_portfolios_of_bt(packages: Path, model: Model, tmp_path: Path) -> None:
    said = run_example(packages, "bt_portfolio.py", model, tmp_path)
    assert set(said) == {"Equal", "Careful"}
    for name, own in said.items():
        shown = model.get(f"/backtests/{own['backtest_id']}")
        assert shown["description"] == name
        assert set(shown["symbols"]) == {"AAA", "BBB", "BND"}
        custom, computed = shown["metrics"]["custom"], shown["metrics"]["computed"]
        assert custom["total_return"]["value"] == pytest.approx(own["total_return"])
        assert gain(model, own["backtest_id"]) == pytest.approx(own["total_return"])
        assert computed["max_drawdown"]["value"] == pytest.approx(own["max_drawdown"])
        assert shown["counts"]["trades"] == own["transactions"]
        trades = model.items(f"/backtests/{own['backtest_id']}/trades", limit=1000)
        assert own["fees"] > 0
        assert sum(one["fee"] for one in trades) == pytest.approx(own["fees"])


@pytest.mark.heavy
def test_an_equity_curve_of_pandas(packages: Path, model: Model, tmp_path: Path) -> None:
    said = run_example(packages, "pandas_curve.py", model, tmp_path)
    shown = model.get(f"/backtests/{said['backtest_id']}")
    assert shown["counts"] == {**shown["counts"], "account_values": 730, "trades": said["trades"]}
    assert gain(model, said["backtest_id"]) == pytest.approx(said["return"])
    assert 0 < shown["metrics"]["custom"]["exposure"]["value"] < 1
    trades = model.items(f"/backtests/{said['backtest_id']}/trades")
    assert {one["side"] for one in trades} == {"buy", "sell"}


@pytest.mark.heavy
def test_orders_of_ccxt(packages: Path, model: Model, tmp_path: Path) -> None:
    with open_exchange() as (exchange, address):
        keys = {"EXCHANGE_KEY": "k", "EXCHANGE_SECRET": "s", "EXCHANGE_URL": address}
        said = run_example(packages, "ccxt_orders.py", model, tmp_path, **keys)
        assert len(exchange.orders) == 3
        size = model.size()
        assert len(run_example(packages, "ccxt_orders.py", model, tmp_path, **keys)["orders"]) == 6
    buy, sale, hopeful = (
        next(order for order in model.items("/orders") if order["id"] == one["id"])
        for one in said["orders"]
    )
    assert (buy["type"], buy["symbol"], buy["exchange"]) == ("spot-limit", "BTC/USDT", "binance")
    for order, own in zip((buy, sale, hopeful), said["orders"], strict=True):
        assert order["side"] == own["side"]
        assert order["size"] == own["amount"]
        assert order["filled_size"] == own["filled"]
    assert buy["status"] == sale["status"] == "filled"
    assert hopeful["status"] == "canceled"
    assert buy["fill"]["price"] == said["orders"][0]["average"] == 40_000
    assert sale["fill"]["price"] == PRICE
    assert sale["fee"] == pytest.approx(0.2 * PRICE * FEE)
    assert hopeful["fill"] is None
    assert size > 3


@pytest.mark.heavy
def test_what_ccxt_said_before_is_not_sent_again(make: Make, model: Model) -> None:
    client = make()
    orders = ccxt.Orders("kraken", client)
    order = {
        "id": "A1", "symbol": "ETH/EUR", "side": "buy", "type": "limit", "amount": 2.0,
        "price": 1500.0, "filled": 0.0, "status": "open", "timestamp": 1_700_000_000_000,
        "average": None, "fee": None, "fees": [],
    }  # fmt: skip
    partly = {**order, "filled": 0.5, "average": 1499.0, "lastTradeTimestamp": 1_700_000_005_000}
    partly["fees"] = [{"cost": 0.3, "currency": "EUR"}, {"cost": 0.001, "currency": "ETH"}]
    assert orders.report(order) == 1
    assert orders.report(order) == 0
    assert client.flush()
    assert model.items("/orders")[0]["fill"] is None, "an open limit order is not a fill"
    assert orders.report([order, partly, partly]) == 1
    assert client.flush()
    (shown,) = model.items("/orders")
    assert (shown["status"], shown["filled_size"]) == ("partially_filled", 0.5)
    assert shown["time"] == 1_700_000_000
    assert shown["fill"]["time"] == 1_700_000_005
    assert shown["fee"] == pytest.approx(0.3 + 0.001 * 1499)
    assert shown["fees_paid"] == {"ETH": 0.001}
    assert orders.report({"id": "A1", "info": {}}, status="canceled") == 1
    before = model.size()
    anew = ccxt.Orders("kraken", client)
    anew.report({**partly, "status": "canceled"})
    assert client.flush()
    (shown,) = model.items("/orders")
    assert shown["status"] == "canceled"
    assert shown["fill"]["size"] == 0.5, "what was filled counts"
    assert model.size() > before
    assert model.get()["symbols"] == ["ETH/EUR"]


def test_orders_of_every_type_find_their_kind(make: Make, model: Model) -> None:
    client = make()
    orders = ccxt.Orders("kraken", client)
    common = {"symbol": "BTC/USD", "side": "sell", "amount": 1.0}
    orders.report({**common, "id": "m", "type": "market", "price": 5.0})
    orders.report({**common, "id": "l", "type": "limit", "price": 5.0})
    orders.report({**common, "id": "s", "type": "stop", "triggerPrice": 4.0})
    orders.report({**common, "id": "sl", "price": 3.9, "stopPrice": 4.0})
    orders.report(
        {"id": "c", "symbol": "BTC/USD", "side": "buy", "type": "market", "amount": None},
        cost=100.0,
    )
    assert client.flush()
    found = {one["id"]: one for one in model.items("/orders")}
    kinds = {name: one["type"] for name, one in found.items()}
    assert kinds == {
        "m": "spot-market", "l": "spot-limit", "s": "spot-stop", "sl": "spot-stop",
        "c": "spot-market",
    }  # fmt: skip
    assert (found["s"]["price"], found["s"]["active"]) == (4.0, 4.0)
    assert found["c"]["funds"] == 100.0


@pytest.mark.parametrize(
    ("order", "says"),
    [
        ({"symbol": "BTC/USD"}, "has no id"),
        ({"id": "1"}, "without symbol, side or amount"),
        ({"id": "1", "symbol": "BTC/USDT:USDT"}, "is not a spot market"),
        ("A1", "pip install ccxt"),
    ],
)
def test_an_order_that_cannot_be_told_is_said(make: Make, order: Any, says: str) -> None:
    with pytest.raises(InvalidEvent, match=says):
        ccxt.Orders("kraken", make()).report(order)


@pytest.mark.parametrize(
    ("call", "package"),
    [
        (lambda: backtesting.result({"Return": 1}, symbol="A"), "backtesting"),
        (lambda: bt.result({"Return": 1}), "bt"),
        (lambda: tables.result([1, 2, 3], symbol="A"), "pandas"),
        (lambda: tables.result(pd.Series([1.0], [datetime.now(UTC)]), [1], symbol="A"), "pandas"),
    ],
)
def test_another_thing_is_refused_with_the_package_to_install(call: Any, package: str) -> None:
    with pytest.raises(InvalidEvent) as raised:
        call()
    assert str(raised.value).endswith(f"pip install {package}")


def test_a_table_of_trades_is_read_by_whatever_its_columns_are_called() -> None:
    days = pd.date_range("2024-01-01", periods=3)
    equity = pd.Series([100.0, float("nan"), 120.0], days)
    signed = pd.DataFrame({"Ticker": ["A", "B"], "QTY": [2, -1], "why": ["up", "down"]}, days[:2])
    found = tables.result(equity, signed)
    assert found["symbols"] == ["A", "B"]
    assert found["account_values"][1]["value"] is None
    assert found["start_time"] == 1_704_067_200, "dates without a zone are UTC"
    assert [(one["side"], one["size"]) for one in found["trades"]] == [("buy", 2), ("sell", 1)]
    assert found["trades"][0]["why"] == "up"
    with pytest.raises(InvalidEvent, match="side must be buy or sell"):
        tables.result(equity, signed.assign(side="hold"))
    with pytest.raises(InvalidEvent, match="column of sizes"):
        tables.result(equity, signed.drop(columns="QTY"))
    with pytest.raises(InvalidEvent, match="names no symbol"):
        tables.result(equity, signed.drop(columns="Ticker"))
    with pytest.raises(InvalidEvent, match="index of dates"):
        tables.result(pd.Series([1.0, 2.0]), symbol="A")
