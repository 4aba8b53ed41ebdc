"""Readiness: the way of a plain event, tried for anybody who asks without storing for them."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, select

from tapeline.http.core.services import Services
from tapeline.settings import Settings
from tapeline.store.tables.core import facts
from tapeline.tape.append import probe
from tests.conftest import Service


@pytest.fixture
def settings(sqlite_settings: Settings) -> Settings:
    """Outages of both databases are tests of their own."""
    return sqlite_settings


def everything(connection: Connection) -> dict[str, str]:
    return {row.name: row.value for row in connection.execute(select(facts))}


@contextmanager
def writer_held(services: Services) -> Iterator[None]:
    begun, may_end = threading.Event(), threading.Event()

    def hold(_connection: Connection) -> None:
        begun.set()
        may_end.wait(60)

    held = services.store.writer.submit(hold)
    assert begun.wait(30)
    try:
        yield
    finally:
        may_end.set()
        held.result(30)


def ask(anybody: httpx.Client) -> tuple[int, Any]:
    answer = anybody.get("/readyz")
    return answer.status_code, answer.json()


def test_asking_stores_nothing(
    service: Service, anybody: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "DEADLINE", 60.0)
    monkeypatch.setattr(probe, "KEPT", 0.0)
    before = service.store.read_now(everything)
    groups = service.store.writer.counts.groups
    for _ in range(3):
        assert ask(anybody) == (200, anybody.get("/healthz").json())
    assert service.store.writer.counts.groups >= groups + 3, "it went all the way"
    assert service.store.read_now(everything) == before


def test_however_many_ask_it_is_tried_once(
    service: Service, anybody: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "DEADLINE", 60.0)
    monkeypatch.setattr(probe, "KEPT", 3600.0)
    groups = service.store.writer.counts.groups
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: ask(anybody)[0], range(200)))
    assert set(answers) == {200}
    assert service.store.writer.counts.groups <= groups + 5, "one is ours; few are the server's own"


def test_a_writer_that_hangs_is_told_within_the_deadline(
    service: Service, anybody: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "KEPT", 0.0)
    with writer_held(service.services):
        for _ in range(2):
            status, said = ask(anybody)
            assert (status, said["code"]) == (503, "not_ready")
            assert "within 2 seconds" in said["error"]
    service.store.write_now(lambda _: None)
    while ask(anybody)[0] != 200:  # at once, unless the last question is still on its way back
        time.sleep(0.05)


def test_after_an_outage_only_a_commit_is_a_proof(
    service: Service, anybody: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "DEADLINE", 60.0)
    monkeypatch.setattr(probe, "KEPT", 0.0)
    before = service.store.read_now(everything)
    writer: Any = service.store.writer
    writer.outage = "The disk was full."
    assert ask(anybody)[0] == 200
    assert writer.outage is None
    assert set(service.store.read_now(everything)) >= {*before, "ready_at"}
