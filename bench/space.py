"""Space given back: a model with many log lines is deleted while another one trades.

`python -m bench.space [--lines N]`: ten million unless told otherwise. A client sends an order
every 20 ms: before, until the file has become small again, and afterwards. Where other work shares
the machine, the rows before and afterwards say how long that work makes it wait.
"""

import argparse
import itertools
import statistics
import tempfile
import threading
import time
from pathlib import Path

import httpx

from bench.parts import plain_tape, service

EVERY = 0.02  # seconds between orders
USUAL = 60.0  # seconds that the client is watched before anything is deleted, and afterwards
LONG = 0.05  # seconds that nobody should wait longer for, because of a deletion
SMALL = 20_000_000  # bytes that a database of hardly anything has at most, with its log
PATIENCE = 3600.0


class Client(threading.Thread):
    """Sends orders of another model, and notes how long each answer took."""

    def __init__(self, first: service.Service) -> None:
        super().__init__(daemon=True)
        self.took: list[float] = []
        self.is_over = threading.Event()
        self._first = first
        self._numbers = itertools.count()

    def run(self) -> None:
        with httpx.Client(base_url=self._first.address, timeout=60) as client:
            while not self.is_over.wait(EVERY):
                started = time.perf_counter()
                client.post(
                    "/v1/live/spot-market", json=self._order(), headers=self._first.headers
                ).raise_for_status()
                self.took.append(time.perf_counter() - started)

    def _order(self) -> dict[str, object]:
        known = {"symbol": "BTC-USD", "exchange": "kraken", "side": "buy", "size": 1, "price": 9}
        return {**known, "id": f"o{next(self._numbers)}"}

    def taken(self) -> list[float]:
        took, self.took = self.took, []
        return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=10_000_000)
    lines: int = parser.parse_args().lines
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with service.running(data) as first:
            other = first.another_model("talks much")
        plain_tape.fill(data, other, lines, orders_every=0)
        with service.started(data) as (port, pid):
            again = service.Service(
                port, pid, first.model, first.headers, first.project, first.token
            )
            _measure(data, again, other)


def _measure(data: Path, first: service.Service, other: str) -> None:
    client, full = Client(first), _size(data)
    client.start()
    time.sleep(USUAL)
    _row("before", client.taken(), full, USUAL)
    began = time.monotonic()
    wanted, headers = {"projectId": first.project, "modelId": other}, {"token": first.token}
    httpx.post(f"{first.address}/model/delete", json=wanted, headers=headers).raise_for_status()
    while _size(data) > SMALL and time.monotonic() < began + PATIENCE:
        time.sleep(0.5)
    _row("deleting and giving back", client.taken(), _size(data), time.monotonic() - began)
    time.sleep(USUAL)
    _row("afterwards", client.taken(), _size(data), USUAL)
    client.is_over.set()
    client.join()


def _row(when: str, took: list[float], size: int, seconds: float) -> None:
    waits = statistics.quantiles(took, n=100)
    shown = ", ".join(f"{1000 * one:.1f}" for one in (waits[49], waits[98], max(took)))
    long = sum(one > LONG for one in took) / len(took)
    print(
        f"| {when} | {seconds:.0f} s | {len(took):,} | {shown} ms | {long:.1%}"
        f" | {size / 1e6:,.0f} MB |",
        flush=True,
    )


def _size(data: Path) -> int:
    return sum(one.stat().st_size for one in data.glob("tapeline.db*"))


if __name__ == "__main__":
    main()
