"""A long history of bars for benches, sent as a model would send it."""

import random
import time
from typing import Any

import httpx

TOGETHER = 10_000  # bars in one request
INTERVAL = 30  # seconds: a million of them are within the 400 days that a server keeps
SYMBOL = "BTC-USD"


def fill(client: httpx.Client, headers: dict[str, str], size: int, end: int) -> None:
    """So many bars up to `end`."""
    walk, price = random.Random(1), 40_000.0
    spent = 0.0
    for start in range(0, size, TOGETHER):
        count = min(TOGETHER, size - start)
        first = end - (size - start) * INTERVAL
        body: dict[str, Any] = {"symbol": SYMBOL, "interval": INTERVAL}
        body["time"] = [first + number * INTERVAL for number in range(count)]
        body |= {key: [] for key in ("open", "high", "low", "close", "volume")}
        for _ in range(count):
            close = round(price + walk.gauss(0, 15), 2)
            body["open"].append(price)
            body["high"].append(round(max(price, close) + walk.random() * 9, 2))
            body["low"].append(round(min(price, close) - walk.random() * 9, 2))
            body["close"].append(close)
            body["volume"].append(round(walk.random() * 12, 6))
            price = close
        began = time.perf_counter()
        client.post("/v1/live/bars", json=body, headers=headers).raise_for_status()
        spent += time.perf_counter() - began
    print(f"{size:,} bars stored: {size / spent:,.0f}/s")
