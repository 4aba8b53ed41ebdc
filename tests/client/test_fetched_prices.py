"""Prices that a model fetches through a library reach the platform, and nothing is disturbed."""

import asyncio
import time
from typing import Any

import pytest
from tapeline_client import Problem
from tapeline_client.adapters import ccxt, prices

from tests.client.conftest import Make
from tests.pushing import Model

HOUR = 3_600


class Exchange:
    """As ccxt has them."""

    id = "stand-in"

    def __init__(self, count: int) -> None:
        self.now = int(time.time()) // HOUR * HOUR
        self.count = count

    @staticmethod
    def parse_timeframe(timeframe: str) -> int:
        return {"1m": 60, "1h": HOUR}[timeframe]

    def fetch_ticker(self, symbol: str, **_: Any) -> dict[str, Any]:
        return {"symbol": symbol, "last": 41_000.0}

    def fetch_ohlcv(self, *_: Any, **_keys: Any) -> list[list[Any]]:
        first = self.now - (self.count - 1) * HOUR
        rows: list[list[Any]] = [
            [(first + n * HOUR) * 1_000, 2, 4, 1, 3, None] for n in range(self.count)
        ]
        return [[None, 1, 1, 1, 1, 1], [0, 1, 1, 9, 1, 1], *rows]


class AsyncExchange(Exchange):
    async def fetch_ohlcv(self, *args: Any, **keys: Any) -> Any:  # type: ignore[override]
        return super().fetch_ohlcv(*args, **keys)


def test_tickers_and_candles_of_ccxt_become_marks_and_bars(
    make: Make, model: Model, problems: list[Problem]
) -> None:
    exchange, client = Exchange(5), make()
    ccxt.Orders(exchange, client)
    for _ in range(3):
        assert exchange.fetch_ticker("BTC/USDT")["last"] == 41_000
        assert len(exchange.fetch_ohlcv("BTC/USDT", "1h")) == 7
        exchange.fetch_ohlcv("BTC/USDT", timeframe="1h", limit=5)
    assert client.flush()
    assert client.stats()["taken"] == 7, "one mark; the newest bar may have grown each time"
    assert [body["price"] for body in model.bodies()] == [41_000]
    found = model.get("/prices", symbol="BTC/USDT")
    assert found["bars"]["time"] == [exchange.now - HOUR * n for n in (4, 3, 2, 1, 0)]
    assert not problems


def test_an_exchange_that_is_awaited_is_heard_too(make: Make, model: Model) -> None:
    exchange, client = AsyncExchange(3), make()
    ccxt.Orders(exchange, client)
    assert len(asyncio.run(exchange.fetch_ohlcv("BTC/USDT", "1h"))) == 5
    assert client.flush()
    assert len(model.get("/prices", symbol="BTC/USDT")["bars"]["time"]) == 3


def test_a_report_that_fails_does_not_disturb_the_call(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    exchange = Exchange(1)
    ccxt.Orders(exchange, make())
    assert len(exchange.fetch_ohlcv("BTC/USDT", "5y")) == 3
    assert "fetch_ohlcv was not reported" in caplog.text


def test_of_a_long_history_the_newest_bars_are_sent(make: Make, model: Model) -> None:
    client = make()
    rows = [[n * HOUR, 1, 1, 1, 1] for n in range(5_000)]
    sent = prices.Prices(client)
    assert sent.bars("A", HOUR, rows) == prices.MOST
    assert sent.bars("A", HOUR, rows[:-1]) == 0, "older than what is known"
    assert client.flush()
    assert model.get("/prices", symbol="A")["bars"]["time"][0] == 4_000 * HOUR
