"""Halts of models with runs, on hosts that answer and on hosts that do not."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import msgspec
import pytest
from sqlalchemy import select, update

from tapeline.polling import poll
from tapeline.runs.holding import holds
from tapeline.store.tables.core import audit
from tapeline.store.tables.runs import runs
from tapeline.store.tables.watch import halts
from tapeline.tape.events import kinds
from tapeline.watch.halts import carrying_out
from tests.conftest import Person, Service
from tests.pushing import Model, pushing
from tests.waiting import wait_for
from tests.watch.stored_runs import runs_on, store_run


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:  # the first account: an operator
        yield made


def halt(model: Model, project: bool = True) -> dict[str, Any]:
    path = f"/api/projects/{model.project_id}/halt" if project else "/api/halt"
    answer = model.owner.post(path, json={"why": "Prices are wrong"})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def outcome(model: Model) -> dict[str, Any]:
    found: dict[str, Any] = model.owner.get(f"/api/projects/{model.project_id}/halt").json()
    (row,) = found["halt"]["models"]
    assert isinstance(row, dict)
    return row


def states_of_runs(model: Model) -> list[str]:
    query = select(runs.c.desired).where(runs.c.model_id == model.id).order_by(runs.c.created_at)
    return model.service.store.read_now(lambda connection: list(connection.scalars(query)))


def test_an_end_that_nobody_looked_at_is_not_known_to_be_one(model: Model) -> None:
    """Its host recorded the end and died before it could look for processes."""
    run = runs_on(model, "gone")
    halt(model)
    assert outcome(model)["state"] == "unknown"
    assert "nobody knows whether it runs" in outcome(model)["why"]
    ended = update(runs).where(runs.c.id == run.id).values(ended_at=run.created_at + 1.0)
    model.service.store.write_now(lambda connection: connection.execute(ended) and None)
    assert outcome(model)["state"] == "unknown"
    assert "nobody has looked whether a process of it is left" in outcome(model)["why"]
    assert "gone" in outcome(model)["why"]


def test_a_start_that_was_withdrawn_and_given_back_has_stopped(model: Model) -> None:
    store_run(model, host=None, launches=1)
    halt(model)
    end(model)
    wait_for(lambda: outcome(model)["state"] == "stopped")
    assert outcome(model)["proof"]["withdrawn"] is True


def test_the_end_of_a_lease_is_the_proof_where_the_node_is_gone(model: Model) -> None:
    run = runs_on(model, "gone", lease_until=time.time() + 3600.0)
    halt(model)
    end(model)
    assert not poll(lambda: outcome(model)["state"] == "stopped", within=2.5, every=0.2)
    end(model, lease_until=run.created_at)
    wait_for(lambda: outcome(model)["state"] == "stopped")
    assert outcome(model)["proof"]["lease_ended_at"] == run.created_at


def end(model: Model, **more: Any) -> None:
    ended = update(runs).where(runs.c.model_id == model.id).values(ended_at=2.0, **more)
    model.service.store.write_now(lambda connection: connection.execute(ended) and None)


def test_a_model_that_was_only_tested_runs_nowhere(model: Model) -> None:
    model.push("/v1/backtest/log", {"line": "a", "type": "info", "backtest_id": "b1"})
    assert halt(model)["models"] == []


def test_what_is_halted_with_everything_does_not_start_with_its_project(model: Model) -> None:
    runs_on(model, "gone")
    halt(model)
    halt(model, project=False)
    resume = f"/api/projects/{model.project_id}/resume"
    refused = model.owner.post(resume, json={"start": True})
    assert (refused.status_code, refused.json()["code"]) == (409, "halted")
    assert "Everything on this server" in refused.text
    shown = model.owner.get(f"/api/projects/{model.project_id}/halt").json()["halt"]
    assert shown["in_force"], "a refused request changes nothing"
    assert model.owner.post(resume, json={}).status_code == 200
    assert model.owner.post("/api/resume", json={}).status_code == 200


def test_what_its_project_halts_does_not_start_with_everything(model: Model) -> None:
    runs_on(model, "gone")
    halt(model, project=False)
    halt(model)
    answer = model.owner.post("/api/resume", json={"start": True})
    assert (answer.status_code, answer.json()["started"]) == (200, 0), answer.text
    assert states_of_runs(model) == ["stopped"]


def test_why_everything_is_halted_is_on_no_tape(model: Model) -> None:
    """A tape may be shown to anybody; the operator's reason is for the members."""
    model.push("/v1/live/log", {"line": "up", "type": "info"})
    halt(model, project=False)
    wait_for(lambda: stated(model))
    assert stated(model)[0]["scope"] == "server"
    assert "why" not in stated(model)[0]
    assert "Prices are wrong" in model.owner.get("/api/halt").text


def test_many_models_elsewhere_are_looked_at_in_turn(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carrying_out, "ELSEWHERE_AT_ONCE", 2)
    with ExitStack() as open_ones:
        several = [model] + [
            open_ones.enter_context(pushing(model.service, model.owner)) for _ in range(4)
        ]
        for one in several:
            one.push("/v1/live/log", {"line": "up", "type": "info"})
        halt(model)
        for one in several:
            one.post("/v1/live/lifecycle", {"message": "Stopped", "running": False})
        path = f"/api/projects/{model.project_id}/halt"
        wait_for(lambda: model.owner.get(path).json()["halt"]["stopped"] == len(several))


def test_a_halt_on_the_machine_is_recorded_with_its_proof_and_so_is_its_end(model: Model) -> None:
    """`tapeline halt --here` needs no database: what it did is written down afterwards."""
    services = model.service.services
    services.runner.host_name = "here"
    run = runs_on(model, "here")
    holds.write(services.settings.data, holds.ALL, holds.new("Prices are wrong", is_halt=True))
    wait_for(lambda: [one["stated"] for one in stated(model)] == ["halt", "stopped"])
    first, second = stated(model)
    assert (first["scope"], first["run"], "why" in first) == ("machine", run.id, False)
    assert second["proof"]["lock_is_free"] is True
    assert second["proof"]["processes"] == 0
    shown = model.owner.get(f"/api/projects/{model.project_id}/halt").json()["halt"]
    assert shown is None, "neither the project nor everything is halted"
    model.push("/v1/live/log", {"line": "elsewhere", "type": "info"})

    holds.lift(services.settings.data)
    in_force = select(halts.c.id).where(halts.c.resumed_at.is_(None))
    store = model.service.store
    wait_for(lambda: not store.read_now(lambda connection: list(connection.scalars(in_force))))
    logged = store.read_now(
        lambda connection: list(connection.scalars(select(audit.c.action).order_by(audit.c.seq)))
    )
    assert [one for one in logged if one in ("halted", "resumed")] == ["halted", "resumed"]


def stated(model: Model) -> list[dict[str, Any]]:
    found = [one for one in model.records() if one.kind == kinds.STATEMENT.number]
    return [msgspec.json.decode(one.body) for one in found]
