"""When a rule would have fired, before it is saved: from what is stored, over HTTP."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conftest import Person, Service
from tests.pushing import ORDER, Model, pushing

HOUR, DAY = 3_600.0, 86_400.0


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


def preview(
    model: Model, when: Any, status: int = 200, lasting: Any = None, hours: Any = None
) -> dict[str, Any]:
    said = {"name": "x", "when": when, "model_id": model.id, "for": lasting, "hours": hours}
    answer = model.owner.post(f"/api/projects/{model.project_id}/rules/preview", json=said)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def live(model: Model, at: float, message: str, running: bool) -> None:
    body = {"message": message, "running": running}
    model.push("/v1/live/lifecycle", body, headers={"time": str(at)})


def test_a_crash_of_the_past_would_have_fired(model: Model) -> None:
    now = time.time()
    live(model, now - 5 * DAY, "Running", True)
    live(model, now - 3 * DAY, "Crashed", False)
    live(model, now - 2 * DAY, "Running", True)
    live(model, now - HOUR, "Crashed", False)
    found = preview(model, "crashed", lasting="1h")["stretches"]
    first, second = found
    assert first["began_at"] == pytest.approx(now - 3 * DAY)
    assert first["fired_at"] == pytest.approx(now - 3 * DAY + HOUR)
    assert first["resolved_at"] == pytest.approx(now - 2 * DAY + 60)
    assert second["resolved_at"] is None
    down = preview(model, "not-running")["stretches"]
    assert [one["began_at"] for one in down] == pytest.approx([now - 3 * DAY, now - HOUR])


def test_hours_are_taken_into_account(model: Model) -> None:
    now = time.time()
    live(model, now - 9 * DAY, "Crashed", False)
    days = preview(model, "crashed", hours={"days": ["mon"], "from": "10:00", "to": "11:00"})
    assert 1 <= len(days["stretches"]) <= 2
    whole = preview(model, "crashed", hours={"calendar": "24/7"})
    assert len(whole["stretches"]) >= 1


def test_silence_of_the_past_would_have_fired(model: Model) -> None:
    live(model, time.time() - 5 * DAY, "Running", True)
    assert preview(model, "no-order", lasting="1d")["stretches"][0]["resolved_at"] is None
    model.push("/v1/live/spot-market", ORDER)
    ended = preview(model, "no-order", lasting="1d")["stretches"]
    assert ended[0]["resolved_at"] is not None
    for when in ("no-event", "no-log", "no-heartbeat"):
        assert preview(model, when, lasting="1d")["stretches"]


@pytest.mark.parametrize("when", ["given-up", "restarting", "out-of-memory", "memory-near"])
def test_a_model_that_was_always_well_would_have_fired_nothing(model: Model, when: str) -> None:
    live(model, time.time() - 5 * DAY, "Running", True)
    found = preview(model, when)
    assert (found["stretches"], found["note"]) == ([], None)
    assert found["looked_at_since"] <= time.time() - 29 * DAY


def test_what_is_not_kept_is_not_made_up(model: Model) -> None:
    assert "not kept" in preview(model, "schedule-missed", lasting="1h")["note"]


def test_nothing_is_saved_and_nonsense_is_refused(model: Model) -> None:
    preview(model, "crashed")
    answer = model.owner.get(f"/api/projects/{model.project_id}/rules").json()
    assert answer["items"] == []
    assert preview(model, "crashd", 400)["code"] == "invalid_rule"
    hours = {"calendar": "MOON"}
    assert "There is no calendar MOON" in preview(model, "crashed", 400, hours=hours)["error"]
