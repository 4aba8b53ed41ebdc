"""Who may push events: keys and models that are wrong, foreign, gone, or tried too often."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, update

from tapeline.accounts import keys, limits
from tapeline.http.events.authenticator import Authenticator, Credentials
from tapeline.models import models
from tapeline.store.tables import core
from tapeline.tape import tapes
from tapeline.tape.events.kinds import BY_PATH
from tests.conftest import Person, Service, on_both, running
from tests.pushing import ORDER, RESULT, Model, new_key, pushing, raw_request
from tests.waiting import wait_for

LOG = "/v1/live/log"
LINE = {"line": "x"}


def send(model: Model, headers: dict[str, str], path: str = LOG, body: Any = LINE) -> Any:
    return model.client.post(path, json=body, headers=headers)


def test_a_missing_header_is_named(model: Model) -> None:
    for path in (*BY_PATH, "/v1/batch"):
        for name in ("model_id", "api_key", "api_pass"):
            for value in (None, ""):
                headers = {key: text for key, text in model.headers.items() if key != name}
                if value is not None:
                    headers[name] = value
                answer = send(model, headers, path)
                assert (answer.status_code, answer.json()["field"]) == (401, name)
                assert name in answer.json()["error"]
    assert model.size() == 0


def test_names_with_hyphens_count_too(model: Model) -> None:
    hyphens = {name.replace("_", "-"): value for name, value in model.headers.items()}
    assert send(model, hyphens).status_code == 200
    assert model.size() == 1


def test_a_wrong_key_a_wrong_pass_and_a_deleted_key_look_the_same(model: Model) -> None:
    gone = new_key(model.service, model.owner, model.project_id)
    model.service.store.write_now(keys.remove, model.owner.actor, model.project_id, gone["api_key"])
    answers = [
        send(model, model.headers | wrong)
        for wrong in ({"api_key": "unknown"}, {"api_pass": "wrong"}, gone)
    ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1
    assert answers[0].json()["code"] == "wrong_key"


def test_a_key_that_may_only_read_cannot_push(model: Model) -> None:
    reading = new_key(model.service, model.owner, model.project_id, read=True, write=False)
    answer = send(model, model.headers | reading)
    assert (answer.status_code, answer.json()["code"]) == (403, "key_lacks_right")
    assert "no right to write" in answer.text
    assert model.size() == 0


def test_a_key_without_the_right_guesses_no_pass(
    service: Service, enter: Callable[[str], Person]
) -> None:
    settings = replace(service.services.settings, signin_limit_address=2)
    with pushing(service, enter("ada")) as model, running(settings) as strict:
        reading = new_key(service, model.owner, model.project_id, read=True, write=False)
        with strict.client() as client:
            headers = model.headers | reading
            statuses = [client.post(LOG, json=LINE, headers=headers).status_code for _ in range(4)]
    assert statuses == [403] * 4


def test_a_model_of_another_project_is_not_there(
    model: Model, enter: Callable[[str], Person]
) -> None:
    with pushing(model.service, enter("bob")) as other:
        for unknown in (other.id, "nobody", "x" * 5000):
            answer = send(model, model.headers | {"model_id": unknown})
            assert (answer.status_code, answer.json()["field"]) == (404, "model_id")
        assert other.size() == 0


def delete_keys(model: Model, names: list[str]) -> None:
    for name in names:
        model.service.store.write_now(keys.remove, model.owner.actor, model.project_id, name)


def delete_model(model: Model, _names: list[str]) -> None:
    model.service.store.write_now(models.remove, model.owner.actor, model.project_id, model.id)


@pytest.mark.parametrize(("deleted", "status"), [(delete_keys, 401), (delete_model, 404)])
@on_both
def test_what_is_deleted_is_refused_at_once_by_every_server(
    model: Model, deleted: Callable[[Model, list[str]], None], status: int
) -> None:
    """Each server remembers each key: one per way to ask, because a refusal makes it forget."""
    once = {"Idempotency-Key": "before"}
    ways: tuple[tuple[str, Any, dict[str, str]], ...] = (
        (LOG, LINE, {}),
        (LOG, LINE, once),
        ("/v1/batch", [], {}),
        ("/v1/batch", [], {"Idempotency-Key": "new"}),
        ("/v1/backtest/result", RESULT, {}),
    )
    made = [new_key(model.service, model.owner, model.project_id) for _ in ways]
    with running(model.service.services.settings) as second, second.client() as there:
        for key in made:
            for client in (model.client, there):
                headers = model.headers | key | once
                assert client.post(LOG, json=LINE, headers=headers).status_code == 200
        deleted(model, [key["api_key"] for key in made])
        for (path, body, more), key in zip(ways, made, strict=True):
            for client in (model.client, there):
                answer = client.post(path, json=body, headers=model.headers | key | more)
                assert answer.status_code == status, (path, more, answer.text)
    assert model.pieces() == 0


def test_wrong_credentials_are_limited_and_then_right_ones_too(
    service: Service, enter: Callable[[str], Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SHORTEST_WAIT", 600.0)
    settings = replace(service.services.settings, signin_limit_address=3)
    with pushing(service, enter("ada")) as model, running(settings) as strict:
        wrong = model.headers | {"api_pass": "guess"}
        with strict.client() as client:
            statuses = [client.post(LOG, json=LINE, headers=wrong).status_code for _ in range(5)]
            assert statuses == [401, 401, 401, 429, 429]
            right = client.post(LOG, json=LINE, headers=model.headers)
            assert (right.status_code, right.json()["code"]) == (429, "too_many_attempts")
            assert 0 < int(right.headers["retry-after"]) <= 900
            # Another key is nobody's guess yet.
            other = new_key(service, model.owner, model.project_id)
            assert client.post(LOG, json=LINE, headers=model.headers | other).status_code == 200
        assert model.size() == 1


def test_headers_no_client_would_send_are_refused_in_our_shape(model: Model) -> None:
    body = b'{"line": "x"}'
    base = b"".join(b"%s: %s\r\n" % (k.encode(), v.encode()) for k, v in model.headers.items())
    key = b"idempotency-key: "
    for more in (b"api_key: \xff\xfe", b"model_id: \xc3\xa9", b"time: \xff", key + b"x" * 256, key):
        head = b"POST /v1/live/log HTTP/1.1\r\nHost: x\r\n" + base + more + b"\r\n"
        head += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        answer = raw_request(model.service, head + body)
        assert answer.split(b" ")[1] in {b"400", b"401", b"404"}, answer
        assert b'"error"' in answer
    assert model.size() == 0


@on_both
def test_an_idempotency_key_is_exact_under_threads_and_servers(model: Model) -> None:
    start = threading.Barrier(12)

    def push(client: httpx.Client) -> tuple[int, bytes]:
        start.wait(10)
        headers = model.headers | {"Idempotency-Key": "once"}
        answer = client.post("/v1/live/event", json={"type": "t"}, headers=headers)
        return answer.status_code, answer.content

    with (
        running(model.service.services.settings) as second,
        second.client() as there,
        ThreadPoolExecutor(12) as pool,
    ):
        sent = [pool.submit(push, client) for client in (model.client, there) * 6]
        assert {one.result() for one in sent} == {(200, b'{"status":"success"}')}
    assert model.size() == 1
    assert model.first_break() is None


def test_an_idempotency_key_knows_its_body_its_path_and_its_model(
    model: Model, enter: Callable[[str], Person]
) -> None:
    once = {"headers": {"Idempotency-Key": "once"}}
    model.push(LOG, LINE, **once)
    model.push(LOG, LINE, **once)
    assert model.refused(LOG, {"line": "y"}, status=409, **once)["code"] == "idempotency_key_reused"
    model.push("/v1/live/event", {"type": "t"}, **once)
    items = [{"path": LOG, "body": LINE}]
    model.push("/v1/batch", items, **once)
    model.push("/v1/batch", items, **once)
    for other in (
        [],
        items * 2,
        [items[0] | {"time": 5}],
        [items[0] | {"path": "/v1/backtest/log", "body": LINE | {"backtest_id": "b"}}],
    ):
        model.refused("/v1/batch", other, status=409, **once)
    model.push("/v1/batch", [], headers={"Idempotency-Key": "empty"})
    model.refused("/v1/batch", items, status=409, headers={"Idempotency-Key": "empty"})
    assert model.size() == 3
    with pushing(model.service, enter("bob")) as other_model:
        other_model.push(LOG, {"line": "y"}, **once)
        assert other_model.get()["counts"] == {"log": 1}


@on_both
def test_a_repeated_result_stores_no_pieces_twice(model: Model) -> None:
    once = {"headers": {"Idempotency-Key": "once"}}
    for _ in range(3):
        model.push("/v1/backtest/result", RESULT, **once)
    changed = RESULT | {"trades": []}
    model.refused("/v1/backtest/result", changed, status=409, **once)
    assert model.pieces() == 3
    assert (model.size(), model.first_break()) == (1, None)
    assert len(model.items("/backtests/b1/trades")) == 1


@on_both
def test_failures_are_not_remembered_and_successes_only_for_a_day(model: Model) -> None:
    once = {"headers": {"Idempotency-Key": "once"}}
    model.refused(LOG, {"line": ""}, 400, **once)
    model.push(LOG, LINE, **once)

    def age(connection: Connection, hours: float) -> None:
        answers = core.answers
        connection.execute(update(answers).values(at=answers.c.at - hours * 3600))

    model.service.store.write_now(age, 23.9)
    model.push(LOG, LINE, **once)
    assert model.size() == 1
    model.service.store.write_now(age, 0.2)
    model.push(LOG, {"line": "a new one"}, **once)
    assert model.size() == 2


@contextmanager
def blocked(service: Service) -> Iterator[None]:
    """Its writer is busy until the end."""
    busy, released = threading.Event(), threading.Event()

    def hold(_connection: Connection) -> None:
        busy.set()
        released.wait(30)

    held = service.store.writer.submit(hold)
    busy.wait(10)
    try:
        yield
    finally:
        released.set()
        held.result()


@on_both
def test_a_writer_that_falls_behind_turns_events_away_at_once(
    service: Service, enter: Callable[[str], Person]
) -> None:
    settings = replace(service.services.settings, write_queue=10)
    with pushing(service, enter("ada")) as model, running(settings) as small:
        with small.client() as client, ThreadPoolExecutor(40) as pool:

            def push(number: int) -> httpx.Response:
                order = ORDER | {"id": str(number)}
                return client.post("/v1/live/spot-market", json=order, headers=model.headers)

            assert push(0).status_code == 200
            with blocked(small):
                sent = [pool.submit(push, number) for number in range(1, 31)]
                refused = list(islice(as_completed(sent, timeout=60), 20))
                for one in refused:
                    assert one.result().status_code == 503
                    assert one.result().json()["code"] == "store_busy"
                    assert int(one.result().headers["retry-after"]) > 0
                batch = [{"path": LOG, "body": LINE}] * 11
                answer = client.post("/v1/batch", json=batch, headers=model.headers)
                assert answer.status_code == 503
            assert [one.result().status_code for one in sent].count(200) == 10
            # A batch longer than the line is taken when nobody waits.
            answer = client.post("/v1/batch", json=batch, headers=model.headers)
            assert answer.status_code == 200
        assert model.get()["counts"] == {"spot-market": 11, "log": 11}


@on_both
def test_events_of_many_senders_are_each_stored_once_in_one_order(model: Model) -> None:
    def push(number: int) -> None:
        model.push(LOG, {"line": str(number)})

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(push, range(300)))
    assert sorted(int(body["line"]) for body in model.bodies()) == list(range(300))
    assert [record.seq for record in model.records()] == list(range(1, 301))
    assert model.first_break() is None


def test_many_at_once_with_a_new_key_ask_who_they_are_once(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()
    look = tapes.access_of_key

    def counted(connection: Connection, key_id: str, *more: str) -> tapes.WriteAccess:
        asked.append(key_id)
        return look(connection, key_id, *more)

    came, question = list[str](), Authenticator._question

    def noted(self: Authenticator, credentials: Credentials, address: str) -> Any:
        came.append(address)
        return question(self, credentials, address)

    monkeypatch.setattr(tapes, "access_of_key", counted)
    monkeypatch.setattr(Authenticator, "_question", noted)
    wrong = model.headers | {"api_pass": "wrong"}
    for turn, (headers, status) in enumerate(((wrong, 401), (model.headers, 200)), 1):
        with ThreadPoolExecutor(10) as pool, blocked(model.service):
            sent = [pool.submit(send, model, headers) for _ in range(10)]
            wait_for(lambda turn=turn: len(came) == 10 * turn)
            assert not any(one.done() for one in sent)
        assert {one.result().status_code for one in sent} == {status}
    assert asked == [model.headers["api_key"]] * 2
    assert model.get()["counts"] == {"log": 10}
