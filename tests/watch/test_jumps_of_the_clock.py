"""Rules and messages while somebody sets the clock of the machine right."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from tests.conftest import Person, Service
from tests.pushing import Model, pushing
from tests.waiting import wait_for
from tests.watch.telling.queued import Queue
from tests.watch.watching import add, crash, fires, incidents, run, shown, state

pytestmark = pytest.mark.databases("sqlite")

HOUR = 3600.0
NOWHERE = "http://localhost:1/"


@dataclass
class Wall:
    """The wall clock of this process, for as long as the test lasts."""

    service: Service
    ahead: float = 0.0

    def jump_to(self, ahead: float) -> None:
        """Until the server has noticed."""
        clock = self.service.store.clock
        before = clock.jumped
        self.ahead = ahead
        wait_for(lambda: clock.jumped == before + 1)


@pytest.fixture
def wall(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wall]:
    made, real = Wall(service), time.time
    monkeypatch.setattr(time, "time", lambda: real() + made.ahead)
    yield made
    made.ahead = 0.0


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


def log(model: Model) -> None:
    model.push("/v1/live/log", {"line": "tick", "type": "info"})


def silence(model: Model, rule: str) -> float:
    (found,) = shown(model, rule)["states"]
    return float(found["value"] or 0.0)


def test_a_model_that_falls_silent_after_the_clock_was_set_back_is_noticed(
    model: Model, wall: Wall
) -> None:
    wall.jump_to(2 * HOUR)
    run(model)
    log(model)
    rule = add(model, "no-event", lasting=2)
    wait_for(lambda: state(model, rule) == "ok")
    wall.jump_to(0.0)
    log(model)
    assert fires(model, rule)["value"] < HOUR


def test_a_model_that_was_silent_before_the_clock_was_set_back_is_noticed(
    model: Model, wall: Wall
) -> None:
    wall.jump_to(2 * HOUR)
    log(model)
    rule = add(model, "no-event", lasting=4)
    wait_for(lambda: state(model, rule) == "ok")
    wall.jump_to(0.0)
    assert fires(model, rule)["value"] < HOUR


def test_a_model_is_not_silent_because_the_clock_was_set_ahead(model: Model, wall: Wall) -> None:
    run(model)
    log(model)
    rule = add(model, "no-event", lasting="1h")
    wait_for(lambda: state(model, rule) == "ok")
    before = silence(model, rule)
    wall.jump_to(2 * HOUR)
    wait_for(lambda: silence(model, rule) > before)
    assert silence(model, rule) < HOUR
    assert incidents(model) == []


def test_what_held_before_the_clock_was_set_ahead_has_not_held_for_longer(
    model: Model, wall: Wall
) -> None:
    rule = add(model, "crashed", lasting="1h")
    crash(model)
    wait_for(lambda: state(model, rule) == "pending")
    wall.jump_to(2 * HOUR)
    at_once = add(model, "crashed", name="crashed at once")
    crash(model)
    fires(model, at_once)
    assert [one["rule_id"] for one in incidents(model)] == [at_once]


def test_messages_are_due_when_they_were_before_the_clock_was_set_back(
    service: Service, wall: Wall
) -> None:
    queue = Queue(service.store, service.services.cipher)
    wall.jump_to(2 * HOUR)
    failing, other = queue.channel("failing", NOWHERE), queue.channel("other", NOWHERE)
    incident, escalated = queue.incident(), queue.incident()
    queue.put(incident, failing)
    late = queue.put(escalated, other, "escalated", due_at=time.time() + HOUR)
    wait_for(lambda: any(row.attempts for row in queue.rows().values()))
    wall.jump_to(0.0)
    wait_for(lambda: all(row.due_at < time.time() + 2 * HOUR for row in queue.rows().values()))
    rows = queue.rows()
    assert HOUR / 2 < rows.pop(late).due_at - time.time() < HOUR
    assert [row.due_at < time.time() + HOUR / 2 for row in rows.values()] == [True]
