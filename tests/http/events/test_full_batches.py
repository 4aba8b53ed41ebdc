"""Full batches of some models wait their turn; neither they nor single events are refused."""

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from sqlalchemy import Connection

from tapeline.models import models
from tapeline.tape.append.inbox import Inbox, Settle
from tapeline.tape.batches import AT_ONCE
from tapeline.tape.events.event import Submission
from tests.conftest import Person, Service
from tests.http.events.test_authenticator import blocked
from tests.http.wire.raw import connect, say
from tests.pushing import JSON, Model, new_key, pushing
from tests.waiting import wait_for

FULL = 10_000
SINGLES = 50  # models that send one event at a time
Headers = dict[str, str]


@pytest.fixture
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def senders(service: Service, enter: Callable[[str], Person]) -> Iterator[list[Model]]:
    owner = enter("ada")
    with ExitStack() as opened:
        yield [opened.enter_context(pushing(service, owner)) for _ in range(3)]


def full_batch(mark: str) -> bytes:
    """More than half of what is parsed at a time, so that the next one has to wait."""
    lines = [f"{mark} {number:060}" for number in range(FULL)]
    content = json.dumps([{"path": "/v1/live/log", "body": {"line": one}} for one in lines])
    assert len(content) * 2 > AT_ONCE
    return content.encode()


def key_of_a_model(service: Service, owner: Person) -> Headers:
    model = service.store.write_now(
        models.create, owner.actor, owner.id, name="Single", type="strategy", description=""
    )
    return new_key(service, owner, owner.id) | {"model_id": model.id}


class Order:
    """Records when submissions arrive and in which order they are appended."""

    def __init__(self, inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> None:
        self.batches = 0
        """How many full ones have been begun."""
        self.passed_by: list[int] = []
        """For each single event: the full batches that were begun while it waited."""
        self._arrived: dict[int, int] = {}
        self._put, self._append = inbox.put, inbox.appender.append
        monkeypatch.setattr(inbox, "put", self.put)
        monkeypatch.setattr(inbox.appender, "append", self.append)

    def put(self, submission: Submission, settle: Settle) -> None:
        if len(submission.events) == 1:
            self._arrived[id(submission.events[0])] = self.batches
        self._put(submission, settle)

    def append(self, connection: Connection, submissions: Sequence[Submission]) -> Any:
        before = self.batches
        self.batches += sum(len(one.events) == FULL for one in submissions)
        for one in submissions:
            if len(one.events) == 1 and id(one.events[0]) in self._arrived:
                self.passed_by.append(before - self._arrived.pop(id(one.events[0])))
        return self._append(connection, submissions)


def test_full_batches_wait_their_turn_and_single_events_pass_them(
    service: Service, senders: list[Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    singles = [key_of_a_model(service, senders[0].owner) for _ in range(SINGLES)]
    order = Order(service.services.inbox, monkeypatch)
    with service.client() as client, ThreadPoolExecutor(SINGLES + 6) as pool:

        def push_batch(place: int) -> int:
            more = {"idempotency-key": str(place)} if place % 2 else {}
            return (
                senders[place // 2]
                .post(
                    "/v1/batch",
                    content=full_batch(str(place)),
                    headers={"content-type": JSON, **more},
                    timeout=120,
                )
                .status_code
            )

        def push_single(key: Headers) -> set[int]:
            return {
                client.post(
                    "/v1/live/log", json={"line": "x"}, headers=key, timeout=120
                ).status_code
                for _ in range(2)
            }

        answers = [pool.submit(push_batch, place) for place in range(6)]
        assert [one for one in pool.map(push_single, singles) if one != {200}] == []
        assert [one.result() for one in answers] == [200] * 6
    # One was running when it came, and one was in the queue before it: the others let it pass.
    assert len(order.passed_by) == 2 * SINGLES
    assert max(order.passed_by) <= 2
    for place, sender in enumerate(senders):
        assert_whole_and_in_order(sender, {str(2 * place), str(2 * place + 1)})


def assert_whole_and_in_order(model: Model, marks: set[str]) -> None:
    """Each batch is on the tape in one piece."""
    lines = [body["line"].split() for body in model.bodies()]
    halves = lines[:FULL], lines[FULL:]
    assert {half[0][0] for half in halves} == marks
    for half in halves:
        assert [(mark, int(number)) for mark, number in half] == [
            (half[0][0], number) for number in range(FULL)
        ]
    assert model.first_break() is None


def test_a_project_with_many_models_does_not_delay_the_batch_of_another(
    service: Service, enter: Callable[[str], Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, ben = enter("ada"), enter("ben")
    key = new_key(service, ada, ada.id)
    crowd = [key | {"model_id": key_of_a_model(service, ada)["model_id"]} for _ in range(12)]
    his = key_of_a_model(service, ben)
    seen: list[str | None] = []
    append = service.services.inbox.appender.append

    def noted(connection: Connection, submissions: Sequence[Submission]) -> Any:
        seen.extend(one.key_id for one in submissions if len(one.events) > 1)
        return append(connection, submissions)

    with service.client() as client, ThreadPoolExecutor(len(crowd) + 1) as pool:

        def push(headers: Headers, lines: int) -> int:
            item = {"path": "/v1/live/log", "body": {"line": "x" * 60_000}}
            return client.post("/v1/batch", json=[item] * lines, headers=headers).status_code

        assert {push(one, 1) for one in (*crowd, his)} == {200}, "the server knows their keys"
        monkeypatch.setattr(service.services.inbox.appender, "append", noted)
        waiting = service.services.batches
        with blocked(service):
            answers = [pool.submit(push, one, 15) for one in crowd]
            wait_for(lambda: waiting.waiting == len(crowd) - 2)
            answers.append(pool.submit(push, his, 2))
            wait_for(lambda: waiting.waiting == len(crowd) - 1)
        assert {one.result() for one in answers} == {200}
    assert his["api_key"] in seen[: 2 + 2 + 1], "two were being stored; then it has its turn"


def test_a_batch_whose_client_gave_up_while_it_waited_is_not_stored(
    service: Service, senders: list[Model]
) -> None:
    """The client sends it again: without an Idempotency-Key it would be stored twice."""
    content, batches, connections = (
        full_batch("x"), service.services.batches, service.services.connections,
    )  # fmt: skip
    first, second = senders[:2]
    for one in (first, second):  # so that the server knows their keys
        one.push("/v1/live/log", {"line": "x"})
    head = "".join(f"{name}: {value}\r\n" for name, value in second.headers.items())
    head = f"POST /v1/batch HTTP/1.1\r\nhost: 127.0.0.1\r\n{head}content-type: {JSON}\r\n"
    with ThreadPoolExecutor(1) as pool, blocked(service):
        sent = {"content": content, "headers": {"content-type": JSON}}
        pool.submit(first.post, "/v1/batch", **sent)
        wait_for(lambda: batches.free < AT_ONCE)
        before = len(connections)
        with connect(service.address) as wire:
            say(wire, f"{head}content-length: {len(content)}\r\n\r\n".encode() + content)
            wait_for(lambda: batches.waiting == 1)
        wait_for(lambda: len(connections) == before)
    wait_for(lambda: batches.free == AT_ONCE)
    assert second.size() == 1
    second.push("/v1/batch", **sent)
    assert second.size() == 1 + FULL
