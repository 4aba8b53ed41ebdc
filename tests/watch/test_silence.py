"""Silence from outside: a model that runs and sends nothing, and what ends the silence."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import update

from tapeline.runs.run import Run
from tapeline.store.tables.runs import runs
from tapeline.watch.conditions.condition import Question
from tapeline.watch.conditions.silence import SILENCE
from tapeline.watch.facts.fact import Asked
from tapeline.watch.facts.lifecycle_events import Said
from tests.conftest import Person, Service
from tests.pushing import ORDER, Model, pushing
from tests.waiting import wait_for
from tests.watch.stored_runs import store_run
from tests.watch.watching import add, fires, resolves, shown

BY_NAME = {one.name: one for one in SILENCE}


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


def order(model: Model) -> None:
    model.push("/v1/live/spot-market", ORDER)


def log(model: Model) -> None:
    model.push("/v1/live/log", {"line": "tick", "type": "info"})


def bar(model: Model) -> None:
    said = {"open": 1, "high": 1, "low": 1, "close": 1, "volume": 1}
    body = {"symbol": "BTC-USD", "interval": "1m", "time": time.time(), **said}
    model.push("/v1/live/bar", body)


def heartbeat(model: Model) -> None:
    body = {"type": "heartbeat", "args": {"name": "loop"}, "response": {}}
    model.push("/v1/live/event", body)


@pytest.mark.parametrize(
    ("when", "ends", "word"),
    [
        ("no-event", log, "event"),
        ("no-order", order, "order"),
        ("no-log", log, "line"),
        ("no-bar", bar, "bar"),
        ({"condition": "no-heartbeat", "heartbeat": "loop"}, heartbeat, "heartbeat"),
    ],
)
def test_silence_fires_and_what_was_missing_ends_it(
    model: Model, when: Any, ends: Callable[[Model], None], word: str
) -> None:
    rule = add(model, when, lasting=1)
    fired = fires(model, rule)
    assert fired["said"].startswith(f"It has sent no {word} for ")
    assert fired["limit"] == 1.0
    # Allowed to be silent for longer from now on, or it would be silent again at once.
    model.owner.patch(f"/api/rules/{rule}", json={"for": "1h"})
    ends(model)
    resolves(model, rule)


def test_of_a_model_that_said_that_it_stopped_nothing_is_expected(model: Model) -> None:
    rule = add(model, "no-event", lasting=1)
    fires(model, rule)
    model.push("/v1/live/lifecycle", {"message": "Stopped", "running": False})
    assert "not running" in resolves(model, rule)["resolution"]


def asked(lasting: float = 60.0, **more: Any) -> Asked:
    return Asked(rule_id="r", lasting=lasting, **more)


def find(name: str, facts: dict[str, Any], now: float, **more: Any) -> Any:
    return BY_NAME[name].find(Question(asked(**more), facts, now))


def test_silence_counts_from_the_latest_of_all_beginnings() -> None:
    facts = {"last_order": 100.0, "lifecycle": (Said(150.0, "Running", True),)}
    early = find("no-order", facts, 200.0)
    assert (early.holds, early.look_again, early.is_settled) == (False, 210.0, True)
    assert find("no-order", facts, 210.0).holds
    assert find("no-order", facts, 210.0, counts_from=180.0).holds is False
    assert find("no-order", {}, 1_000.0, counts_from=100.0).holds


def test_a_heartbeat_of_another_name_is_none() -> None:
    facts = {"heartbeats": {"loop": 100.0}}
    assert find("no-heartbeat", facts, 120.0, options={"heartbeat": "loop"}).holds is False
    assert find("no-heartbeat", facts, 120.0, options={"heartbeat": "other"}).holds is True


def screener(**more: Any) -> Run:
    return Run(
        id="r", model_id="m", version_id="v", kind="screener", state="pending", desired="running",
        reason="", plan="nano", memory_mb=1, cpu_milli=1, python_version="3.11", created_at=0.0,
        created_by="", schedule="@daily", due_at=100.0, **more,
    )  # fmt: skip


def test_a_schedule_that_did_not_run_is_missed_until_it_does() -> None:
    waiting = {"deployed_run": screener()}
    assert find("schedule-missed", waiting, 159.0).look_again == 160.0
    late = find("schedule-missed", waiting, 160.0)
    assert (late.holds, late.since) == (True, 160.0)
    started = {"deployed_run": screener(started_at=170.0)}
    assert find("schedule-missed", started, 200.0).holds is False
    assert find("schedule-missed", {}, 200.0).holds is None


def test_a_schedule_is_missed_until_its_run_starts(model: Model) -> None:
    run = store_run(model, kind="screener", schedule="@daily", due_at=time.time() - 60.0)
    rule = add(model, "schedule-missed", lasting="1s")
    assert "by its schedule (@daily) and has not started" in fires(model, rule)["said"]
    values = {"started_at": time.time(), "state": "running"}
    started = update(runs).where(runs.c.id == run.id).values(values)
    model.service.store.write_now(lambda connection: connection.execute(started) and None)
    resolves(model, rule)


def test_a_model_that_stops_is_not_expected_to_speak_before_the_silence_is_due(
    model: Model,
) -> None:
    log(model)
    rule = add(model, "no-log", lasting="1h")
    wait_for(lambda: said(model, rule) == "It has not been without any line for 1 h.")
    model.push("/v1/live/lifecycle", {"message": "Stopped", "running": False})
    wait_for(lambda: "It is not running" in said(model, rule))


def said(model: Model, rule: str) -> str:
    return "".join(one["said"] for one in shown(model, rule)["states"])
