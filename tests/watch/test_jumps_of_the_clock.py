"""Rules and messages while somebody sets the clock of the machine right."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import select

from tapeline.store.tables.watch import rule_states
from tapeline.watch.telling import planning
from tests.conftest import Person, Service
from tests.pushing import Model, pushing
from tests.waiting import wait_for
from tests.watch.stored_runs import store_run
from tests.watch.telling.queued import Queue
from tests.watch.watching import add, crash, fires, incidents, run, shown, state

pytestmark = pytest.mark.databases("sqlite")

HOUR = 3600.0
NOWHERE = "http://localhost:1/"
EVALUATED = ("ok", "firing")  # a busy machine may first look when it is silent already


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
    wait_for(lambda: state(model, rule) in EVALUATED)
    wall.jump_to(0.0)
    log(model)
    assert fires(model, rule)["value"] < HOUR


def test_a_model_that_was_silent_before_the_clock_was_set_back_is_noticed(
    model: Model, wall: Wall
) -> None:
    wall.jump_to(2 * HOUR)
    log(model)
    rule = add(model, "no-event", lasting=4)
    wait_for(lambda: state(model, rule) in EVALUATED)
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


def test_a_run_that_ended_before_the_clock_was_set_ahead_is_not_down_for_longer(
    model: Model, wall: Wall
) -> None:
    now = time.time()
    store_run(
        model, state="crashed", desired="running", at=now - 9, started_at=now - 9,
        ended_at=now - 1,
    )  # fmt: skip
    rule = add(model, "not-running", lasting="1h")
    wait_for(lambda: state(model, rule) == "pending")
    wall.jump_to(2 * HOUR)
    at_once = add(model, "not-running", name="down at once")
    fires(model, at_once)
    assert [one["rule_id"] for one in incidents(model)] == [at_once]


def test_a_jump_in_the_middle_of_a_turn_fires_nothing(
    service: Service, model: Model, wall: Wall, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = service.services.rules
    gather, jumps = rules._gather, [-2 * HOUR, 0.0, 2 * HOUR]

    async def gather_and_jump(*about: Any) -> None:
        if jumps:
            wall.ahead = jumps.pop()
            service.store.clock.look()
        await gather(*about)

    run(model)
    log(model)
    monkeypatch.setattr(rules, "_gather", gather_and_jump)
    rule = add(model, "no-event", lasting="1h")
    wait_for(lambda: not jumps and state(model, rule) == "ok")
    assert incidents(model) == []


def test_since_when_a_rule_holds_stays_right_however_often_the_clock_is_set_and_it_is_written(
    service: Service, model: Model, wall: Wall
) -> None:
    rule = add(model, "position-size", lasting="1h", limit=1, unit="count")

    def buy(held: float) -> float:
        """The same clock twice: since when it holds, as it is kept after this figure."""
        order = {"id": f"{held}", "symbol": "A-USD", "exchange": "x", "side": "buy", "size": 2.0}
        model.push("/v1/live/spot-market", order | {"executionPrice": 1.0})
        wait_for(lambda: [one["value"] for one in shown(model, rule)["states"]] == [held])
        query = select(rule_states.c.held_since).where(rule_states.c.rule_id == rule)
        return float(service.store.read_now(lambda connection: connection.scalars(query).one()))

    since = buy(2.0)
    for held, ahead in ((4.0, 2 * HOUR), (6.0, 0.0), (8.0, -2 * HOUR), (10.0, 3 * HOUR)):
        wall.jump_to(ahead)
        assert abs(buy(held) - since) < 0.001
    assert incidents(model) == []


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


def test_an_escalation_is_due_after_the_same_time_however_often_that_is_worked_out(
    service: Service, wall: Wall
) -> None:
    queue = Queue(service.store, service.services.cipher)
    late = queue.put(
        queue.incident(), queue.channel("other", NOWHERE), "escalated", due_at=time.time() + HOUR
    )
    for ahead in (2 * HOUR, 0.0, -2 * HOUR, 3 * HOUR):
        wall.jump_to(ahead)
        for _ in range(2):  # as every start does
            service.store.write_now(planning.work_out)
            assert HOUR / 2 < queue.rows()[late].due_at - time.time() < HOUR + 1
