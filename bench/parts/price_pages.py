"""Price charts in a browser, of a live model and of a backtest, with many bars beside few."""

import time
from typing import NamedTuple

import httpx
from playwright.sync_api import Page

from bench.parts import browsing, long_prices, service
from bench.parts.long_prices import INTERVAL, SYMBOL

BACKTEST = "priced"
TRADES = 2_000
CHART = "figure[aria-label^='Prices of'] canvas"
SECONDS = 15.0


class Priced(NamedTuple):
    """Two models with bars, and a backtest each."""

    few: str
    many: str


def filled(client: httpx.Client, first: service.Service, few: int, many: int) -> Priced:
    end = int(time.time()) // INTERVAL * INTERVAL
    models = [first.another_model(f"prices of {size}") for size in (few, many)]
    for model, size in zip(models, (few, many), strict=True):
        headers = first.headers | {"model_id": model}
        long_prices.fill(client, headers, size, end)
        _push_backtest(client, headers, end - size * INTERVAL, end)
    return Priced(*models)


def opened(page: Page, address: str) -> float:
    """Seconds until the chart is drawn."""
    return browsing.shown(page, address, CHART)


def panned(page: Page, address: str) -> browsing.Scrolled:
    """Drags and zooms, with pauses in which the next range is loaded."""
    opened(page, address)
    page.wait_for_timeout(1_000)
    return browsing.panned(page, CHART, SECONDS)


def _push_backtest(client: httpx.Client, headers: dict[str, str], start: int, end: int) -> None:
    step = (end - start) / TRADES
    body = {
        "backtest_id": BACKTEST, "symbols": [SYMBOL], "quote_asset": "USD",
        "start_time": start, "stop_time": end,
        "account_values": [{"time": start, "value": 1_000}, {"time": end, "value": 1_100}],
        "trades": [
            {"time": start + number * step, "symbol": SYMBOL, "size": 1, "price": 40_000,
             "side": "sell" if number % 2 else "buy"}
            for number in range(TRADES)
        ],
    }  # fmt: skip
    client.post("/v1/backtest/result", json=body, headers=headers, timeout=60).raise_for_status()
