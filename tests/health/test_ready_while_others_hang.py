"""Whoever lets a server wait, outside or by a slow check, takes no thread from what must go on:
readiness, signs of life, halts."""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import psutil
import pytest

from tapeline.settings import Settings
from tests.conftest import Person, Service, running
from tests.pushing import Model, pushing
from tests.waiting import wait_for

MANY = 12  # more than asyncio has threads here


@contextmanager
def _silence() -> Iterator[tuple[str, list[socket.socket]]]:
    """An address that takes every connection and never answers, and those connections."""
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def take() -> None:
            while True:
                try:
                    taken.append(server.accept()[0])
                except OSError:
                    return

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}", taken
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for one in taken:
                one.close()


@pytest.fixture
def silent(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Service, list[socket.socket]]]:
    """A server whose authorities and witnesses all hang."""
    monkeypatch.setattr("tapeline.tape.proof.outgoing.PATIENCE", 120.0)
    monkeypatch.setattr("tapeline.tape.roots.rounds.AT_ONCE", MANY)
    with _silence() as (address, taken):
        several = ", ".join(f"{address}/{number}" for number in range(MANY))
        with running(replace(settings, timestamps=several)) as service:
            try:
                yield service, taken
            finally:
                for one in taken:
                    one.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def service(silent: tuple[Service, list[socket.socket]]) -> Service:
    return silent[0]


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


def _is_ready(service: Service) -> None:
    """Not from an answer that is kept."""
    with service.client() as client:
        for _ in range(3):
            answer = client.get("/readyz")
            assert answer.status_code == 200, answer.text
            time.sleep(1.1)


def test_exchanges_that_hang_hold_up_neither_readiness_nor_a_halt(
    silent: tuple[Service, list[socket.socket]], model: Model
) -> None:
    service, taken = silent
    model.push("/v1/live/lifecycle", {"message": "Running", "running": True})
    wait_for(lambda: len(taken) >= 6)
    _is_ready(service)
    path = f"/api/projects/{model.project_id}/halt"
    assert model.owner.post(path, json={"why": "Prices are wrong"}).status_code == 200
    model.post("/v1/live/lifecycle", {"message": "Stopped", "running": False})
    wait_for(lambda: model.owner.get(path).json()["halt"]["stopped"] == 1)


def test_checks_of_rules_that_hang_do_not_either(service: Service, model: Model) -> None:
    said = {"when": {"condition": "log-line", "matches": "a+"}, "model_id": model.id}

    def make(number: int) -> int:
        path = f"/api/projects/{model.project_id}/rules"
        return model.owner.post(path, json={"name": f"rule {number}", **said}).status_code

    def helper() -> psutil.Process:
        (found,) = [
            one
            for one in psutil.Process().children()
            if "tapeline.watch.heavy.serving" in " ".join(one.cmdline())
        ]
        return found

    assert make(0) == 200
    stopped = helper()
    stopped.suspend()
    with ThreadPoolExecutor(MANY) as people:
        asked = [people.submit(make, number) for number in range(1, MANY)]
        wait_for(lambda: service.services.rules.sources.heavy.checks.waiting >= 6)
        _is_ready(service)
        os.kill(stopped.pid, signal.SIGKILL)
        assert all(one.result() in (200, 503) for one in asked)
