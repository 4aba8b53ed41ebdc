"""A night on call: one fault after the other, with three live models and a client that counts."""

import json
import os
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import needs
from tests.acceptance.conftest import Home, Server, free_port, kill_shim
from tests.acceptance.test_survival import numbers
from tests.acceptance.traders import Trader, pythons
from tests.acceptance.wall_clock import WallClock
from tests.store.conftest import OwnServer
from tests.store.disk import HangingDisk, hanging_disk
from tests.waiting import wait_for

pytestmark = [pytest.mark.slow, needs.root("needs disks and models of its own")]

PATIENCE = 300.0  # seconds for a machine that is busy with a fault
COUNTING = """
import itertools, time
for number in itertools.count():
    print("number", number, flush=True)
    time.sleep({pause})
"""
SETTINGS = {
    "TAPELINE_PYTHONS": pythons()[0].path,
    "TAPELINE_STOP_SECONDS": "2",
    "TAPELINE_BUSY_SECONDS": "1",
}
FULL_BATCH = 10_000
REMEMBERED = {"slowest statements", "clock"}  # of the last hour or day, and over
HOUR, DAY = 3600, 24 * 3600


class CountingClient:
    """Sends numbered events one after the other, each until it is acknowledged."""

    def __init__(self, address: str, headers: dict[str, str]) -> None:
        self.sent = 0
        self._address, self._headers = address, headers
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._count)

    @contextmanager
    def counting(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._thread.join()

    def gets_on(self) -> None:
        """Another event is acknowledged from now on."""
        before = self.sent
        wait_for(lambda: self.sent > before + 1, PATIENCE)

    def _count(self) -> None:
        with httpx.Client(base_url=self._address, timeout=10, verify=False) as client:
            while not self._over.is_set():
                name = f"event {self.sent}"
                if self._is_acknowledged(client, name):
                    self.sent += 1
                time.sleep(0.02)

    def _is_acknowledged(self, client: httpx.Client, name: str) -> bool:
        headers = self._headers | {"Idempotency-Key": name}
        with suppress(httpx.TransportError):
            answer = client.post("/v1/live/log", json={"line": name}, headers=headers)
            assert answer.status_code in (200, 503), answer.text
            return answer.status_code == 200
        return False


class Night:
    """A server on a disk of its own, and what an operator does to it and with it."""

    def __init__(self, home: Home, disk: HangingDisk, database: OwnServer | None) -> None:
        self.home, self.disk, self.database = home, disk, database
        self._port = free_port()
        self.clock = WallClock(home)
        self.trader = Trader(self.start())
        self.models = [self._deploy(pause) for pause in (0.05, 0.1, 0.5)]
        self.bot, self.headers = self._bot()
        self.client = CountingClient(self.trader.server.address, self.headers)

    def start(self) -> Server:
        database = ("--database", self.database.url) if self.database else ()
        options = ("--port", str(self._port), *database)
        return self.home.up_in(*self.clock.around, options=options, **SETTINGS)

    def start_again(self) -> None:
        self.trader.meet(self.start())

    def end(self, how: signal.Signals) -> None:
        self.trader.server.end(how)

    def is_green(self) -> bool:
        with suppress(httpx.TransportError, AssertionError):
            return set(self.not_green()) <= REMEMBERED
        return False

    def not_green(self) -> list[str]:
        rows = self.trader.get("/api/health")["rows"]
        return [one["name"] for one in rows if one["state"] != "green"]

    def is_over(self) -> None:
        """All models are heard, the client gets on, and every check is green."""
        try:
            self.are_heard()
            self.client.gets_on()
            wait_for(self.is_green, PATIENCE)
        except AssertionError as error:
            states = [self.trader.run(one["modelId"], one["runId"]) for one in self.models]
            raise AssertionError(f"{self.not_green()}\n{states}") from error

    def are_heard(self) -> None:
        """Each model says more from now on."""
        for one in self.models:
            before = len(numbers(self.trader, one["modelId"]))
            wait_for(
                lambda one=one, before=before: len(numbers(self.trader, one["modelId"])) > before,
                PATIENCE,
            )

    def is_not_ready(self) -> bool:
        """Slow answers count as none: the store that hangs is one of the faults."""
        with suppress(httpx.TransportError):
            return self.trader.client.get("/readyz").status_code == 503
        return True

    def _deploy(self, pause: float) -> dict[str, Any]:
        deployed = self.trader.deploy(COUNTING.format(pause=pause))
        self.trader.wait_for_line(deployed["modelId"], "number 1")
        return deployed

    def _bot(self) -> tuple[str, dict[str, str]]:
        mine = {"projectId": self.trader.user_id}
        model = self.trader.post("/model/create-model", json=mine | {"name": "Bot"})["modelId"]
        key = self.trader.post("/project/generate-project-token", json=mine | {"name": "bot"})
        headers = {"api_key": key["apiKey"], "api_pass": key["apiPass"], "model_id": model}
        return model, headers


def database_is_away(night: Night) -> None:
    if night.database:
        night.database.stop()
        wait_for(night.is_not_ready)
        night.database.start()
    else:
        with closing(sqlite3.connect(night.home.data / "tapeline.db")) as other:
            other.execute("begin exclusive")
            wait_for(night.is_not_ready)


def disk_is_full(night: Night) -> None:
    filler = night.home.data / "filler"
    with filler.open("wb", buffering=0) as file:
        taken, size = 0, 1 << 30
        while size >= 4096:
            try:
                os.posix_fallocate(file.fileno(), taken, size)
                taken += size
            except OSError:
                size //= 2
    time.sleep(3)
    filler.unlink()


def disk_hangs(night: Night) -> None:
    with night.disk.hanging():
        time.sleep(5)


def disk_dies(night: Night) -> None:
    """An error of the file system itself: nothing helps but to stop here and repair it."""
    night.disk.fail()
    wait_for(lambda: not night.is_green())
    time.sleep(3)
    ended = night.home.run("halt", "--here", "--json", "--why", "The disk died.", **SETTINGS)
    said = json.loads(ended.stdout)
    assert all(one["is_proven"] for one in said["ended"]), ended.stdout
    # All has ended, but the disk may not take the hold, which the command then calls a failure.
    assert ended.returncode == (0 if said["held"] else 1), ended.stdout + ended.stderr
    night.end(signal.SIGKILL)
    night.disk.repair()
    night.start_again()
    if "on hold" in night.trader.server.said:
        released = night.home.run("release", "--yes")
        assert released.returncode == 0, released.stderr


def server_is_killed(night: Night) -> None:
    for how in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
        night.end(how)
        night.start_again()


def shims_are_killed(night: Night) -> None:
    for one in night.models:
        kill_shim(night.home.data / "runs" / one["runId"] / "shim.json")


def clock_is_wrong(night: Night) -> None:
    """Set a day ahead, then an hour back, then right; all get on each time."""
    for ahead in (DAY, -HOUR, 0):
        night.clock.jump_to(ahead, night.trader.server)
        night.client.gets_on()
        night.are_heard()


def settings_are_reloaded(night: Night) -> None:
    night.trader.server.process.send_signal(signal.SIGHUP)


def maintenance(night: Night) -> None:
    assert night.home.run("hold", "--why", "New cables.").returncode == 0
    for one in night.models:
        night.trader.wait_for_state(one, "pending")
    assert night.home.run("release", "--yes").returncode == 0


def full_batches(night: Night) -> None:
    items = [{"path": "/v1/live/log", "body": {"line": "of a batch"}}] * FULL_BATCH
    address = night.trader.server.address
    with httpx.Client(base_url=address, timeout=PATIENCE, verify=False) as client:
        for _ in range(3):
            answer = client.post("/v1/batch", json=items, headers=night.headers)
            assert answer.status_code in (200, 429), answer.text


def backup_is_restored_beside(night: Night) -> None:
    """And runs nothing, because the original does."""
    backup, copy = night.home.path / "backup", night.home.path / "copy"
    made = night.home.run("backup", str(backup), **SETTINGS)
    assert made.returncode == 0, made.stderr
    restored = night.home.run("restore", str(backup), "--data", str(copy), **SETTINGS)
    assert restored.returncode == 0, restored.stderr
    other = night.home.up("--data", str(copy), **SETTINGS)
    assert "on hold" in other.said
    assert not list((copy / "runs").glob("*/shim.json"))
    other.end()


FAULTS: tuple[Callable[[Night], None], ...] = (
    database_is_away,
    disk_is_full,
    disk_hangs,
    server_is_killed,
    full_batches,
    shims_are_killed,
    clock_is_wrong,
    settings_are_reloaded,
    maintenance,
    backup_is_restored_beside,
    disk_dies,
    database_is_away,
)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OwnServer | None]:
    if request.param == "sqlite":
        yield None
        return
    server = OwnServer(tmp_path_factory.mktemp("own"))
    yield server
    server.close()


def test_a_night_on_call(home: Home, tmp_path: Path, database: OwnServer | None) -> None:
    with hanging_disk(tmp_path / "image", home.data) as disk:
        night = Night(home, disk, database)
        with night.client.counting():
            for fault in FAULTS:
                print(time.strftime("%T"), fault.__name__, flush=True)  # noqa: T201 - minutes
                fault(night)
                night.is_over()
        tape = night.trader.client.get(f"/api/models/{night.bot}/tape").text
        said = Counter(json.loads(line)["body"].get("line") for line in tape.splitlines())
        assert {name: said[name] for name in said if str(name).startswith("event ")} == {
            f"event {number}": 1 for number in range(night.client.sent)
        }
        for one in night.models:
            assert_counted_from_the_start_each_time(numbers(night.trader, one["modelId"]))
        assert night.client.sent > 100
        night.end(signal.SIGTERM)
        night.start_again()
        wait_for(lambda: night.not_green() == ["clock"], PATIENCE)  # it is shown for a day
        night.trader.client.close()
        night.end(signal.SIGINT)


def assert_counted_from_the_start_each_time(found: list[int]) -> None:
    """A launch that ended may have kept its last words; none is missing before them."""
    for before, number in pairwise(found):
        assert number in (0, before + 1), f"{number} after {before}"
