"""A halted project: who may halt it, what its models are told, and what is written about it."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from tapeline.tape.events import kinds
from tapeline.watch.halts import carrying_out
from tests.conftest import Cast, Person, Service
from tests.pushing import Model, pushing
from tests.waiting import SLOW_MACHINE, wait_for

TOLD = {"status": "success", "halt": True}
TAKEN = {"status": "success"}


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


def halt(model: Model, **said: Any) -> dict[str, Any]:
    answer = model.owner.post(f"/api/projects/{model.project_id}/halt", json=said)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def outcome(model: Model) -> dict[str, Any]:
    found: dict[str, Any] = model.owner.get(f"/api/projects/{model.project_id}/halt").json()["halt"]
    return found


def resume(model: Model, status: int = 200) -> dict[str, Any]:
    answer = model.owner.post(f"/api/projects/{model.project_id}/resume", json={})
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def says(model: Model, expected: dict[str, Any]) -> bool:
    """As an event alone, as one with a key, and as a batch."""
    said = model.post("/v1/live/log", {"line": "hello", "type": "info"})
    key = {"Idempotency-Key": f"k-{expected.get('halt')}"}
    once = model.post("/v1/live/log", {"line": "hello", "type": "info"}, headers=key)
    batch = [{"path": "/v1/live/log", "body": {"line": "hello", "type": "info"}}]
    many = model.post("/v1/batch", batch)
    return [one.json() for one in (said, once, many)] == [expected] * 3


def test_a_model_that_runs_elsewhere_is_told_and_counts_as_stopped_when_it_says_so(
    model: Model,
) -> None:
    model.push("/v1/live/log", {"line": "up", "type": "info"})
    made = halt(model, why="Prices are wrong")
    assert (made["in_force"], made["why"], made["unknown"]) == (True, "Prices are wrong", 1)
    (row,) = made["models"]
    assert (row["state"], row["run_id"], row["proof"]) == ("unknown", None, None)
    assert "has not said that it stopped" in row["why"]
    wait_for(lambda: says(model, TOLD))
    model.post("/v1/live/lifecycle", {"message": "Stopped", "running": False})
    wait_for(lambda: outcome(model)["stopped"] == 1)
    assert outcome(model)["models"][0]["how"] == "It said that it stopped."

    assert resume(model)["started"] == 0
    wait_for(lambda: says(model, TAKEN))
    assert outcome(model)["in_force"] is False
    assert resume(model, 404)["code"] == "not_halted"


def test_the_first_event_after_a_halt_or_a_resume_is_answered_accordingly(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carrying_out, "ANSWERED_WITHIN", SLOW_MACHINE)
    line = {"line": "hello", "type": "info"}
    for _ in range(5):
        halt(model)
        assert model.post("/v1/live/log", line).json() == TOLD
        resume(model)
        assert model.post("/v1/live/log", line).json() == TAKEN


def test_both_ends_of_a_halt_are_on_the_tape_which_still_verifies(model: Model) -> None:
    model.push("/v1/live/log", {"line": "up", "type": "info"})
    made = halt(model, why="Prices are wrong")
    wait_for(lambda: len(statements(model)) == 1)
    model.post("/v1/live/lifecycle", {"message": "Stopped", "running": False})
    wait_for(lambda: len(statements(model)) == 2)
    first, second = statements(model)
    assert (first["stated"], first["why"], first["scope"]) == (
        "halt",
        "Prices are wrong",
        "project",
    )
    assert (second["stated"], second["halt"]) == ("stopped", made["halt_id"])
    assert model.first_break() is None
    audit = model.owner.get(f"/api/projects/{model.project_id}/audit").json()["items"]
    assert audit[0]["action"] == "halted"
    assert audit[0]["details"]["why"] == "Prices are wrong"


def statements(model: Model) -> list[dict[str, Any]]:
    stated = [one for one in model.records() if one.kind == kinds.STATEMENT.number]
    return [msgspec.json.decode(one.body) for one in stated]


def test_no_model_can_state_a_halt_itself(model: Model) -> None:
    for room in ("model", "live"):
        answer = model.post(f"/v1/{room}/statement", {"stated": "halt"})
        assert answer.status_code == 404


def test_pressing_the_button_twice_is_one_halt(model: Model) -> None:
    model.push("/v1/live/log", {"line": "up", "type": "info"})
    assert halt(model, why="Now")["halt_id"] == halt(model)["halt_id"]
    resume(model)
    assert outcome(model)["resumed_by"] == model.owner.actor.label


def test_nothing_is_deployed_or_run_in_a_halted_project(model: Model) -> None:
    halt(model, why="Prices are wrong")
    said = {"modelId": model.id, "projectId": model.project_id}
    refused = model.owner.post("/model/run", json=said)
    assert refused.status_code in (409, 503), refused.text
    if refused.status_code == 409:
        assert refused.json()["code"] in ("halted", "on_hold")


@pytest.mark.parametrize("why", ["a\nb", "\u202eabc", "x" * 1001])
def test_a_reason_is_one_plain_line(model: Model, why: str) -> None:
    answer = model.owner.post(f"/api/projects/{model.project_id}/halt", json={"why": why})
    assert (answer.status_code, answer.json()["field"]) == (400, "why")
    assert outcome(model) is None


@pytest.mark.parametrize(
    ("role", "status"),
    [("owner", 200), ("admin", 200), ("member", 200), ("viewer", 403), ("outsider", 404)],
)
def test_who_may_run_models_may_halt_them(cast: Cast, role: str, status: int) -> None:
    person = cast.person(role)
    for act in ("halt", "resume"):
        answer = person.post(f"/api/projects/{cast.project_id}/{act}", json={})
        assert answer.status_code == status, answer.text


def test_everything_is_halted_by_an_operator_alone(enter: Callable[[str], Person]) -> None:
    enter("ada")  # the operator, if nobody came before
    other = enter("eve")
    assert other.get("/api/halt").status_code == 403
    for path in ("/api/halt", "/api/resume"):
        assert other.post(path, json={}).status_code == 403
