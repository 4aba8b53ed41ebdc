"""Programs that report to an installation without a pause, and remember what was acknowledged."""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import httpx
from tapeline_client import Client

from tests.waiting import wait_for

PATIENCE = 90.0  # seconds for a machine that is busy with a fault
ANSWERED_WITHIN = 10.0
PAUSE = 0.02
TRANSIENT = {502, 503, 504}
"""What a proxy answers while a server is away, and a server while its database is."""


class Load(Protocol):
    def run(self, over: threading.Event) -> None: ...

    def progress(self) -> int:
        """Grows while it gets on."""

    def check(self, said: Counter[str]) -> None:
        """Whether a tape with so many of each line is right."""


class Repeating:
    """Sends each event until it is acknowledged, with the same Idempotency-Key."""

    def __init__(self, address: str, headers: dict[str, str]) -> None:
        self._address, self._headers = address, headers
        self.sent = 0

    def run(self, over: threading.Event) -> None:
        with httpx.Client(base_url=self._address, timeout=ANSWERED_WITHIN, verify=False) as client:
            while not over.is_set():
                if self._is_acknowledged(client, f"repeated {self.sent}"):
                    self.sent += 1
                time.sleep(PAUSE)

    def progress(self) -> int:
        return self.sent

    def check(self, said: Counter[str]) -> None:
        found = {line: times for line, times in said.items() if line.startswith("repeated ")}
        last = found.pop(f"repeated {self.sent}", 0)  # was under way when we ended
        assert last <= 1
        assert found == {f"repeated {number}": 1 for number in range(self.sent)}

    def _is_acknowledged(self, client: httpx.Client, line: str) -> bool:
        headers = self._headers | {"Idempotency-Key": line}
        with suppress(httpx.TransportError):
            answer = client.post("/v1/live/log", json={"line": line}, headers=headers)
            # 409: the first of two equal requests is still under way on another server.
            assert answer.status_code in {200, 409, 429, *TRANSIENT}, answer.text
            return answer.status_code == 200
        return False


class Once:
    """Sends each event once, without an Idempotency-Key: what nobody acknowledged may be there."""

    def __init__(self, address: str, headers: dict[str, str]) -> None:
        self._address, self._headers = address, headers
        self.acknowledged: set[str] = set()
        self.in_doubt: set[str] = set()

    def run(self, over: threading.Event) -> None:
        number = 0
        with httpx.Client(base_url=self._address, timeout=ANSWERED_WITHIN, verify=False) as client:
            while not over.is_set():
                line, number = f"once {number}", number + 1
                known = self.acknowledged if self._is_acknowledged(client, line) else self.in_doubt
                known.add(line)
                time.sleep(PAUSE)

    def progress(self) -> int:
        return len(self.acknowledged)

    def check(self, said: Counter[str]) -> None:
        found = {line: times for line, times in said.items() if line.startswith("once ")}
        assert max(found.values()) == 1, "none is stored twice"
        assert not self.acknowledged - found.keys(), "lost"
        assert found.keys() <= self.acknowledged | self.in_doubt

    def _is_acknowledged(self, client: httpx.Client, line: str) -> bool:
        with suppress(httpx.TransportError):
            answer = client.post("/v1/live/log", json={"line": line}, headers=self._headers)
            assert answer.status_code in {200, 429, *TRANSIENT}, answer.text
            return answer.status_code == 200
        return False


class OfTheClient:
    """What a model reports through the package."""

    def __init__(self, address: str, headers: dict[str, str], folder: Path) -> None:
        self._client = Client(
            address, headers["model_id"], headers["api_key"], headers["api_pass"],
            folder=str(folder),
        )  # fmt: skip
        self.sent = 0

    def run(self, over: threading.Event) -> None:
        while not over.is_set():
            self._client.log(f"client {self.sent}")
            self.sent += 1
            time.sleep(PAUSE)
        assert self._client.flush(PATIENCE)
        self._client.close()

    def progress(self) -> int:
        return self.sent

    def check(self, said: Counter[str]) -> None:
        found = {line: times for line, times in said.items() if line.startswith("client ")}
        assert found == {f"client {number}": 1 for number in range(self.sent)}


class Page:
    """Follows a model as a page in a browser does: it has no patience of its own, and when the
    stream breaks off it connects again and goes on after the last event that it saw."""

    def __init__(self, address: str, token: str, model: str) -> None:
        self._address = f"{address}/api/models/{model}/stream"
        self._headers = {"token": token}
        self.seen: list[int] = []
        self.lines: Counter[str] = Counter()
        self.connections = 0

    def run(self, over: threading.Event) -> None:
        while not over.is_set():
            with suppress(httpx.TransportError):
                self._follow(over)
            over.wait(PAUSE)

    def progress(self) -> int:
        return len(self.seen)

    def check(self, said: Counter[str]) -> None:
        """The tape is read after the page was left."""
        assert self.seen == list(range(self.seen[0], self.seen[0] + len(self.seen)))
        assert not self.lines - said

    def _follow(self, over: threading.Event) -> None:
        headers = self._headers | ({"Last-Event-ID": str(self.seen[-1])} if self.seen else {})
        waits = httpx.Timeout(ANSWERED_WITHIN, read=None)
        with httpx.stream(
            "GET", self._address, headers=headers, timeout=waits, verify=False
        ) as answer:
            assert answer.status_code in {200, *TRANSIENT}, answer.read()
            self.connections += answer.status_code == 200
            for line in answer.iter_lines():
                if line.startswith("id: "):
                    self.seen.append(int(line[4:]))
                elif line.startswith("data: "):
                    self.lines[json.loads(line[6:]).get("line", "")] += 1
                if over.is_set():
                    return


class Running:
    """Loads under way. One that falls over is noticed, at the latest at the end."""

    def __init__(self, loads: Sequence[Load]) -> None:
        self._loads = loads
        self._failures: list[BaseException] = []
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(one,)) for one in loads]

    def get_on(self) -> None:
        """Each of them makes progress from now on."""
        before = [one.progress() for one in self._loads]

        def all_do() -> bool:
            self.raise_failure()
            now = [one.progress() for one in self._loads]
            return all(new > old + 1 for new, old in zip(now, before, strict=True))

        try:
            wait_for(all_do, PATIENCE)
        except AssertionError:
            now = {type(one).__name__: one.progress() for one in self._loads}
            raise AssertionError(f"from {before} only to {now}") from None

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def raise_failure(self) -> None:
        for one in self._failures:
            raise one

    def _run(self, load: Load) -> None:
        try:
            load.run(self._over)
        except BaseException as error:  # noqa: BLE001 - raised in the test's own thread
            self._failures.append(error)


@contextmanager
def under(*loads: Load) -> Iterator[Running]:
    running = Running(loads)
    with ExitStack() as ending:
        ending.callback(running.end)
        running.start()
        yield running
    running.raise_failure()


def all_kinds(address: str, key: dict[str, str], token: str, folder: Path) -> list[Load]:
    return [
        Repeating(address, key),
        Once(address, key),
        OfTheClient(address, key, folder),
        Page(address, token, key["model_id"]),
    ]


def assert_complete(tape: list[dict[str, Any]], loads: Sequence[Load]) -> None:
    """Every acknowledged event is there, once."""
    said = Counter[str](event["body"].get("line", "") for event in tape)
    for load in loads:
        load.check(said)
