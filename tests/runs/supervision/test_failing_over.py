"""What becomes of runs whose node did not renew their leases."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from tapeline.background import Background
from tapeline.runs import host_identity, leases
from tapeline.runs.journals.journal import Chunk
from tapeline.runs.journals.records import Record
from tapeline.runs.run import Run
from tapeline.runs.supervision import collecting
from tapeline.runs.upkeep import database_time
from tapeline.runs.upkeep.database_time import DatabaseTime
from tapeline.runs.upkeep.failing_over import MOST_STARTS, FailingOver, Unsure
from tapeline.store.tables.core import models
from tapeline.tape.events import kinds
from tests.conftest import Cast, Service, on_both
from tests.pushing import pushing
from tests.runs.supervision.leased import Rows, bodies, fail_over, failing_over_with
from tests.waiting import wait_for

pytestmark = on_both


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    shared_service.services.background.leads = lambda: False  # tests take these turns themselves
    return shared_service


@pytest.fixture
def rows(service: Service, cast: Cast) -> Iterator[Rows]:
    with pushing(service, cast.owner) as model:
        yield Rows(service, cast, model.id)


def fence_of(rows: Rows) -> int:
    query = select(models.c.fence).where(models.c.id == rows.model)
    return rows.store.read_now(lambda connection: connection.scalar(query)) or 0


def test_a_live_model_goes_on_in_another_run_and_that_is_no_crash(rows: Rows) -> None:
    lost = rows.let_lapse(rows.add("lost", 60.0, kind="live", state="running"))
    fail_over(rows)
    ended, after = rows.all()
    assert ended.id == lost.id
    assert ended.state == "stopped"
    assert ended.ended_at == (lost.lease_until or 0.0) - leases.MARGIN
    assert ended.reason.startswith("Its node n1 did not renew its lease, which ran out at 2")
    assert ended.reason.endswith(f"Run {after.id} goes on.")
    assert (after.state, after.host, after.fence, after.lease_until) == ("pending", *[None] * 3)
    assert after.reason == (
        f"It goes on with run {lost.id}, whose node n1 did not renew its lease."
    )
    assert fence_of(rows) > (lost.fence or 0), "its key is refused"
    assert bodies(rows, kinds.LIFECYCLE)[-1]["message"] == "Stopped"
    assert bodies(rows, kinds.LOG)[-1]["line"] == ended.reason
    fail_over(rows)
    assert len(rows.all()) == 2


@pytest.mark.parametrize("reason", ["Stopped by ada.", "Stopped by ada"])
def test_of_a_model_that_was_to_stop_nothing_goes_on(rows: Rows, reason: str) -> None:
    lost = rows.let_lapse(rows.add("lost", 60.0, kind="live"))
    rows.change(lost, desired="stopped", reason=reason)
    fail_over(rows)
    (ended,) = rows.all()
    assert ended.state == "stopped"
    assert ended.reason.startswith("Stopped by ada. Its node n1 did not renew")


def test_a_schedule_goes_on_with_its_next_time(rows: Rows) -> None:
    rows.let_lapse(rows.add("lost", 60.0, kind="screener", schedule="0 0 1 1 *"))
    fail_over(rows)
    ended, after = rows.all()
    assert ended.state == "stopped"
    assert ended.reason.endswith("It runs again at its next time.")
    assert (after.kind, after.schedule) == ("screener", "0 0 1 1 *")
    assert (after.due_at or 0.0) > (ended.ended_at or 0.0)


def test_a_backtest_starts_again_and_is_given_up_when_it_takes_nodes_down(rows: Rows) -> None:
    given: dict[str, Any] = {
        "backtest_id": f"b-{rows.model}",
        "arguments": {"days": 3},
        "description": "try",
    }
    lost = rows.let_lapse(rows.add("lost", 60.0, **given))
    fail_over(rows)
    ended, after = rows.all()
    assert ended.reason.endswith(f"Run {after.id} starts it again.")
    assert (after.backtest_id, after.arguments, after.description) == tuple(given.values())
    assert not bodies(rows, kinds.BACKTEST_STATUS), "it goes on"
    for number in range(2, MOST_STARTS + 1):
        assert len(rows.all()) == number
        rows.change(rows.all()[-1], host="n2", fence=1, lease_until=lost.lease_until, launches=1)
        fail_over(rows)
    assert len(rows.all()) == MOST_STARTS
    (status,) = bodies(rows, kinds.BACKTEST_STATUS)
    assert not status["successful"]
    assert "It is given up" in rows.all()[-1].reason


def test_what_has_no_lease_or_a_valid_one_is_left_alone(rows: Rows) -> None:
    kept = [rows.add("free", None), rows.add("valid", 60.0)]
    fail_over(rows)
    assert rows.all() == kept


def test_a_lease_that_changed_since_it_was_seen_is_left_alone(rows: Rows) -> None:
    lost = rows.let_lapse(rows.add("lost", 60.0, kind="live"))
    loop = failing_over_with(rows, seconds=-leases.MARGIN)
    assert lost.id in asyncio.run(_found(loop))
    rows.change(lost, fence=(lost.fence or 0) + 1)
    assert rows.store.write_now(loop._take, lost.id) == collecting.NOTHING
    assert rows.get(lost).ended_at is None
    rows.change(lost, ended_at=1.0)


def test_a_time_that_is_never_sure_is_told(rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_time, "LONGEST_QUESTION", -1.0)  # every answer takes too long
    lost = rows.let_lapse(rows.add("lost", 60.0, kind="live"))
    loop = failing_over_with(rows, seconds=0.2 - leases.MARGIN)
    asyncio.run(loop.taking_over.turn())
    time.sleep(0.5)
    with pytest.raises(Unsure):
        asyncio.run(loop.taking_over.turn())
    assert rows.get(lost).ended_at is None
    rows.change(lost, ended_at=1.0)
    asyncio.run(loop.taking_over.turn())


def test_the_clock_is_listened_to_while_runs_are_taken(rows: Rows) -> None:
    background = Background()
    loop = failing_over_with(rows, seconds=-leases.MARGIN, background=background)
    assert {one.name for one in background.states()} == {"failover", "clock of leases"}
    # An answer that took too long does not count.
    wait_for(lambda: asyncio.run(loop.listen()) or len(loop._time._answers) == 1)


def test_a_copy_that_was_not_released_takes_nothing(rows: Rows, tmp_path: Path) -> None:
    lost = rows.let_lapse(rows.add("lost", 60.0, kind="live"))
    (tmp_path / host_identity.FILE).write_text("n1 1")  # written into another file than this
    loop = failing_over_with(rows, seconds=-leases.MARGIN, data=tmp_path)
    for _ in range(3):
        asyncio.run(loop.taking_over.turn())
    assert rows.get(lost).ended_at is None
    rows.change(lost, ended_at=1.0)


async def _found(loop: FailingOver) -> list[str]:
    await loop._find()
    return list(loop._lapsed)


def report_the_end_of_its_lease(rows: Rows, run: Run) -> None:
    """Its shim wrote it down, and its node was reached."""
    finished = {
        "event": "finished", "outcome": "lease", "cause": "lease", "exit_code": None,
        "signal": 9, "restarts": 0, "reason": "",
    }  # fmt: skip
    chunk = Chunk(records=[Record("state", 5.0, "", finished)], offset=100, lost=0)
    appender = rows.service.services.inbox.appender
    rows.store.write_now(collecting.take, appender, run.id, run.journal, chunk, None)


def test_a_node_that_reports_first_starts_the_same_run_again(rows: Rows) -> None:
    """After the database was away: nothing is left to take over."""
    lost = rows.let_lapse(rows.add("lost", 60.0, kind="live"))
    report_the_end_of_its_lease(rows, lost)
    fail_over(rows)
    (same,) = rows.all()
    assert (same.id, same.state, same.fence, same.host) == (lost.id, "pending", None, "n1")


def test_a_scheduled_run_goes_on_with_its_next_time_if_its_node_reports_first(rows: Rows) -> None:
    past = {"schedule": "0 0 1 1 *", "due_at": 1.0}
    lost = rows.let_lapse(rows.add("lost", 60.0, kind="screener", **past))
    report_the_end_of_its_lease(rows, lost)
    fail_over(rows)
    ended, after = rows.all()
    assert (ended.state, ended.ended_at) == ("stopped", 5.0)
    assert (after.state, after.fence, after.schedule) == ("pending", None, "0 0 1 1 *")
    assert (after.due_at or 0.0) > (lost.lease_until or 0.0)


def test_its_late_report_changes_nothing_after_that(rows: Rows) -> None:
    lost: Run = rows.let_lapse(rows.add("lost", 60.0, kind="live"))
    fail_over(rows)
    before = rows.all()
    chunk = Chunk(records=[Record("stdout", 5.0, "late")], offset=100, lost=0)
    appender = rows.service.services.inbox.appender
    taken = rows.store.write_now(collecting.take, appender, lost.id, lost.journal, chunk, None)
    assert taken == collecting.NOTHING
    assert rows.all() == before


def heard(clock: DatabaseTime, *answers: tuple[float, float]) -> list[bool]:
    """By our clock and by the database's; an answer takes no time."""
    found = []
    for ours, theirs in answers:
        clock.heard(ours, theirs, ours + 0.01)
        found.append(clock.is_steady)
    return found


def test_the_databases_clock_counts_after_it_went_evenly_for_a_lease() -> None:
    clock = DatabaseTime(7.0)
    steady = heard(clock, *((float(at), 1000.0 + at) for at in range(10)))
    assert steady == [False] * 7 + [True] * 3
    assert heard(clock, (10.0, 1010.05)) == [True], "a clock that is slewed"
    assert heard(clock, (11.0, 4611.0)) == [False], "it was set forward"
    after = heard(clock, *((float(at), 4600.0 + at) for at in range(12, 20)))
    assert after == [False] * 6 + [True] * 2
    assert heard(clock, (30.0, 4630.0)) == [False], "it was away"
    assert heard(clock, *((float(at), 4600.0 + at) for at in range(31, 38)))[-1]
    assert heard(clock, (38.0, 1000.0)) == [False], "it was set back"


def test_an_answer_that_took_long_says_nothing() -> None:
    clock = DatabaseTime(2.0)
    heard(clock, *((float(at), float(at)) for at in range(4)))
    assert clock.is_steady
    assert not clock.heard(4.0, 3600.0, 5.5), "its clock may have been set"
    assert clock.is_steady, "not for three seconds yet"
    clock.heard(5.6, 3600.0, 7.5)
    assert not clock.is_steady
