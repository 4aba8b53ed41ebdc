"""Rules from outside: made over HTTP, fired and resolved by what models do."""

from typing import Any

from tests.pushing import Model
from tests.waiting import wait_for


def add(model: Model, when: Any, *, of_project: bool = False, lasting: Any = 0, **more: Any) -> str:
    """The id of a new rule about the model, or about its project."""
    said = {"name": f"rule {when}"[:100], "when": when, "for": lasting, **more}
    if not of_project:
        said["model_id"] = model.id
    answer = model.owner.post(f"/api/projects/{model.project_id}/rules", json=said)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["rule_id"])


def shown(model: Model, rule_id: str) -> dict[str, Any]:
    answer = model.owner.get(f"/api/rules/{rule_id}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def state(model: Model, rule_id: str) -> str:
    states = shown(model, rule_id)["states"]
    return str(states[0]["state"]) if states else ""


def incidents(model: Model, **wanted: str) -> list[dict[str, Any]]:
    """Of the model's project, the newest first."""
    answer = model.owner.get("/api/incidents", params={"project": model.project_id, **wanted})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def whole(model: Model, incident_id: str) -> dict[str, Any]:
    answer = model.owner.get(f"/api/incidents/{incident_id}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def fires(model: Model, rule_id: str) -> dict[str, Any]:
    """Wait until it fires; its incident."""
    wait_for(lambda: state(model, rule_id) == "firing")
    (one,) = [one for one in incidents(model, state="open") if one["rule_id"] == rule_id]
    return one


def resolves(model: Model, rule_id: str) -> dict[str, Any]:
    """Wait until it is over; the one incident that it had."""
    wait_for(lambda: state(model, rule_id) == "ok")
    (one,) = [one for one in incidents(model) if one["rule_id"] == rule_id]
    assert one["state"] == "resolved"
    return one


def crash(model: Model) -> None:
    model.push("/v1/live/lifecycle", {"message": "Crashed", "running": False})


def run(model: Model) -> None:
    model.push("/v1/live/lifecycle", {"message": "Running", "running": True})
