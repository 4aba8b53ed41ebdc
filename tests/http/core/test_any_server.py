"""Two servers on one PostgreSQL: what is done at one counts at the other."""

from collections.abc import Iterator

import httpx
import pytest

from tapeline.accounts import limits
from tapeline.http.core import long_answers
from tapeline.tape.append.quotas import MEGABYTE
from tests.conftest import Cast, Service, running
from tests.http.core.test_long_answers import WAYS, Ending, Lose, Scene, an_expired_session
from tests.http.sharing.scene import shared
from tests.pushing import Model, pushing
from tests.waiting import wait_for

pytestmark = pytest.mark.databases("postgresql")
LOG = "/v1/live/log"
TOLD = [way for way in WAYS if way is not an_expired_session]  # nobody does that


@pytest.fixture
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def watched(service: Service, cast: Cast) -> Iterator[Model]:
    with pushing(service, cast.owner, cast.project_id) as model:
        yield model


@pytest.fixture(scope="module")
def second(shared_service: Service) -> Iterator[Service]:
    with running(shared_service.services.settings) as started:
        wait_for(lambda: started.services.watchers.hears_others)
        yield started


@pytest.fixture
def _looks_never(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends a stream was announced."""
    monkeypatch.setattr(long_answers, "AUTHORISED_EVERY", 600.0)
    monkeypatch.setattr(long_answers, "QUIET", 600.0)


@pytest.mark.usefixtures("_looks_never")
@pytest.mark.parametrize("lose", TOLD, ids=lambda way: way.__name__)
def test_a_right_that_ends_at_one_server_ends_streams_of_the_other(
    watched: Model, cast: Cast, second: Service, lose: Lose
) -> None:
    headers, act, code = lose(Scene(watched, cast))
    paths = (f"/api/models/{watched.id}/stream", f"/api/projects/{cast.project_id}/stream")
    streams = [Ending(second, path, headers) for path in paths]
    act()
    assert [one.end()["code"].startswith(code) for one in streams] == [True, True]
    with second.client(**headers) as client:
        assert client.get(f"/api/models/{watched.id}").status_code in (401, 404)


@pytest.mark.usefixtures("_looks_never")
@pytest.mark.parametrize("choices", [{}, {"delay_hours": 1}], ids=["live", "delayed"])
def test_a_link_that_is_revoked_at_one_server_ends_streams_of_the_other(
    watched: Model, second: Service, choices: dict[str, int]
) -> None:
    with watched.service.client() as client:
        link = shared(watched, client, name="x", **choices)
    stream = Ending(second, f"/api/shared/{link.token}/stream", {})
    path = f"/api/models/{watched.id}/shares"
    (item,) = watched.get("/shares")["items"]
    watched.owner.client.delete(f"{path}/{item['id']}").raise_for_status()
    assert stream.end()["code"] == "no_such_share"


def test_what_a_model_pushes_to_one_server_counts_at_the_other(
    watched: Model, second: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for one in (watched.service, second):
        monkeypatch.setattr(one.services.quotas.pushed, "limit", MEGABYTE)
    line = {"line": "x" * 100_000}
    for _ in range(9):
        watched.push(LOG, line)
    with second.client() as there:

        def pushed() -> int:
            answer = watched.owner.client.get(f"{second.address}/api/models/{watched.id}")
            found: int = answer.json()["usage"]["pushed"]["used"]
            return found

        wait_for(lambda: pushed() > 900_000)
        answer = _push(there, watched, line)
        assert (answer.status_code, answer.json()["code"]) == (429, "quota_exceeded")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        answer = _push(there, watched, {"line": "short"})
        assert answer.status_code == 200


def _push(client: httpx.Client, model: Model, body: dict[str, str]) -> httpx.Response:
    return client.post(LOG, json=body, headers=model.headers)


def test_wrong_passwords_at_one_server_delay_at_the_other(
    service: Service, second: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SHORTEST_WAIT", 600.0)  # none is over before all were made
    said = {"email": "guessed@example.com", "password": "wrong, and again wrong"}
    free = service.services.settings.signin_limit_account
    with service.client() as here, second.client() as there:
        for number in range(free):
            answer = (here, there)[number % 2].post("/auth/signin", json=said)
            assert answer.status_code == 401, answer.text
        for client in (here, there):
            answer = client.post("/auth/signin", json=said)
            assert (answer.status_code, answer.json()["code"]) == (429, "too_many_attempts")


def test_a_repeat_at_another_server_gets_the_first_answer(
    watched: Model, cast: Cast, second: Service
) -> None:
    headers = {"token": cast.owner.client.headers["token"], "Idempotency-Key": "k1"}
    body = {"name": "Once", "description": ""}
    with watched.service.client() as here, second.client() as there:
        first, repeat = (
            one.post("/project/create", json=body, headers=headers) for one in (here, there)
        )
        assert (first.status_code, repeat.content) == (200, first.content)
        pushed = watched.headers | {"Idempotency-Key": "k2"}
        for one in (here, there):
            answer = one.post(LOG, json={"line": "only once"}, headers=pushed)
            assert answer.status_code == 200, answer.text
    assert [one["line"] for one in watched.get("/logs")["items"]] == ["only once"]


def test_what_was_acknowledged_at_one_server_is_read_at_the_other_at_once(
    watched: Model, cast: Cast, second: Service
) -> None:
    with second.client(token=cast.owner.client.headers["token"]) as there:
        for number in range(5):
            watched.push(LOG, {"line": str(number)})
            found = there.get(f"/api/models/{watched.id}/logs").json()["items"]
            assert found[0]["line"] == str(number)
