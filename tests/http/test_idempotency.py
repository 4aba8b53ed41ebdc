"""Idempotency-Key: a request that is repeated is carried out once and answered alike."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from tapeline.accounts.actor import Actor
from tapeline.http.core import signing
from tapeline.http.core.services import Services
from tapeline.store.tables import core
from tests.conftest import PASSWORD, Cast, Person, Service, on_both, running

NEW = "another horse entirely"


def create(person: Person, key: str | None, name: str = "Beta", **more: Any) -> httpx.Response:
    headers = {"Idempotency-Key": key} if key is not None else {}
    return person.post("/project/create", headers=headers, json={"name": name} | more)


def names(person: Person) -> list[str]:
    return [one["name"] for one in person.get("/project/teams").json()]


def outcome(response: httpx.Response) -> tuple[int, bytes]:
    return response.status_code, response.content


@on_both
def test_a_repeat_is_answered_as_the_first_and_stores_nothing_twice(cast: Cast) -> None:
    first = create(cast.outsider, "once")
    assert first.status_code == 200
    for _ in range(3):
        repeat = create(cast.outsider, "once")
        assert outcome(repeat) == outcome(first)
        assert repeat.headers["content-type"] == "application/json"
    assert names(cast.outsider) == ["Beta"]
    # Without a key, or with another one, it is another request.
    for key in (None, None, "twice"):
        assert create(cast.outsider, key).json() != first.json()
    assert names(cast.outsider) == ["Beta"] * 4


def test_the_same_body_is_the_same_in_any_order_and_with_any_boundary(cast: Cast) -> None:
    header = {"Idempotency-Key": "once"}
    sent = {"name": (None, "Beta"), "description": (None, "x")}
    answers = [
        cast.outsider.post("/project/create", headers=header, files=dict(items))
        for items in (list(sent.items()), list(sent.items())[::-1])
    ]
    assert answers[0].request.headers["content-type"] != answers[1].request.headers["content-type"]
    assert outcome(answers[0]) == outcome(answers[1])
    assert names(cast.outsider) == ["Beta"]


def test_a_key_with_another_body_is_a_conflict(cast: Cast) -> None:
    first = create(cast.outsider, "once")
    for other in ({"name": "Gamma"}, {"description": "more"}, {"unknown": 1}):
        refused = create(cast.outsider, "once", **({"name": "Beta"} | other))
        assert (refused.status_code, refused.json()["code"]) == (409, "idempotency_key_reused")
    assert names(cast.outsider) == ["Beta"]
    assert outcome(create(cast.outsider, "once")) == outcome(first)


@on_both
def test_repeats_at_the_same_time_on_two_servers_are_one(service: Service, cast: Cast) -> None:
    start = threading.Barrier(8)

    def send(client: httpx.Client) -> tuple[int, bytes]:
        start.wait(10)
        header = {"Idempotency-Key": "once"}
        return outcome(client.post("/project/create", headers=header, json={"name": "Beta"}))

    token = cast.outsider.client.headers["token"]
    with (
        running(service.services.settings) as second,
        service.client(token=token) as here,
        second.client(token=token) as there,
        ThreadPoolExecutor(8) as pool,
    ):
        sending = [pool.submit(send, client) for client in (here, there) * 4]
        outcomes = {one.result() for one in sending}
    assert len(outcomes) == 1
    assert next(iter(outcomes))[0] == 200
    assert names(cast.outsider) == ["Beta"]


@on_both
def test_failures_are_not_remembered(cast: Cast) -> None:
    assert create(cast.outsider, "once", name="").status_code == 400
    assert create(cast.outsider, "once").status_code == 200
    sent: dict[str, Any] = {"json": {"name": "Model", "projectId": cast.project_id}}
    header = {"Idempotency-Key": "model"}
    assert cast.viewer.post("/model/create-model", headers=header, **sent).status_code == 403
    member = f"/api/projects/{cast.project_id}/members/{cast.viewer.id}"
    assert cast.owner.patch(member, json={"role": "member"}).status_code == 200
    made = cast.viewer.post("/model/create-model", headers=header, **sent)
    assert made.status_code == 200
    again = cast.viewer.post("/model/create-model", headers=header, **sent)
    assert outcome(again) == outcome(made)


def test_a_key_belongs_to_one_account_and_one_path(cast: Cast) -> None:
    first = create(cast.outsider, "once")
    other = create(cast.viewer, "once")
    assert other.status_code == 200
    assert other.json()["projectId"] != first.json()["projectId"]
    # The same key with another body, but on another path.
    model = {"projectId": cast.outsider.id, "name": "Beta"}
    header = {"Idempotency-Key": "once"}
    made = cast.outsider.post("/model/create-model", headers=header, json=model)
    assert (made.status_code, set(made.json())) == (200, {"modelId", "projectId", "status"})
    paths = [f"/api/projects/{project}/invitations" for project in (cast.project_id, cast.owner.id)]
    links = {cast.owner.post(path, headers=header, json={}).json()["url"] for path in paths}
    assert len(links) == 2


@on_both
def test_an_answer_is_kept_for_24_hours(service: Service, cast: Cast) -> None:
    def age(seconds: float) -> None:
        older = update(core.answers).values(at=core.answers.c.at - seconds)
        service.store.write_now(lambda connection: connection.execute(older))

    first = create(cast.outsider, "once")
    age(24 * 3600 - 60)
    assert outcome(create(cast.outsider, "once")) == outcome(first)
    age(61)
    second = create(cast.outsider, "once", name="Gamma")
    assert second.status_code == 200
    assert outcome(create(cast.outsider, "once", name="Gamma")) == outcome(second)
    assert sorted(names(cast.outsider)) == ["Beta", "Gamma"]


def test_signing_in_and_making_keys_are_never_answered_from_memory(
    service: Service, cast: Cast
) -> None:
    header = {"Idempotency-Key": "once"}
    new_key = {"projectId": cast.project_id}
    passes = {
        cast.owner.post("/project/generate-project-token", headers=header, json=new_key).json()[
            "apiPass"
        ]
        for _ in range(2)
    }
    assert len(passes) == 2
    credentials = {"email": cast.owner.email, "password": PASSWORD}
    with service.client(**header) as client:
        tokens = {
            client.post("/auth/signin", json=credentials).json()["refreshToken"] for _ in range(2)
        }
        assert len(tokens) == 2
        for token in tokens:
            out = {"refreshToken": token}
            assert client.post("/auth/token", json=out).status_code == 200
            assert client.post("/auth/signout", json=out).status_code == 200
            assert client.post("/auth/signout", json=out).status_code == 401


def test_what_only_reads_is_answered_anew(cast: Cast) -> None:
    header = {"Idempotency-Key": "once"}
    ref = {"projectId": cast.project_id}
    assert cast.owner.post("/model/list", headers=header, json=ref).json() == []
    cast.owner.post("/model/create-model", json=ref | {"name": "Momentum"})
    assert len(cast.owner.post("/model/list", headers=header, json=ref).json()) == 1


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_has_1_to_255_characters(cast: Cast, key: str) -> None:
    refused = create(cast.outsider, key)
    assert (refused.status_code, refused.json()["field"]) == (400, "Idempotency-Key")
    assert create(cast.outsider, "x" * 255).status_code == 200


def change_password(person: Person, client: httpx.Client | None = None) -> httpx.Response:
    return (client or person.client).post(
        "/api/me/password",
        headers={"Idempotency-Key": "once"},
        json={"current_password": PASSWORD, "new_password": NEW},
    )


def test_a_password_change_can_be_repeated(cast: Cast) -> None:
    first = change_password(cast.owner)
    assert first.status_code == 200
    assert outcome(change_password(cast.owner)) == outcome(first)


@on_both
def test_a_password_change_repeated_while_the_first_is_under_way_is_answered_alike(
    service: Service, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is carried out when the repeat has looked for its answer, but not yet compared."""
    verify: Callable[..., Any] = signing.verify_change
    answers: list[httpx.Response] = []
    began = threading.Event()

    async def overtaken(services: Services, actor: Actor, current: str, new: str) -> Any:
        if not began.is_set():
            began.set()
            token = cast.owner.client.headers["token"]
            with service.client(token=token) as client:
                answers.append(await asyncio.to_thread(change_password, cast.owner, client))
        return await verify(services, actor, current, new)

    monkeypatch.setattr(signing, "verify_change", overtaken)
    repeat = change_password(cast.owner)
    assert [answer.status_code for answer in answers] == [200]
    assert outcome(repeat) == outcome(answers[0])


def test_a_right_that_is_gone_is_not_replaced_by_a_remembered_answer(
    service: Service, cast: Cast
) -> None:
    assert create(cast.outsider, "once").status_code == 200
    with service.client() as client:
        client.post("/auth/signout", json={"refreshToken": cast.outsider.refresh_token})
    assert create(cast.outsider, "once").status_code == 401
