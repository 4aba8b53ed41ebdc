"""What is broken about one rule or one model is unknown there, and the rules of others go on."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, update

from tapeline.store.tables.ledger import ledgers
from tapeline.store.tables.tape import pages
from tapeline.store.tables.watch import rules
from tapeline.tape.events import kinds
from tapeline.watch.heavy.process import Heavy
from tapeline.watch.incidents import acting
from tapeline.watch.rules import stored
from tests.conftest import Person, Service
from tests.pushing import Model, pushing
from tests.waiting import wait_for
from tests.watch.conditions.asking import fund, mark, order, trade
from tests.watch.watching import add, crash, fires, incidents, resolves, run, shown, state

CRASHED = {"condition": "crashed", "within": "1s"}


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def broken(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


@pytest.fixture
def other(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    """Of another tenant."""
    with pushing(service, enter("bob")) as made:
        yield made


def _go_on(model: Model) -> None:
    """That its rules are evaluated from beginning to end."""
    rule = add(model, CRASHED)
    crash(model)
    fires(model, rule)
    run(model)
    resolves(model, rule)


def _said(model: Model, rule_id: str) -> str:
    return str(shown(model, rule_id)["states"][0]["said"])


@contextmanager
def _damaged(model: Model, channel: int) -> Iterator[None]:
    """The first page of a channel cannot be read meanwhile."""

    def write(connection: Connection, content: bytes) -> bytes:
        where = (pages.c.tape == model.tape(connection)) & (pages.c.channel == channel)
        row = connection.execute(pages.select().where(where).order_by(pages.c.first)).first()
        assert row is not None
        changed = update(pages).where(where, pages.c.first == row.first)
        connection.execute(changed.values(content=content))
        return bytes(row.content)

    before = model.service.store.write_now(write, b"no page")
    yield
    model.service.store.write_now(write, before)


def test_a_tape_whose_books_cannot_be_kept(
    broken: Model, other: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapeline.watch.incidents.evaluating.SHOWN_EVERY", 0.0)

    def set_pending(connection: Connection, content: bytes) -> None:
        tape = broken.tape(connection)
        connection.execute(update(ledgers).where(ledgers.c.tape == tape).values(pending=content))

    fund(broken, 1_000)
    trade(broken, time.time() - 60, order(1, 100))
    rule = add(broken, {"condition": "drawdown"}, limit=50)
    whole = add(broken, {"condition": "drawdown"}, limit=51, of_project=True)
    wait_for(lambda: state(broken, rule) == state(broken, whole) == "ok")
    broken.service.store.write_now(set_pending, b"no books")
    mark(broken, time.time(), 101)
    wait_for(lambda: state(broken, rule) == "unknown")
    assert "The books of Pusher could not be kept" in _said(broken, rule)
    _go_on(other)
    wait_for(lambda: "The books of Pusher could not be kept" in _said(broken, whole))
    broken.service.store.write_now(set_pending, b"{}")
    wait_for(lambda: state(broken, rule) == state(broken, whole) == "ok")
    assert "could not be kept" not in _said(broken, rule)


def test_a_fact_that_cannot_be_read_about_one_model(broken: Model, other: Model) -> None:
    run(broken)
    run(other)
    with _damaged(broken, kinds.LIFECYCLE.channel):
        made = [add(model, CRASHED) for model in (broken, other)]
        wait_for(lambda: state(broken, made[0]) == "unknown")
        wait_for(lambda: state(other, made[1]) == "ok")
        assert "could not be read" in _said(broken, made[0])
    wait_for(lambda: state(broken, made[0]) == "ok")


def test_a_rule_that_is_made_while_the_rules_are_read(
    broken: Model, other: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything, are_read, is_made = stored.everything, threading.Event(), threading.Event()

    def read_slowly(connection: Connection) -> list[stored.StoredRule]:
        found = everything(connection)
        are_read.set()
        is_made.wait(60)
        return found

    run(broken)
    run(other)
    with monkeypatch.context() as slow:
        slow.setattr(stored, "everything", read_slowly)
        early = add(broken, CRASHED)
        assert are_read.wait(60)
        late = add(other, CRASHED)
        is_made.set()
    wait_for(lambda: state(broken, early) == state(other, late) == "ok")


def test_a_rule_that_takes_the_place_of_another_after_the_clock_went_back(
    broken: Model, other: Model
) -> None:
    store, ahead = broken.service.store, add(other, CRASHED)
    tomorrow = update(rules).where(rules.c.id == ahead).values(changed_at=time.time() + 86_400)
    store.write_now(lambda connection: connection.execute(tomorrow) and None)
    gone = add(broken, CRASHED)
    before = store.read_now(stored.digest)
    assert broken.owner.delete(f"/api/rules/{gone}").status_code == 200
    add(broken, CRASHED)
    assert store.read_now(stored.digest) != before


def test_lines_that_cannot_be_read(broken: Model, other: Model) -> None:
    search = {"condition": "log-line", "matches": "no+", "within": "1h"}
    for model in (broken, other):
        model.push("/v1/live/log", {"line": "yes"})
    with _damaged(broken, kinds.LOG.channel):
        rule = add(broken, search)
        wait_for(lambda: state(broken, rule) == "unknown")
        found = add(other, search)
        other.push("/v1/live/log", {"line": "nooo"})
        fires(other, found)


def test_hours_that_nobody_can_tell(
    broken: Model, other: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Heavy.sessions

    def sessions(heavy: Heavy, calendar: str, now: float) -> Any:
        if threading.current_thread().name.startswith("hours of exchanges"):
            raise ValueError("filedescriptor out of range in select()")
        return ask(heavy, calendar, now)

    monkeypatch.setattr(Heavy, "sessions", sessions)
    monkeypatch.setattr("tapeline.watch.heavy.process.DEADLINE", 240.0)
    rule = add(broken, CRASHED, hours={"calendar": "XNYS"})
    wait_for(lambda: state(broken, rule) == "unknown")
    assert "Its hours are not known: ValueError" in _said(broken, rule)
    _go_on(other)


def test_an_incident_stays_open_while_its_figure_overflows(broken: Model, other: Model) -> None:
    rule = add(broken, "fee-share", limit=5)
    now = time.time()
    trade(broken, now - 9, order(1, fee=50))
    fires(broken, rule)
    trade(broken, now - 8, order(2, 1e200, size=1e200, fee=1e308))
    wait_for(lambda: state(broken, rule) == "unknown")
    assert "too large to compute" in _said(broken, rule)
    (incident,) = incidents(broken, state="open")
    assert incident["rule_id"] == rule
    _go_on(other)


def test_what_cannot_be_carried_out(
    broken: Model, other: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    carry_out = acting._carried_out

    def fail_for_one(connection: Any, appender: Any, change: Any, now: float, done: Any) -> Any:
        if change.subject.id == broken.id and change.decision.happened == "fired":
            raise LookupError("its tape is broken")
        return carry_out(connection, appender, change, now, done)

    monkeypatch.setattr(acting, "_carried_out", fail_for_one)
    run(broken)
    rule = add(broken, CRASHED)
    wait_for(lambda: state(broken, rule) == "ok")
    crash(broken)
    wait_for(lambda: state(broken, rule) == "unknown")
    assert "could not be carried out: LookupError" in _said(broken, rule)
    _go_on(other)
    monkeypatch.undo()
    fires(broken, rule)
