"""What follows when a rule fires: who is to be told and when, and that everything is halted."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select

from tapeline.ids import new_id
from tapeline.store.tables.watch import channels, outbox
from tests.conftest import Person, Service
from tests.pushing import Model, pushing
from tests.waiting import wait_for
from tests.watch.watching import add, fires, incidents, resolves, state, whole

CRASHED = {"condition": "crashed", "within": "1s"}


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


def channel(model: Model, name: str) -> None:
    """A row alone: whether it can be delivered is not the question here."""
    address = model.service.services.cipher.encrypt(b"https://hooks.example/x")
    row = {
        "id": new_id(), "scope": f"project:{model.project_id}", "project_id": model.project_id,
        "name": name, "kind": "webhook", "address": address, "shown": "", "created_at": 1.0,
        "created_by": "ada",
    }  # fmt: skip
    model.service.store.write_now(lambda one: one.execute(insert(channels).values(row)).rowcount)


def to_be_told(model: Model, incident_id: str) -> dict[tuple[str, str], float]:
    """By channel and what: seconds from the firing until it is due."""

    def read(connection: Connection) -> dict[tuple[str, str], float]:
        query = select(outbox, channels.c.name).join(channels)
        rows = connection.execute(query.where(outbox.c.incident_id == incident_id))
        return {(row.name, row.what): row.due_at - row.made_at for row in rows}

    return model.service.store.read_now(read)


def say(model: Model, message: str, *, running: bool) -> None:
    model.push("/v1/live/lifecycle", {"message": message, "running": running})


def test_channels_are_told_of_the_firing_later_if_nobody_knows_and_of_the_end(
    model: Model,
) -> None:
    for name in ("mail", "phone"):
        channel(model, name)
    do: list[Any] = [{"tell": ["mail", "fax"]}, {"tell": ["phone"], "after": "15m"}]
    rule = add(model, CRASHED, do=do)
    say(model, "Crashed", running=False)
    fired = fires(model, rule)["incident_id"]
    assert to_be_told(model, fired) == {
        ("mail", "fired"): 0.0,
        ("phone", "escalated"): pytest.approx(900.0),
    }
    texts = [one["text"] for one in whole(model, fired)["timeline"]]
    assert "There is no channel named fax." in texts
    assert model.owner.post(f"/api/incidents/{fired}/acknowledge", json={}).status_code == 200
    assert ("phone", "escalated") not in to_be_told(model, fired), "somebody knows"
    say(model, "Running", running=True)
    resolves(model, rule)
    assert ("mail", "resolved") in to_be_told(model, fired)
    assert ("phone", "resolved") not in to_be_told(model, fired), "it was told nothing"


def test_tell_alone_means_every_channel_of_the_project(model: Model) -> None:
    for name in ("mail", "phone"):
        channel(model, name)
    rule = add(model, CRASHED)
    say(model, "Crashed", running=False)
    fired = fires(model, rule)["incident_id"]
    assert set(to_be_told(model, fired)) == {("mail", "fired"), ("phone", "fired")}


def test_a_rule_halts_a_project_and_says_why(model: Model) -> None:
    rule = add(model, CRASHED, do=["halt"], name="too much")
    say(model, "Crashed", running=False)
    fired = fires(model, rule)["incident_id"]
    entries = {one["what"]: one for one in whole(model, fired)["timeline"]}
    halt = model.owner.get(f"/api/projects/{model.project_id}/halt").json()["halt"]
    assert entries["halted"]["details"] == {"halt": halt["halt_id"]}
    assert (halt["in_force"], halt["by"], halt["why"]) == (True, "rule too much", "It crashed.")
    audit = model.owner.get(f"/api/projects/{model.project_id}/audit").json()["items"]
    assert audit[0]["actor_kind"] == "rule"


def test_a_model_that_runs_elsewhere_cannot_be_stopped_and_the_timeline_says_so(
    model: Model,
) -> None:
    rule = add(model, CRASHED, do=["stop"])
    say(model, "Crashed", running=False)
    fired = fires(model, rule)["incident_id"]
    assert [one["what"] for one in whole(model, fired)["timeline"]] == ["fired", "not_stopped"]
    assert len(incidents(model)) == 1
    wait_for(lambda: state(model, rule) == "firing")
