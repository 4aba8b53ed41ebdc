"""The reporter as the older package calls it, on the oldest Python and on ours."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.pushing import Model
from tests.runtime.conftest import CLIENT, RUNTIME, Backtest
from tests.waiting import A_PROGRAM

pytestmark = pytest.mark.heavy

IMPORT = "from blankly_external import Reporter as reporter\n"
LIVE = (
    IMPORT
    + """
import uuid

class Screener:
    raw_results = {'A': {'rsi': 5, 'tags': ['x']}, 'B': 7}
    status = {'startTime': 1, 'stopTime': 2.5, 'timeElapsed': 1.5}

order = {'symbol': 'BTC-USD', 'exchange': 'x', 'size': 2, 'side': 'buy', 'id': uuid.UUID(int=5)}
reporter.export_used_exchange('alpaca')
reporter.export_used_symbol('BTC-USD')
reporter.log_market_order(order, 'alpaca')
reporter.log_limit_order(dict(order, id='l', price=5.5), 'alpaca')
reporter.update_order({'id': 'l', 'status': 'canceled'}, 'alpaca')
reporter.annotate_order('l', 'never mind')
reporter.export_screener(Screener())
reporter.export_screener_result(Screener())
reporter.email(email_str='mail', smtp_server='s')
reporter.text('message')
threshold = 5
reporter.export_live_var(threshold, 'threshold', 'when to buy')
assert reporter.update_live_var(threshold) == 5
"""
)
WRONG = (
    IMPORT
    + """
for _ in range(2):
    reporter.log_market_order({'symbol': 'A'}, 'x')
    reporter.update_order(None, 'x')
    reporter.export_screener_result(None)
    reporter.export_strategy(None)
    reporter.export_used_symbol(None)
print('alive')
"""
)
STRATEGY = (
    IMPORT
    + """
class Strategy:
    def __init__(self, name):
        self.name = name
        reporter.export_strategy(self)
    def backtest(self, to=None, **keys):
        reporter.log_market_order({'symbol': 'A', 'side': 'buy', 'size': 1, 'id': '1'}, 'x')
        if to == 'never':
            raise ValueError('no such period')
        reporter.export_backtest_result({'name': self.name, 'to': to, 'keys': keys,
                                         'backtest_id': 'random'})

Strategy('first')
Strategy('second')
print('script ended')
"""
)

TRADING = (
    IMPORT
    + """
class Exchange:
    def __init__(self):
        self.price, self.asked = 100.0, 0
    def get_price(self, symbol):
        self.asked += 1
        return self.price
    def get_product_history(self, symbol, epoch_start, epoch_stop, resolution):
        times = [epoch_start, epoch_start + resolution]
        ones = dict.fromkeys(('open', 'high', 'low', 'close', 'volume'), [1, 1])
        return dict(ones, time=times)
    def get_order(self, symbol, order_id):
        return {'id': order_id, 'status': 'done', 'size': 2, 'exchange_specific':
                {'executed_value': '202.0', 'filled_size': '2', 'fill_fees': '0.5'}}

class Logger:
    def __init__(self, interface):
        self.interface = interface
    def get_price(self, symbol):
        return self.interface.get_price(symbol)

class Strategy:
    def __init__(self, exchange):
        self.interface = Logger(exchange)
        reporter.export_strategy(self)
    def backtest(self, **keys):
        raise AssertionError('live, nothing is backtested')

exchange = Exchange()
strategy = Strategy(exchange)
order = {'symbol': 'BTC-USD', 'exchange': 'x', 'size': 2, 'side': 'buy', 'id': '1'}
reporter.log_market_order(order, 'x')
assert exchange.asked == 1, 'for the price of an order'
exchange.price = 110.0
assert strategy.interface.get_price(symbol='BTC-USD') == 110.0
reporter.log_market_order(dict(order, id='2'), 'x')
exchange.get_order('BTC-USD', '2')
exchange.get_product_history('BTC-USD', 3600, 10800, 3600)
reporter.update_order({'id': '2', 'status': 'done'}, 'x')
assert strategy.backtest(to='1y') is None
"""
)
OWN_CALL = (
    IMPORT
    + """
class Strategy:
    def __init__(self):
        reporter.export_strategy(self)
    def backtest(self, to=None, initial_values=None, start_date=None, **keys):
        reporter.export_backtest_result({'to': to, 'start_date': start_date, 'keys': keys,
                                         'initial_values': initial_values, 'backtest_id': 'r'})
        return 'the result'

strategy = Strategy()
print(strategy.backtest('5y', {'USD': 1}, fee=2))
print(strategy.backtest(to='9y'))
"""
)


def live(
    python: Path, script: str, model: Model, tmp_path: Path
) -> subprocess.CompletedProcess[str]:
    variables = {
        "PYTHONPATH": f"{RUNTIME}{os.pathsep}{CLIENT}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TAPELINE_URL": model.service.address,
        "TAPELINE_MODEL_ID": model.id,
        "TAPELINE_API_KEY": model.headers["api_key"],
        "TAPELINE_API_PASS": model.headers["api_pass"],
        "TAPELINE_STATE_DIR": str(tmp_path / "state"),
    }
    return subprocess.run(
        [str(python), "-c", script], env=variables, capture_output=True, text=True, check=False,
        timeout=A_PROGRAM,
    )  # fmt: skip


def test_everything_a_live_model_does_is_reported(
    python: Path, model: Model, tmp_path: Path
) -> None:
    ended = live(python, LIVE, model, tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    limit, market = model.items("/orders")
    assert market["id"] == "00000000-0000-0000-0000-000000000005"
    assert (limit["price"], limit["status"]) == (5.5, "canceled")
    assert limit["annotation"] == "never mind"
    screener = model.get("/screener")
    assert screener["time"] == 2.5
    assert screener["result"] == {
        "A": {"rsi": 5, "tags": "['x']", "value": None},
        "B": {"rsi": None, "tags": None, "value": 7},
    }
    events = {one["type"]: one["args"] for one in model.items("/events")}
    assert events["email"] == {"text": "mail"}
    assert events["text"] == {"text": "message"}
    assert events["live_var"]["name"] == "threshold"


def test_a_report_that_fails_does_not_break_the_model_and_is_told_once(
    python: Path, model: Model, tmp_path: Path
) -> None:
    ended = live(python, WRONG, model, tmp_path)
    assert (ended.returncode, ended.stdout) == (0, "alive\n")
    told = ended.stderr.splitlines()
    assert len(told) == 5
    assert all(line.startswith("tapeline: ") for line in told)
    assert model.size() == 0


def test_the_first_strategy_is_backtested_once_the_script_has_ended(backtest: Backtest) -> None:
    ended = backtest(STRATEGY, arguments={"to": "1y", "cash": 5})
    assert (ended.code, ended.out, ended.err) == (0, "script ended\n", "")
    assert ended.result == {
        "name": "first",
        "to": "1y",
        "keys": {"cash": 5, "GUI_output": False},
        "backtest_id": "the-run",
    }


def test_a_backtest_of_a_strategy_that_fails_is_a_failure(backtest: Backtest) -> None:
    ended = backtest(STRATEGY, arguments={"to": "never"})
    assert ended.code == 1
    assert ended.status is not None
    assert ended.status["status_summary"] == "ValueError: no such period"
    assert ended.result is None
    assert "bootstrap.py" not in ended.status["status_details"]


def test_orders_of_the_package_get_prices_and_fills(
    python: Path, model: Model, tmp_path: Path
) -> None:
    ended = live(python, TRADING, model, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == "tapeline: backtest() was skipped, because the model runs live.\n"
    second, first = model.items("/orders")
    assert first["fill"]["price"] == 100.0
    assert (second["fill"]["price"], second["fee"], second["filled_size"]) == (101.0, 0.5, 2.0)
    pnl = model.get("/pnl")
    assert [one["size"] for one in pnl["positions"]] == [4.0]
    assert not [one for one in pnl["warnings"] if "price" in one["message"]]
    assert model.items("/backtests") == [], "nothing is left pending"
    assert model.get("/prices", symbol="BTC-USD")["bars"]["time"] == [3_600, 7_200]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, {"to": "5y", "start_date": None, "initial_values": {"USD": 1}, "fee": 2}),
        (
            {"start_date": 7, "fee": 3},
            {"to": None, "start_date": 7, "initial_values": {"USD": 1}, "fee": 3},
        ),
    ],
)
def test_a_script_that_backtests_by_itself_does_it_once_with_our_arguments(
    backtest: Backtest, arguments: dict[str, int], expected: dict[str, object]
) -> None:
    ended = backtest(OWN_CALL, arguments=arguments)
    assert (ended.code, ended.out) == (0, "the result\nthe result\n")
    assert "only the first backtest of a strategy is run" in ended.err
    assert ended.result is not None
    keys = ended.result.pop("keys")
    assert ended.result | {"fee": keys["fee"]} == expected | {"backtest_id": "the-run"}
    assert keys["GUI_output"] is False
