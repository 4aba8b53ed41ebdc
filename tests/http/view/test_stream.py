"""Live changes as server-sent events: complete, in order, resumable, at the reader's own pace."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import msgspec
import pytest

from tapeline.tape.append import watchers
from tests.conftest import Person, Service, on_both, run_sql, running
from tests.pushing import ORDER, Model
from tests.waiting import SLOW_MACHINE

pytestmark = on_both  # each tells its servers of changes in a way of its own
LOG = "/v1/live/log"


@pytest.fixture
def service(own_service: Service) -> Service:
    """One test ends it."""
    return own_service


class Reader:
    """One open stream, read one event at a time."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self._lines = answer.iter_lines()
        assert next(self._lines) == ": connected"
        assert next(self._lines) == ""

    def event(self) -> dict[str, Any]:
        told: dict[str, str] = {}
        for line in self._lines:
            if line == "" and told:
                break
            name, _, value = line.partition(": ")
            if name:
                told[name] = value
        data: dict[str, Any] = msgspec.json.decode(told["data"])
        assert told["id"] == str(data["seq"])
        return data | {"event": told["event"]}

    def events(self, count: int) -> list[dict[str, Any]]:
        return [self.event() for _ in range(count)]

    def rest(self) -> list[str]:
        """Without what only says that the stream is still there."""
        return [line for line in self._lines if line and not line.startswith(":")]


@contextmanager
def watching(
    model: Model, last: int | None = None, person: Person | None = None
) -> Iterator[Reader]:
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    client = (person or model.owner).client
    with client.stream("GET", f"/api/models/{model.id}/stream", headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield Reader(answer)


def test_every_kind_of_change_arrives_live_and_in_order(model: Model) -> None:
    model.push(LOG, {"line": "before"})
    with watching(model) as reader:
        model.push(LOG, {"line": "a\n\nb"})
        model.push("/v1/live/spot-market", ORDER, headers={"time": "5"})
        model.push("/v1/live/spot-market", ORDER)  # a retry is no change
        model.push("/v1/model/lifecycle", {"running": True}, headers={"Idempotency-Key": "k"})
        model.push("/v1/batch", [{"path": LOG, "body": {"line": str(n)}} for n in range(3)])
        found = reader.events(6)
    assert [one["seq"] for one in found] == [2, 3, 4, 5, 6, 7]
    kinds = ["log", "spot-market", "lifecycle", "log", "log", "log"]
    assert [one["event"] for one in found] == kinds
    assert found[0]["line"] == "a\n\nb"
    assert (found[1]["id"], found[1]["time"]) == ("o1", 5)


def test_a_stream_resumes_without_gaps_or_doubles(model: Model) -> None:
    model.push("/v1/batch", [{"path": LOG, "body": {"line": str(n)}} for n in range(50)])
    with watching(model, last=0) as reader:
        assert [one["seq"] for one in reader.events(50)] == list(range(1, 51))
    seen = 20
    with ThreadPoolExecutor(4) as pool:
        pushing_on = [pool.submit(model.push, LOG, {"line": "x"}) for _ in range(100)]
        collected: list[int] = []
        while len(collected) < 130:  # hangs up again and again
            with watching(model, last=seen) as reader:
                some = [one["seq"] for one in reader.events(13)]
            collected += some
            seen = some[-1]
        for one in pushing_on:
            one.result()
    assert collected == list(range(21, 151))
    for wrong in ("x", "-1", "1.5"):
        headers = {"Last-Event-ID": wrong}
        answer = model.owner.get(f"/api/models/{model.id}/stream", headers=headers)
        assert (answer.status_code, answer.json()["field"]) == (400, "Last-Event-ID")
    with watching(model, last=10**17) as reader:  # from a tape that was longer than ours
        model.push(LOG, {"line": "new"})
        assert reader.event()["seq"] == 151


def test_what_another_server_writes_arrives_too_and_in_order(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapeline.http.view.following.LOOKED_EVERY", 0.2)
    if model.service.store.database.file is not None:
        monkeypatch.setattr(
            "tapeline.http.core.long_answers.QUIET", 0.2
        )  # one server only, in earnest
    with (
        running(model.service.services.settings) as second,
        second.client() as there,
        watching(model) as reader,
    ):
        for _ in range(10):
            assert there.post(LOG, json={"line": "b"}, headers=model.headers).is_success
            model.push(LOG, {"line": "a"})
        assert there.post(LOG, json={"line": "b"}, headers=model.headers).is_success
        assert [one["seq"] for one in reader.events(21)] == list(range(1, 22))


@pytest.mark.databases("postgresql")
def test_servers_on_one_postgresql_hear_of_each_other_at_once(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody looks by itself during this test: what arrives was announced.
    monkeypatch.setattr("tapeline.http.view.following.LOOKED_EVERY", 600.0)
    monkeypatch.setattr("tapeline.http.core.long_answers.QUIET", 600.0)
    with running(model.service.services.settings) as second, second.client() as there:

        def push(line: str) -> None:
            assert there.post(LOG, json={"line": line}, headers=model.headers).is_success

        heard = model.service.services.watchers
        _until(lambda: heard.hears_others)
        with watching(model) as reader:
            for number in range(5):
                push(str(number))
                assert reader.event()["line"] == str(number)
            _end_listeners(model)
            _until(lambda: not heard.hears_others)
            push("while nobody listened")
            _until(lambda: heard.hears_others)
            assert reader.event()["line"] == "while nobody listened"
            push("again")
            assert reader.event()["line"] == "again"


def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def _end_listeners(model: Model) -> None:
    """Those of both servers, as a restart of PostgreSQL or an operator would."""
    run_sql(
        model.service.services.settings.database,
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where datname = current_database() and query like 'listen%'",
    )


@pytest.mark.heavy
def test_a_slow_reader_slows_nobody_and_catches_up_from_the_tape(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchers, "KEPT", 100)
    with watching(model) as reader:
        batch = [{"path": LOG, "body": {"line": "x" * 1000}} for _ in range(1000)]
        for _ in range(12):  # 12 MB that nobody reads
            model.push("/v1/batch", batch)
        assert [one["seq"] for one in reader.events(12_000)] == list(range(1, 12_001))
        model.push(LOG, {"line": "live again"})
        assert reader.event()["line"] == "live again"


def test_streams_end_with_the_service(model: Model) -> None:
    with watching(model) as reader, watching(model, last=0) as other:
        ended: list[list[str]] = []
        waiting = [
            threading.Thread(target=lambda one=one: ended.append(one.rest()))
            for one in (reader, other)
        ]
        for thread in waiting:
            thread.start()
        time.sleep(0.1)
        model.service.services.watchers.close()
        for thread in waiting:
            thread.join(SLOW_MACHINE)
        assert ended == [[], []]
