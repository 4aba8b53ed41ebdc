"""What a page about a backtest costs, by the size of the backtest: every endpoint, three sizes.

The backtests lie in one database and take turns. `python -m bench.views [--values N]`: account
values of the largest, a million unless told otherwise; a fifth as many trades.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import msgspec
import numpy as np

from bench.parts import service

ROUNDS = 30
WANTED = 0.1  # seconds
SPREAD = (100, 10, 1)  # how much smaller the others are
TRADES_OF = 5  # account values to a trade
MINUTE = 60.0
START = 1_500_000_000.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, default=1_000_000)
    largest: int = parser.parse_args().values
    sizes = [largest // by for by in SPREAD]
    with (
        tempfile.TemporaryDirectory() as folder,
        service.running(Path(folder) / "data") as running,
        httpx.Client(base_url=running.address, timeout=300) as client,
    ):
        for size in sizes:
            _push(client, running, size)
            print(f"{size:,} values: report after {_waited(client, running, size):.1f} s")
        took = _measure(client, running, sizes)
    _print(sizes, took)


def _push(client: httpx.Client, running: service.Service, size: int) -> None:
    times = START + MINUTE * np.arange(float(size))
    values = 10_000 * np.exp(np.cumsum(np.random.default_rng(size).normal(0, 0.0005, size)))
    body = {
        "backtest_id": f"b{size}",
        "symbols": ["BTC-USD", "ETH-USD"],
        "quote_asset": "USD",
        "start_time": float(times[0]),
        "stop_time": float(times[-1]),
        "account_values": [
            {"time": moment, "value": value}
            for moment, value in zip(times.tolist(), values.round(4).tolist(), strict=True)
        ],
        "trades": list(_trades(times)),
        "indicators": {
            "mean": {
                "display_name": "Mean",
                "type": "line",
                "values": [
                    {"time": moment, "value": value}
                    for moment, value in zip(
                        times[::4].tolist(), values[::4].round(4).tolist(), strict=True
                    )
                ],
            }
        },
    }
    headers = {**running.headers, "content-type": "application/json"}
    content = msgspec.json.encode(body)
    client.post("/v1/backtest/result", content=content, headers=headers).raise_for_status()


def _trades(times: "np.typing.NDArray[np.float64]") -> Iterator[dict[str, object]]:
    for place, moment in enumerate(times[::TRADES_OF].tolist()):
        yield {
            "id": f"t{place}",
            "symbol": "BTC-USD" if place % 4 < 2 else "ETH-USD",
            "side": "buy" if place % 2 == 0 else "sell",
            "time": moment,
            "size": 0.5,
            "price": 100.0 + place % 17,
            "fee": 0.01,
        }


def _waited(client: httpx.Client, running: service.Service, size: int) -> float:
    """Seconds from the answer to the result until its report is there."""
    started = time.perf_counter()
    url = f"/api/models/{running.model}/backtests/b{size}/periods"
    client.get(url, headers={"token": running.token}).raise_for_status()
    return time.perf_counter() - started


def _paths(size: int) -> dict[str, str]:
    one, middle = f"/backtests/b{size}", START + MINUTE * size / 2
    zoomed = f"from={middle}&to={middle + MINUTE * size / 50}"
    return {
        "`…/backtests`": "/backtests",
        "`…/backtests/{id}`": one,
        "`…/equity`": f"{one}/equity",
        "`…/equity?points=5000`": f"{one}/equity?points=5000",
        "`…/equity?from=&to=`": f"{one}/equity?{zoomed}",
        "`…/drawdown`": f"{one}/drawdown",
        "`…/rolling`": f"{one}/rolling",
        "`…/periods`": f"{one}/periods",
        "`…/indicators`": f"{one}/indicators",
        "`…/trades`": f"{one}/trades",
        "`…/trades?limit=1000`": f"{one}/trades?limit=1000",
        "`…/round-trips`": f"{one}/round-trips",
        "`…/round-trips?limit=1000`": f"{one}/round-trips?limit=1000",
        "`…/logs`": f"{one}/logs",
        "`…/backtests-compare` with itself": f"/backtests-compare?ids=b{size}",
        "`…/tear-sheet`": f"{one}/tear-sheet",
        "`…/export.csv`, first piece": f"{one}/export.csv",
        "`…/trades.csv`, first piece": f"{one}/trades.csv",
        "`…/export.json`, first piece": f"{one}/export.json",
    }


def _measure(
    client: httpx.Client, running: service.Service, sizes: list[int]
) -> dict[str, dict[int, list[float]]]:
    """Seconds by endpoint and size."""
    took: dict[str, dict[int, list[float]]] = {}
    for turn in range(ROUNDS + 3):
        for size in sizes:
            for what, path in _paths(size).items():
                seconds = _timed(client, running, path, whole="first piece" not in what)
                if turn >= 3:  # the first ones warm everything up
                    took.setdefault(what, {}).setdefault(size, []).append(seconds)
    return took


def _timed(client: httpx.Client, running: service.Service, path: str, *, whole: bool) -> float:
    address, headers = f"/api/models/{running.model}{path}", {"token": running.token}
    started = time.perf_counter()
    with client.stream("GET", address, headers=headers) as response:
        response.raise_for_status()
        if whole:
            response.read()
            return time.perf_counter() - started
        pieces = response.iter_raw()
        next(pieces), next(pieces)
        return time.perf_counter() - started


def _print(sizes: list[int], took: dict[str, dict[int, list[float]]]) -> None:
    median: Callable[[list[float]], float] = statistics.median
    heads = " | ".join(f"{size:,} values" for size in sizes)
    print(f"| median of {ROUNDS} | {heads} | slowest of all | largest beside smallest |")
    print("|---" * (len(sizes) + 3) + "|")
    for what, by_size in took.items():
        medians = [median(by_size[size]) for size in sizes]
        shown = " | ".join(f"{1000 * seconds:.1f} ms" for seconds in medians)
        worst = max(max(one) for one in by_size.values())
        print(f"| {what} | {shown} | {1000 * worst:.0f} ms | {medians[-1] / medians[0]:.2f} |")
    slow = [what for what, by_size in took.items() if max(map(median, by_size.values())) > WANTED]
    print(f"Over {1000 * WANTED:.0f} ms: {', '.join(slow) or 'none'}.")


if __name__ == "__main__":
    main()
