"""What an honest client notices of others who want to take the server down, and what it costs.

Every way in turn, before and during beside each other: the honest client's 99th percentile, and the
server's memory. `python -m bench.abuse [--rounds N] [--seconds N] [--only WAY …]`
"""

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

import psutil

from bench.parts import fleet
from bench.parts.fleet import Server
from tests.archives import zipped

PACE = 0.005  # seconds between two events of the honest client
SETTLED = 1.0  # seconds between two measurements
MOST_SLOWER, MOST_MEMORY = 2.0, 100  # times, MB
PRINTING = 'while True:\n    print("x" * 4000)\n'

Headers = dict[str, str]
Attack = Callable[[], AbstractContextManager[Counter[str]]]


@dataclass
class Found:
    """One way, over all rounds."""

    before: list[float] = field(default_factory=list)
    during: list[float] = field(default_factory=list)
    """Milliseconds: the 99th percentile of each round."""
    memory: list[float] = field(default_factory=list)
    """MB more than before, at the worst moment of each round."""
    answers: Counter[str] = field(default_factory=Counter)
    """What the attacker was answered."""
    failed: int = 0
    """Events of the honest client that were not taken."""


def main() -> None:
    options = _options()
    with fleet.server(log_level="error") as server:
        honest, hostile = server.make_model("honest"), server.make_model("hostile")
        attacks = _attacks(server, server.key(hostile), hostile)
        found = {name: Found() for name in attacks if not options.only or name in options.only}
        for _ in range(options.rounds):
            for name, one in found.items():
                _measure(server, server.key(honest), attacks[name], one, options.seconds)
    _print(found, options.rounds, options.seconds)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--only", nargs="*", default=[])
    return parser.parse_args()


def _attacks(server: Server, headers: Headers, model: str) -> dict[str, Attack]:
    ways = {
        "2,000 half-open requests": "half-open",
        "16 heads without an end, again and again": "endless-heads",
        "500 bodies, a byte a second": "slow-bodies",
        "10 unfinished batches of 90 MB of one key": "unfinished-batches",
        "200 clients that never read": "unread-answers",
        "one key, 16 connections, as fast as it goes": "flood",
    }

    def attack(way: str) -> Attack:
        return lambda: _abusing(way, server.port, headers)

    found = {name: attack(way) for name, way in ways.items()}
    found["one model that prints as fast as it goes"] = lambda: _printing(server, model)
    return found


@contextmanager
def _abusing(way: str, port: int, headers: Headers) -> Iterator[Counter[str]]:
    answers: Counter[str] = Counter()
    with subprocess.Popen(
        [sys.executable, "-m", "bench.parts.abuser", way, str(port)],
        env={**os.environ, "HEADERS": json.dumps(headers)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdout.readline()
        yield answers
        process.stdin.close()
        answers.update(json.loads(process.stdout.read() or "{}"))


@contextmanager
def _printing(server: Server, model: str) -> Iterator[Counter[str]]:
    server.upload("/model/deploy", model, zipped({"main.py": PRINTING}), plan="nano")
    fleet.wait_for(lambda: bool(server.logs(model, "limit=1&type=stdout")))
    try:
        yield Counter()
    finally:
        server.kill(model)


def _measure(server: Server, honest: Headers, attack: Attack, found: Found, seconds: float) -> None:
    process = psutil.Process(server.pid)
    found.before.append(_p99(server.port, honest, seconds, found))
    before = process.memory_info().rss
    with _watched(process) as most, attack() as answers:
        time.sleep(SETTLED)
        found.during.append(_p99(server.port, honest, seconds, found))
    found.memory.append((most[0] - before) / 1e6)
    found.answers.update(answers)
    time.sleep(SETTLED)


def _p99(port: int, headers: Headers, seconds: float, found: Found) -> float:
    """Milliseconds for an event of a client that sends some two hundred a second."""
    opened = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"content-type": "application/json", **headers}
    body, took = json.dumps({"line": "an honest line"}), list[float]()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        started = time.perf_counter()
        try:
            opened.request("POST", "/v1/live/log", body, headers)
            answer = opened.getresponse()
            answer.read()
            found.failed += answer.status != 200
        except (OSError, http.client.HTTPException):
            found.failed += 1
            opened.close()
        took.append(time.perf_counter() - started)
        time.sleep(PACE)
    opened.close()
    return 1000 * statistics.quantiles(took, n=100)[-1]


@contextmanager
def _watched(process: psutil.Process) -> Iterator[list[int]]:
    """The most memory it takes meanwhile."""
    most, over = [process.memory_info().rss], threading.Event()

    def watch() -> None:
        while not over.wait(0.1):
            most[0] = max(most[0], process.memory_info().rss)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield most
    finally:
        over.set()
        watching.join()


def _print(found: dict[str, Found], rounds: int, seconds: float) -> None:
    print(f"{rounds} rounds of {seconds:g} s before and {seconds:g} s during each; p99: medians.\n")
    print("| who | p99 before | p99 during | times | memory at worst | answered | lost |")
    print("|---|---|---|---|---|---|---|")
    for name, one in found.items():
        before, during = statistics.median(one.before), statistics.median(one.during)
        ratios = sorted(b / a for a, b in zip(one.before, one.during, strict=True))
        answers = ", ".join(f"{count:,} x {status}" for status, count in one.answers.most_common())
        print(
            f"| {name} | {before:.1f} ms | {during:.1f} ms"
            f" | {statistics.median(ratios):.1f} ({ratios[0]:.1f} to {ratios[-1]:.1f})"
            f" | {max(one.memory):+.0f} MB | {answers} | {one.failed} |"
        )
    slower = max(
        statistics.median(b / a for a, b in zip(one.before, one.during, strict=True))
        for one in found.values()
    )
    memory = max(max(one.memory) for one in found.values())
    print("\n| figure | wanted | measured | reached |")
    print("|---|---|---|---|")
    for what, wanted, measured, unit in (
        ("p99 of an honest client, at worst", MOST_SLOWER, slower, "times"),
        ("memory, at worst", MOST_MEMORY, memory, "MB"),
    ):
        reached = "yes" if measured <= wanted else "not yet"
        print(f"| {what} | {wanted:g} {unit} | {measured:.1f} {unit} | {reached} |")


if __name__ == "__main__":
    main()
