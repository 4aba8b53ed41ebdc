"""Incidents from outside: a rule fires and is over; people acknowledge, mute and delete."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conftest import Cast, Person, Service, on_both
from tests.pushing import Model, pushing
from tests.waiting import wait_for
from tests.watch.watching import add, crash, fires, incidents, resolves, run, shown, state, whole

CRASHED = {"condition": "crashed", "within": "1s"}


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


@on_both
def test_a_rule_fires_once_and_is_over_once(model: Model) -> None:
    run(model)
    rule = add(model, CRASHED, severity="critical")
    wait_for(lambda: state(model, rule) == "ok")
    assert incidents(model) == []
    crash(model)
    fired = fires(model, rule)
    assert (fired["severity"], fired["said"], fired["model_id"]) == (
        "critical",
        "It crashed.",
        model.id,
    )
    run(model)
    over = resolves(model, rule)
    assert over["incident_id"] == fired["incident_id"]
    assert over["resolution"].endswith("runs again.")
    assert [one["what"] for one in whole(model, over["incident_id"])["timeline"]] == [
        "fired",
        "resolved",
    ]
    assert incidents(model, state="open") == []
    assert len(incidents(model, state="resolved")) == 1


@pytest.mark.parametrize(
    ("when", "messages", "limit"),
    [
        ({"condition": "out-of-memory", "within": "1s"}, ["Out of Memory"], {}),
        ({"condition": "restarting", "within": "10s"}, ["Restarting", "Restarting"], {"limit": 2}),
    ],
)
def test_what_the_lifecycle_says_fires_and_is_over(
    model: Model, when: dict[str, str], messages: list[str], limit: dict[str, Any]
) -> None:
    run(model)
    rule = add(model, when, **limit)
    wait_for(lambda: state(model, rule) == "ok")
    said = [{"message": one, "running": False} for one in messages]
    model.push("/v1/batch", [{"path": "/v1/live/lifecycle", "body": one} for one in said])
    fires(model, rule)
    run(model)
    resolves(model, rule)


def test_a_rule_of_a_project_watches_each_of_its_models_and_those_that_come(model: Model) -> None:
    rule = add(model, CRASHED, of_project=True)
    run(model)
    wait_for(lambda: state(model, rule) == "ok")
    with pushing(model.service, model.owner) as second:
        assert second.project_id == model.project_id
        crash(second)
        wait_for(lambda: len(shown(model, rule)["states"]) == 2)
        wait_for(lambda: len(incidents(model, state="open")) == 1)
        assert incidents(model)[0]["model_id"] == second.id
        assert [one["state"] for one in shown(model, rule)["states"]] == ["firing", "ok"]
        answer = model.owner.get(
            f"/api/projects/{model.project_id}/rules", params={"model": model.id}
        )
        assert [one["state"] for one in answer.json()["items"][0]["states"]] == ["ok"]


def test_what_cannot_be_evaluated_says_so(model: Model) -> None:
    rule = add(model, CRASHED)
    wait_for(lambda: state(model, rule) == "unknown")
    assert "never deployed" in shown(model, rule)["states"][0]["said"]
    assert incidents(model) == []


def test_who_acknowledged_is_on_the_timeline_and_the_first_counts(model: Model) -> None:
    rule = add(model, CRASHED)
    crash(model)
    fired = fires(model, rule)
    path = f"/api/incidents/{fired['incident_id']}/acknowledge"
    answer = model.owner.post(path, json={"note": "I am on it"})
    assert answer.status_code == 200, answer.text
    first = answer.json()
    assert first["acknowledged_by"] == model.owner.actor.label
    assert first["timeline"][-1]["text"] == "I am on it"
    second = model.owner.post(path, json={}).json()
    assert second["acknowledged_at"] == first["acknowledged_at"]
    audit = model.owner.get(f"/api/projects/{model.project_id}/audit").json()["items"]
    assert audit[0]["action"] == "incident_acknowledged"


def test_a_muted_rule_opens_nothing_until_it_counts_again(model: Model) -> None:
    rule = add(model, CRASHED)
    until = time.time() + 3600
    said = {"until": until, "why": "we know"}
    muted = model.owner.post(f"/api/rules/{rule}/mute", json=said).json()
    assert (muted["muted_until"], muted["muted_why"]) == (until, "we know")
    crash(model)
    wait_for(lambda: state(model, rule) == "pending")
    assert incidents(model) == []
    assert model.owner.post(f"/api/rules/{rule}/mute", json={"until": None}).status_code == 200
    fires(model, rule)
    model.owner.post(f"/api/rules/{rule}/mute", json=said)
    timeline = whole(model, incidents(model)[0]["incident_id"])["timeline"]
    assert [one["what"] for one in timeline] == ["fired", "muted"]


def test_a_deleted_rule_ends_its_incident_which_stays(model: Model) -> None:
    rule = add(model, CRASHED)
    crash(model)
    fired = fires(model, rule)
    assert model.owner.delete(f"/api/rules/{rule}").status_code == 200
    assert model.owner.get(f"/api/rules/{rule}").status_code == 404
    found = whole(model, fired["incident_id"])
    assert (found["rule_id"], found["state"]) == (None, "resolved")
    assert found["resolution"] == "The rule was deleted."


def test_a_changed_rule_is_evaluated_anew(model: Model) -> None:
    crash(model)
    rule = add(model, CRASHED, lasting="1h")
    crash(model)
    wait_for(lambda: state(model, rule) == "pending")
    changed = model.owner.patch(f"/api/rules/{rule}", json={"for": 0, "severity": "info"})
    assert (changed.status_code, changed.json()["severity"]) == (200, "info")
    assert fires(model, rule)["severity"] == "info"


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"when": "crash"}, "when"),
        ({"severity": "loud"}, "severity"),
        ({"severty": "info"}, "severty"),
        ({"for": "soon"}, "for"),
        ({"limit": 1}, "limit"),
    ],
)
def test_a_rule_that_is_not_valid_is_400(model: Model, more: dict[str, Any], field: str) -> None:
    said = {"name": "x", "when": "crashed", **more}
    answer = model.owner.post(f"/api/projects/{model.project_id}/rules", json=said)
    assert (answer.status_code, answer.json()["field"]) == (400, field), answer.text


def test_two_rules_about_one_thing_have_two_names(model: Model) -> None:
    add(model, CRASHED)
    said = {"name": f"rule {CRASHED}", "when": "crashed", "model_id": model.id}
    answer = model.owner.post(f"/api/projects/{model.project_id}/rules", json=said)
    assert (answer.status_code, answer.json()["code"]) == (409, "rule_name_taken")


def test_the_list_of_incidents_goes_on_where_it_ended(model: Model) -> None:
    rules = [add(model, CRASHED, name=f"rule {number}") for number in range(3)]
    crash(model)
    for rule in rules:
        wait_for(lambda rule=rule: state(model, rule) == "firing")
    params = {"project": model.project_id, "limit": 2}
    first = model.owner.get("/api/incidents", params=params).json()
    assert len(first["items"]) == 2
    second = model.owner.get("/api/incidents", params=params | {"before": first["next"]}).json()
    assert (len(second["items"]), second["next"]) == (1, None)
    wrong = model.owner.get("/api/incidents", params=params | {"before": "x"})
    assert (wrong.status_code, wrong.json()["code"]) == (400, "invalid_cursor")


def test_conditions_are_listed_for_forms(model: Model) -> None:
    found = model.owner.get("/api/rules/conditions").json()
    names = {one["name"]: one for one in found["items"]}
    assert names["restarting"]["units"] == ["count"]
    assert found["severities"] == ["info", "warning", "critical"]


def test_rules_of_the_installation_are_its_operators(cast: Cast) -> None:
    said = {"name": "any crash", "when": "crashed"}
    assert cast.person("admin").post("/api/rules", json=said).status_code == 403
    made = cast.owner.post("/api/rules", json=said)
    assert made.status_code in (200, 403), made.text  # the first account of this server operates it
    if made.status_code == 200:
        rule = made.json()["rule_id"]
        assert cast.person("admin").get(f"/api/rules/{rule}").status_code == 404
        assert cast.owner.delete(f"/api/rules/{rule}").status_code == 200
