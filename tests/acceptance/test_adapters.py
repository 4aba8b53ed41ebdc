"""Adapters are there in a model's sandbox, beside the client, without anything installed."""

import pytest

from tests.acceptance.conftest import Home
from tests.acceptance.traders import Trader
from tests.waiting import wait_for

pytestmark = pytest.mark.heavy

TRADES = """
from tapeline_client.adapters import ccxt

orders = ccxt.Orders("kraken")
order = {"id": "K1", "symbol": "ETH/EUR", "side": "buy", "type": "limit", "amount": 2.0,
         "price": 1500.0, "filled": 0.0, "status": "open", "timestamp": 1700000000000}
orders.report(order)
orders.report({**order, "filled": 2.0, "average": 1499.5, "status": "closed"})
"""
TESTS = (
    TRADES
    + """

class Series(list):
    dtype, index = "float64", ["2024-01-01", "2024-01-02"]


def backtest(symbol="A"):
    from tapeline_client.adapters import pandas
    return pandas.result(Series([100.0, 110.0]), symbol=symbol)
"""
)


def test_a_deployed_model_reports_by_an_adapter(home: Home) -> None:
    server = home.up()
    trader = Trader(server)
    made = trader.deploy(TRADES)
    path = f"/api/models/{made['modelId']}"
    wait_for(lambda: any(one.get("status") for one in trader.get(f"{path}/orders")["items"]), 120)
    (order,) = trader.get(f"{path}/orders")["items"]
    assert (order["id"], order["exchange"], order["status"]) == ("K1", "kraken", "filled")
    assert order["fill"]["price"] == 1499.5
    tested = trader.backtest(TESTS, model=made["modelId"], backtestArgs='{"symbol": "B"}')
    where = f"{path}/backtests/{tested['backtestId']}"
    wait_for(
        lambda: any(
            one["backtest_id"] == tested["backtestId"] and one["status"]
            for one in trader.get(f"{path}/backtests")["items"]
        ),
        120,
    )
    shown = trader.get(where)
    assert shown["status"]["successful"], shown["status"]
    assert shown["symbols"] == ["B"]
    assert [one["value"] for one in trader.get(f"{where}/equity")["items"]] == [100.0, 110.0]
    trader.client.close()
