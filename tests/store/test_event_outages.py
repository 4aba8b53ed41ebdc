"""The store goes away under a running server and comes back: events are answered all along."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import httpx
import pytest

from tapeline.settings import Settings
from tapeline.store.backends.database import open_database
from tapeline.store.migrate import migrate
from tests.conftest import Person, Service
from tests.pushing import ORDER, Model, pushing
from tests.store.conftest import OwnServer
from tests.waiting import wait_for

LOG, LINE = "/v1/live/log", {"line": "x"}
KEY = {"Idempotency-Key": "once"}
HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("begin immediate")
print("held", flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True)
class Outage:
    settings: Settings
    begin: Callable[[], None]
    end: Callable[[], None]
    causes: tuple[str, ...]
    """What people are told, one of these."""


@contextmanager
def _held_by_another_process(settings: Settings) -> Iterator[Outage]:
    holders: list[subprocess.Popen[str]] = []

    def begin() -> None:
        command = [sys.executable, "-c", HOLD, str(settings.data / "tapeline.db")]
        pipe = subprocess.PIPE
        holders.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True))
        assert holders[-1].stdout is not None
        assert holders[-1].stdout.readline() == "held\n"

    def end() -> None:
        holders.pop().communicate()

    causes = ("Another process has locked the database.",)
    yield Outage(replace(settings, busy_seconds=1), begin, end, causes)
    while holders:
        end()


@contextmanager
def _stopped(settings: Settings, server: OwnServer) -> Iterator[Outage]:
    there = replace(settings, database=server.url)
    database = open_database(there)
    migrate(database)
    database.dispose()
    causes = ("PostgreSQL cannot be reached.", "PostgreSQL is shutting down.")
    yield Outage(there, server.stop, server.start, causes)


@pytest.fixture(params=["sqlite", "postgresql"])
def outage(request: pytest.FixtureRequest, sqlite_settings: Settings) -> Iterator[Outage]:
    """Another process that holds SQLite for longer than we wait; a PostgreSQL that is stopped."""
    if request.param == "sqlite":
        with _held_by_another_process(sqlite_settings) as made:
            yield made
    else:
        with _stopped(sqlite_settings, request.getfixturevalue("own_server")) as made:
            yield made


@pytest.fixture
def settings(outage: Outage) -> Settings:
    return outage.settings


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


def every_way(model: Model) -> list[httpx.Response]:
    """Without a key and with one, alone and as a batch: each takes another way to the writer."""
    return [
        model.post(LOG, LINE),
        model.post("/v1/live/spot-market", ORDER),
        model.post("/v1/batch", [{"path": LOG, "body": LINE}] * 2),
        model.post(LOG, LINE, headers=KEY),
        model.post(LOG, data=LINE),
    ]


@pytest.mark.heavy
def test_events_are_refused_while_the_store_is_away_and_stored_again_after(
    model: Model, outage: Outage, anybody: httpx.Client
) -> None:
    model.push(LOG, LINE)
    wait_for(lambda: anybody.get("/readyz").status_code == 200)
    outage.begin()
    for answer in every_way(model):
        assert answer.status_code == 503
        assert answer.json()["code"] == "store_unavailable"
        assert answer.json()["error"].startswith(outage.causes)
        assert int(answer.headers["Retry-After"]) >= 1
    _wait_until_not_ready(anybody, outage.causes)
    outage.end()
    for answer in every_way(model):
        assert answer.status_code == 200, answer.text
    while anybody.get("/readyz").status_code != 200:
        time.sleep(0.1)
    assert model.get()["counts"] == {"log": 6, "spot-market": 1}
    assert model.first_break() is None


def _wait_until_not_ready(anybody: httpx.Client, causes: tuple[str, ...]) -> None:
    answer = anybody.get("/readyz")
    while not answer.json().get("error", "").endswith(causes):
        time.sleep(0.1)
        answer = anybody.get("/readyz")
    assert (answer.status_code, answer.json()["code"]) == (503, "not_ready")
    assert int(answer.headers["Retry-After"]) >= 1
