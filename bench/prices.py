"""What a long history of bars costs: storing it, one more bar, and windows of it.

The models lie in one database and take turns, so that a noisy machine is noisy for all of them.
`python -m bench.prices [--bars N]`: the longest history, a million unless told otherwise.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

from bench.parts import growth, long_prices, service
from bench.parts.long_prices import INTERVAL, SYMBOL

ROUNDS = 30
SPREAD = (100, 10)  # how much shorter the other histories are


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
                    long_prices.fill(client, first.headers | {"model_id": model}, size, end)
                _measure(client, first, models, sizes, end, took)
        size = sum(file.stat().st_size for file in data.glob("*.db*"))
        print(f"the database has {size / sum(sizes):,.0f} bytes per bar")
    growth.print_table(sizes, "bars", took)


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
