"""A model with backtests: results as a trader pushes them, and one that takes its time."""

import math
import random
from typing import Any

from tests.acceptance.traders import Trader
from tests.archives import zipped

DAY = 86_400
START = 1_640_995_200  # 2022-01-01
ARGUMENTS = {"days": 30, "fast": 5, "label": "a", "deep": False}
SCRIPT = """
import time

def backtest(days=30, fast=5, label="a", deep=False):
    print("testing", days, fast, label, deep, flush=True)
    time.sleep(1.5)
    if days < 0:
        raise ValueError("days must not be negative")
    values = [{"time": 1640995200 + 86400 * day, "value": 1000.0 + fast * day}
              for day in range(days)]
    print("tested", flush=True)
    return {"symbols": ["BTC-USD"], "quote_asset": "USD", "start_time": 1640995200,
            "stop_time": 1640995200 + 86400 * days, "account_values": values, "trades": [],
            "metrics": {}, "indicators": {}}
"""


class Candidate:
    """A model of one trader, its key, and the archive of its only version."""

    def __init__(self, trader: Trader, name: str = "Tested", model: str | None = None) -> None:
        self.trader = trader
        project = trader.user_id
        said = {"projectId": project, "name": name, "type": "strategy"}
        self.id: str = model or trader.post("/model/create-model", data=said)["modelId"]
        key = trader.post("/project/generate-project-token", data={"projectId": project})
        self._headers = {
            "api_key": key["apiKey"],
            "api_pass": key["apiPass"],
            "model_id": self.id,
        }

    @property
    def path(self) -> str:
        return f"/{self.trader.user_id}/{self.id}"

    def push(self, path: str, body: dict[str, Any] | list[dict[str, Any]]) -> None:
        self.trader.post(path, json=body, headers=self._headers)

    def result(self, backtest_id: str, description: str, **more: Any) -> None:
        """A result with its status; `more` changes what the simulated market is like."""
        label = more.pop("label", None)
        self.push("/v1/backtest/result", simulated(backtest_id, **more))
        said = {
            "successful": True, "status_summary": "Success", "status_details": "",
            "time_elapsed": 3.2, "backtest_id": backtest_id, "description": description,
        }  # fmt: skip
        self.push("/v1/backtest/status", said | ({"label": label} if label else {}))

    def order(self, order_id: str) -> None:
        said = {
            "id": order_id, "symbol": "BTC-USD", "exchange": "simulated", "side": "buy",
            "size": 7.654321, "price": 107.5,
        }  # fmt: skip
        self.push("/v1/live/spot-limit", said)

    def share(self, **said: Any) -> str:
        """The token of a link."""
        token: str = self.trader.post(f"/api/models/{self.id}/shares", json=said)["token"]
        return token

    def upload(self, script: str = SCRIPT) -> None:
        archive = zipped({"main.py": script}, backtest_args=ARGUMENTS)
        self.trader.post(
            "/model/upload", data={"modelId": self.id}, files={"model": ("m.zip", archive)}
        )


def simulated(
    backtest_id: str, *, seed: int = 1, days: int = 900, drift: float = 0.001, every: int = 7
) -> dict[str, Any]:
    """Years of an account with trades, fees and indicators."""
    dice = random.Random(seed)
    worth, price, held = 10_000.0, 100.0, 0.0
    values, trades, averages, moods = [], [], [], []
    for day in range(days):
        moment = START + day * DAY
        move = dice.gauss(drift, 0.012)
        price *= 1 + move
        worth *= 1 + move * (0.8 if held else 0.1)
        values.append({"time": moment, "value": round(worth, 2)})
        averages.append({"time": moment, "value": price * (1 + 0.02 * math.sin(day / 20))})
        moods.append({"time": moment, "value": 50 + 30 * math.sin(day / 15)})
        if day % every == every // 2:
            size = held or round(worth / price / 2, 4)
            trades.append(
                {
                    "symbol": "BTC-USD",
                    "side": "sell" if held else "buy",
                    "time": moment,
                    "price": round(price, 2),
                    "size": size,
                    "fee": 0.5,
                }
            )
            held = 0.0 if held else size
    return {
        "backtest_id": backtest_id,
        "symbols": ["BTC-USD"],
        "quote_asset": "USD",
        "start_time": START,
        "stop_time": START + days * DAY,
        "exchange": "simulated",
        "account_values": values,
        "trades": trades,
        "metrics": {"edge": {"value": 0.123, "display_name": "Edge", "type": "percent"}},
        "indicators": {
            "average": {"display_name": "Moving average", "type": "line", "values": averages},
            "mood": {"display_name": "Mood", "type": "line", "values": moods},
        },
    }
