"""What one large backtest result costs everybody else: time, longest hold of the loop, memory.

A result of a million account values is posted to a service of its own, alone and within a batch,
while a second connection asks for the time again and again: how long the slowest of those answers
takes bounds how long the event loop was held. `python -m bench.results [--values N]`
"""

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import msgspec
import psutil

from bench.parts import service
from bench.parts.service import Service

HEADER = {
    "symbols": ["BTC-USD"], "quote_asset": "USD", "start_time": 0, "stop_time": 1, "trades": [],
}  # fmt: skip
TURNS = 3
LOOKED_EVERY = 0.02  # seconds between two looks at the memory


@dataclass
class SmallRequests:
    """What was seen while something went on."""

    seconds: float = 0.0
    pings: list[float] = field(default_factory=list)
    """Milliseconds."""
    memory: int = 0
    """The most that server and helpers had, beyond what the idle server had, in bytes."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, default=1_000_000)
    values: int = parser.parse_args().values
    print("| what | size | time | small requests beside it: median, p99, longest | memory |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        lines = msgspec.json.encode(
            [{"path": "/v1/live/log", "body": {"line": "x" * 9_900}}] * 10_000
        )
        for what, path, content in (
            ("nothing", "", b""),
            ("a result", "/v1/backtest/result", _result("alone", values)),
            ("a batch with a result", "/v1/batch", _batch(_result("batched", values))),
            ("a batch of 10,000 long lines", "/v1/batch", lines),
        ):
            _print(what, len(content), [_measured(Path(name), path, content) for _ in range(TURNS)])


def _measured(folder: Path, path: str, content: bytes) -> SmallRequests:
    with tempfile.TemporaryDirectory(dir=folder) as name, service.running(Path(name)) as ours:
        return _alongside(ours, path, content)


def _alongside(ours: Service, path: str, content: bytes) -> SmallRequests:
    with httpx.Client(base_url=ours.address, headers=ours.headers, timeout=300) as client:
        client.post("/v1/live/log", json={"line": "warm"}).raise_for_status()
        started = time.perf_counter()
        with _watching(ours) as seen:
            if content:
                headers = {"content-type": "application/json"}
                client.post(path, content=content, headers=headers).raise_for_status()
            else:
                time.sleep(3)
        seen.seconds = time.perf_counter() - started
    return seen


def _print(what: str, size: int, turns: list[SmallRequests]) -> None:
    """The turn in which nobody waited long: what disturbs from outside only makes a turn worse."""
    seen = min(turns, key=lambda one: max(one.pings))
    pings = sorted(seen.pings)
    shown = ", ".join(f"{pings[place]:.1f}" for place in (len(pings) // 2, -len(pings) // 100, -1))
    times = f" ({seen.memory / size:.1f} times)" if size else ""
    print(
        f"| {what} | {size / 1e6:.0f} MB | {seen.seconds:.1f} s | {shown} ms"
        f" | {seen.memory / 1e6:.0f} MB{times} |",
        flush=True,
    )


@contextmanager
def _watching(ours: Service) -> Iterator[SmallRequests]:
    seen, over = SmallRequests(), threading.Event()
    idle = _memory(ours.pid)

    def ping() -> None:
        with httpx.Client(base_url=ours.address, timeout=60) as client:
            client.get("/time")
            while not over.is_set():
                started = time.perf_counter()
                client.get("/time").raise_for_status()
                seen.pings.append(1000 * (time.perf_counter() - started))

    def look() -> None:
        while not over.wait(LOOKED_EVERY):
            seen.memory = max(seen.memory, _memory(ours.pid) - idle)

    threads = [threading.Thread(target=act) for act in (ping, look)]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _memory(pid: int) -> int:
    """Of the server and its helpers, what they share counted once."""
    process, total = psutil.Process(pid), 0
    for one in (process, *process.children(recursive=True)):
        try:
            total += one.memory_full_info().pss
        except psutil.Error:
            continue  # it has just ended
    return total


def _result(name: str, values: int) -> bytes:
    points = [
        {"time": 1_600_000_000.25 + 60 * n, "value": 10_000.123456 + n / 7, "cash": 5_000 + n / 3,
         "drawdown": -n / values} for n in range(values)
    ]  # fmt: skip
    return msgspec.json.encode({"backtest_id": name, **HEADER, "account_values": points})


def _batch(result: bytes) -> bytes:
    item = {"path": "/v1/backtest/result", "body": msgspec.Raw(result)}
    return msgspec.json.encode([item])


if __name__ == "__main__":
    main()
