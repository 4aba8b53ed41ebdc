"""What a long history of bars costs: storing it, one more bar, and windows of it.

The models lie in one database and take turns, so that a noisy machine is noisy for all of them.
`python -m bench.prices [--bars N]`: the longest history, a million unless told otherwise.
"""

import argparse
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

from bench.parts import growth, service

ROUNDS = 30
TOGETHER = 10_000  # bars in one request
SPREAD = (100, 10)  # how much shorter the other histories are
INTERVAL = 30  # seconds: a million of them are within the 400 days that a server keeps
SYMBOL = "BTC-USD"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bars", type=int, default=1_000_000)
    longest: int = parser.parse_args().bars
    sizes = [*(longest // by for by in SPREAD), longest]
    end = int(time.time()) // INTERVAL * INTERVAL
    took: growth.Took = {}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with service.running(data) as first:
            models = [first.model, *(first.another_model(f"m{n}") for n in range(1, len(sizes)))]
            with httpx.Client(base_url=first.address, timeout=60) as client:
                for model, size in zip(models, sizes, strict=True):
                    _fill(client, first.headers | {"model_id": model}, size, end)
                _measure(client, first, models, sizes, end, took)
        size = sum(file.stat().st_size for file in data.glob("*.db*"))
        print(f"the database has {size / sum(sizes):,.0f} bytes per bar")
    growth.print_table(sizes, "bars", took)


def _fill(client: httpx.Client, headers: dict[str, str], size: int, end: int) -> None:
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


def _measure(
    client: httpx.Client,
    first: service.Service,
    models: list[str],
    sizes: list[int],
    end: int,
    took: growth.Took,
) -> None:
    bar = {"symbol": SYMBOL, "interval": INTERVAL, "open": 2, "high": 3, "low": 1, "close": 2}
    for turn in range(ROUNDS + 5):
        for model, size in zip(models, sizes, strict=True):
            begin = end - size * INTERVAL
            middle = begin + (size // 2) * INTERVAL
            windows: dict[str, dict[str, Any]] = {
                "the newest 1,000 bars": {"to": end},
                "1,000 bars in the middle": {"from": middle, "to": middle + 1_000 * INTERVAL},
                "5,000 bars made of 15 minutes": {"from": middle, "to": end, "interval": "15m"},
                "the whole history": {"from": begin, "to": end},
            }
            for what, query in windows.items():
                path = f"/api/models/{model}/prices"
                began = time.perf_counter()
                answer = client.get(path, params=query, headers={"token": first.token})
                seconds = time.perf_counter() - began
                assert answer.raise_for_status().json()["bars"]["time"]
                if turn >= 5:
                    took.setdefault(what, {}).setdefault(model, []).append(seconds)
            headers = first.headers | {"model_id": model, "time": str(end - INTERVAL)}
            began = time.perf_counter()
            client.post("/v1/live/bar", json=bar, headers=headers).raise_for_status()
            if turn >= 5:
                seconds = time.perf_counter() - began
                took.setdefault("one more bar", {}).setdefault(model, []).append(seconds)


if __name__ == "__main__":
    main()
