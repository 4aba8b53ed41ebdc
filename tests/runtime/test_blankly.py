"""Models written with the real `blankly` package report by themselves, unchanged."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.pushing import Model
from tests.runtime.conftest import CLIENT, RUNTIME
from tests.runtime.older_package import installed
from tests.waiting import A_PROGRAM

pytestmark = pytest.mark.slow

VERSION = "1.18.25b0"

BOT = """
import math
import blankly
from blankly.data import PriceReader

DAY = 86400
START = 1600000000 // DAY * DAY

def write_prices():
    with open('prices.csv', 'w') as file:
        file.write('time,open,high,low,close,volume\\n')
        for day in range(400):
            price = 100 + 20 * math.sin(day / 10)
            row = (START + day * DAY, price, price + 1, price - 1, price)
            file.write('%d,%f,%f,%f,%f,10\\n' % row)

def price_event(price, symbol, state):
    held = state.interface.account[state.base_asset].available
    if price < 90 and not held:
        state.interface.market_order(symbol, side='buy', size=1)
    elif price > 110 and held:
        state.interface.market_order(symbol, side='sell', size=held)

if __name__ == '__main__':
    write_prices()
    exchange = blankly.KeylessExchange(price_reader=PriceReader('prices.csv', 'BTC-USD'))
    strategy = blankly.Strategy(exchange)
    strategy.add_price_event(price_event, symbol='BTC-USD', resolution='1d')
    assert blankly.is_deployed
"""
BACKTESTED = BOT + "    strategy.start()\n"
LIVE = (
    BOT
    + """
    exchange.calls.get_price = lambda symbol: 100.0
    exchange.interface.local_account.override_local_account({
        name: blankly.utils.AttributeDict({'available': amount, 'hold': 0})
        for name, amount in {'USD': 10000, 'BTC': 0}.items()})
    order = strategy.interface.market_order('BTC-USD', 'buy', 1)
    order.annotate('the dip')
    strategy.interface.get_order('BTC-USD', order.get_id())
    strategy.interface.limit_order('BTC-USD', 'sell', 150, 1)
    result = strategy.backtest(start_date=1600128000, end_date=1610000000,
                               initial_values={'USD': 10000})
    blankly.reporter.email('bought')
"""
)
SCREENER = """
import blankly
from bot import write_prices, PriceReader

def evaluator(symbol, state):
    if symbol == 'C':
        return 5
    return {'rsi': 30.5, 'notes': {'buy': True}}

write_prices()
exchange = blankly.KeylessExchange(price_reader=PriceReader('prices.csv', 'BTC-USD'))
screener = blankly.Screener(exchange, evaluator, symbols=['A', 'B', 'C'])
screener.notify('done')
"""
GENERAL = {
    "test_connectivity_on_auth": False,
    "use_sandbox_websockets": False,
    "simulate_margin": True,
    "global_shorting": False,
    "keyless": {"cash": "USD"},
    "paper": {"price_source": "api"},
}
BACKTESTS = {"show_progress_during_backtest": False, "ignore_user_exceptions": False}
PERIOD = {
    "start_date": 1_600_128_000,
    "end_date": 1_630_000_000,
    "initial_values": {"USD": 10_000},
}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(tmp_path_factory.mktemp("blankly"), VERSION)


def environment(model: Model, tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.defpath,
        "HOME": str(tmp_path),
        "PYTHONPATH": f"{RUNTIME}{os.pathsep}{CLIENT}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TAPELINE_URL": model.service.address,
        "TAPELINE_MODEL_ID": model.id,
        "TAPELINE_API_KEY": model.headers["api_key"],
        "TAPELINE_API_PASS": model.headers["api_pass"],
        "TAPELINE_RUN_ID": "run",
        "TAPELINE_STATE_DIR": str(tmp_path / "state"),
    }


def backtesting(**arguments: Any) -> dict[str, str]:
    return {
        "BACKTESTING": "1",
        "BACKTESTING_ID": "the-run",
        "TAPELINE_BACKTEST_ID": "the-run",
        "TAPELINE_BACKTEST_ARGS": json.dumps({**PERIOD, **arguments}),
    }


def run(
    command: list[str], script: str, variables: dict[str, str], tmp_path: Path
) -> subprocess.CompletedProcess[str]:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps({"settings": GENERAL}))
    text = json.dumps({"price_data": {"assets": []}, "settings": BACKTESTS})
    (folder / "backtest.json").write_text(text)
    (folder / "bot.py").write_text(BOT)
    (folder / "main.py").write_text(script)
    return subprocess.run(
        command,
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=A_PROGRAM,
    )


@pytest.mark.older_client("blankly 1.18.25b0", "deployed: a strategy is backtested, unchanged")
def test_a_strategy_is_backtested_by_the_platform(
    python: Path, model: Model, tmp_path: Path
) -> None:
    command = [str(python), str(RUNTIME / "bootstrap.py"), "--out", str(tmp_path), "main.py", ""]
    variables = environment(model, tmp_path) | backtesting()
    ended = run(command, BACKTESTED, variables, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "tapeline" not in ended.stderr
    status = json.loads((tmp_path / "status.json").read_text())
    assert (status["successful"], status["mode"]) == (True, "script")
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["backtest_id"] == "the-run"
    assert len(result["trades"]) > 2
    assert result["final_account_value"] > 10_000
    assert model.size() == 0, "nothing of it happened"
    # As the platform will do with it.
    model.push("/v1/backtest/result", result)
    assert model.get("/backtests/the-run")["counts"]["trades"] == len(result["trades"])


@pytest.mark.older_client(
    "blankly 1.18.25b0", "deployed: a template that backtests by itself, once and not live"
)
def test_a_template_that_backtests_by_itself_is_backtested_once(
    python: Path, model: Model, tmp_path: Path
) -> None:
    """The package mixes a second backtest of a strategy into the first."""
    script = BOT + "    print(strategy.backtest(to='1y', initial_values={'USD': 5}) is not None)\n"
    results = []
    for number, text in enumerate([script, BACKTESTED]):
        place = tmp_path / str(number)
        place.mkdir()
        command = [str(python), str(RUNTIME / "bootstrap.py"), "--out", str(place), "main.py", ""]
        variables = environment(model, place) | backtesting()
        ended = run(command, text, variables, place)
        assert ended.returncode == 0, ended.stderr
        results.append(json.loads((place / "result.json").read_text()))
    own, ours = results
    assert own["final_account_value"] == ours["final_account_value"]
    assert len(own["account_values"]) == len(ours["account_values"])
    assert len(own["trades"]) == len(ours["trades"])


def test_a_backtest_that_cannot_be_run_fails(python: Path, model: Model, tmp_path: Path) -> None:
    """An error in a strategy's own callback is printed by the package, and no failure to it."""
    command = [str(python), str(RUNTIME / "bootstrap.py"), "--out", str(tmp_path), "main.py", ""]
    variables = environment(model, tmp_path) | backtesting(initial_values="plenty")
    assert run(command, BACKTESTED, variables, tmp_path).returncode == 1
    status = json.loads((tmp_path / "status.json").read_text())
    assert not status["successful"]
    assert "Traceback" in status["status_details"]
    assert "bootstrap.py" not in status["status_details"]


def test_a_strategy_backtests_without_the_bootstrap_too(
    python: Path, model: Model, tmp_path: Path
) -> None:
    variables = environment(model, tmp_path) | backtesting()
    ended = run([str(python), "main.py"], BACKTESTED, variables, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert model.get("/backtests/the-run")["counts"]["trades"] > 2


@pytest.mark.older_client(
    "blankly 1.18.25b0", "deployed: orders, annotations, prices and fills are reported"
)
def test_live_orders_on_paper_are_reported(python: Path, model: Model, tmp_path: Path) -> None:
    ended = run([str(python), "main.py"], LIVE, environment(model, tmp_path), tmp_path)
    assert ended.returncode == 0, ended.stderr
    told = [line for line in ended.stderr.splitlines() if "tapeline" in line]
    assert told == ["tapeline: backtest() was skipped, because the model runs live."]
    limit, market = model.items("/orders")
    assert market["fill"]["price"] == 100.0, "the package's own price"
    assert model.get("/pnl")["positions"][0]["last_price"] is not None
    assert (market["symbol"], market["side"], market["size"]) == ("BTC-USD", "buy", 1)
    assert market["exchange"] == "keyless"
    assert market["annotation"] == "the dip"
    assert (limit["side"], limit["price"], limit["size"]) == ("sell", 150, 1)
    about = model.get()
    assert about["symbols"] == ["BTC-USD"]
    assert about["exchanges"] == ["keyless"]
    assert model.items("/backtests") == [], "nothing is left pending"
    assert model.items("/events")[0]["args"] == {"text": "bought"}


@pytest.mark.older_client("blankly 1.18.25b0", "deployed: a screener reports its result")
def test_a_screener_reports_its_result(python: Path, model: Model, tmp_path: Path) -> None:
    ended = run([str(python), "main.py"], SCREENER, environment(model, tmp_path), tmp_path)
    assert ended.returncode == 0, ended.stderr
    rows = model.get("/screener")["result"]
    times = {row.pop("symbol_time") for row in rows.values()}
    assert all(isinstance(one, float) for one in times)
    assert rows["A"] == rows["B"] == {"rsi": 30.5, "notes.buy": True, "value": None}
    assert rows["C"] == {"rsi": None, "notes.buy": None, "value": 5}
    assert {one["type"] for one in model.items("/events")} == {"email", "text"}
