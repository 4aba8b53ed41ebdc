"""What a journal means for the tape and for the run's row, without a process or a database."""

from typing import Any

import msgspec
import pytest

from tapeline.runs.journals.meaning import Ending, RunUpdate
from tapeline.runs.journals.records import Record
from tapeline.runs.run import Run
from tapeline.tape.events import kinds
from tests.runs.supervision.histories import a_run


def messages_of(
    update: RunUpdate, *states: dict[str, Any], ending: Ending | None = None
) -> list[str]:
    """The lifecycle messages that these states make."""
    for number, state in enumerate(states):
        update.take(Record("state", 10.0 + number, "", state), ending)
    bodies = [one.fields for one in update.events if one.kind is kinds.LIFECYCLE]
    return [body["message"] for body in bodies]


def ended(code: int | None, cause: str = "exit", signal: int | None = None) -> dict[str, Any]:
    return {"event": "ended", "attempt": 1, "exit_code": code, "signal": signal, "cause": cause}


def finished(outcome: str, **more: Any) -> dict[str, Any]:
    return {"event": "finished", "outcome": outcome, "restarts": 0, "exit_code": 0, **more}


STARTED = {"event": "started", "attempt": 1, "pid": 7}
RESTARTING = {"event": "restarting", "attempt": 2, "after": 1.0, "restarts": 1}


def test_a_run_that_ends_well_has_exited() -> None:
    update = RunUpdate(a_run("r", fence=1), 1, 99.0)
    assert messages_of(update, STARTED, ended(0), finished("exited")) == ["Running", "Exited"]
    assert update.changes["state"] == "exited"
    assert update.changes["started_at"] == 10.0
    assert update.changes["ended_at"] == 12.0
    assert update.has_ended
    first = update.events[0].fields
    assert (first["running"], first["start_at"], first["end_at"]) == (True, 10.0, None)
    assert {one.run_id for one in update.events} == {"r"}


def news_of(update: RunUpdate) -> list[str]:
    return [one.event for one in update.news]


def test_the_operators_log_has_one_line_for_each_change() -> None:
    update = RunUpdate(a_run("r", fence=1), 1, 99.0)
    update.take(Record("stdout", 5.0, "fine"))
    update.take(Record("stderr", 5.0, "no price for BTC" + "!" * 500))
    given_up = finished("crashed", cause="exit", exit_code=1, reason="Given up.")
    lost, back = {"event": "network_lost"}, {"event": "network_back"}
    messages_of(update, STARTED, lost, back, ended(1), RESTARTING, STARTED, ended(1), given_up)
    crash = ["model_started", "model_network_lost", "model_network_back", "model_crashed"]
    again = ["model_restarting", "model_started", "model_crashed", "model_given_up"]
    assert news_of(update) == [*crash, *again]
    crashed = update.news[3]
    assert crashed.is_bad
    assert crashed.facts["last_line"].startswith("no price for BTC!")
    assert len(crashed.facts["last_line"]) == 200
    assert {"model", "run", "kind", "reason"} <= crashed.facts.keys()
    stored = RunUpdate(a_run("r", fence=1), 1, 99.0, lambda: "no price for ETH" + "!" * 500)
    messages_of(stored, ended(1))
    assert stored.news[0].facts["last_line"] == ("no price for ETH" + "!" * 500)[:200]
    killed = RunUpdate(a_run("r", fence=1, state="running", started_at=4.0), 1, 99.0)
    killed.relaunching(5.0, 5.5)
    killed.gave_up("stopped", "Stopped by ada.", 6.0)
    assert news_of(killed) == ["model_killed", "model_stopped"]


def test_a_restart_keeps_the_first_start() -> None:
    update = RunUpdate(a_run("r", fence=1, started_at=3.0), 1, 99.0)
    messages = messages_of(update, ended(1), RESTARTING, STARTED)
    assert messages == ["Crashed", "Restarting", "Running"]
    assert update.events[-1].fields["start_at"] == 3.0
    assert update.changes["restarts"] == 1
    assert not update.has_ended


def test_memory_is_told_apart() -> None:
    update = RunUpdate(a_run("r", fence=1), 1, 99.0)
    dead = ended(None, "out_of_memory", 9)
    over = finished("crashed", exit_code=None, signal=9, cause="out_of_memory")
    assert messages_of(update, STARTED, dead, over) == ["Running", "Out of Memory"]
    assert "memory" in update.changes["reason"]


def test_what_the_shim_says_about_memory_is_on_the_log_and_is_the_reason() -> None:
    update = RunUpdate(a_run("r", fence=1), 1, 99.0)
    why = {"cause": "out_of_memory", "reason": "Out of memory: …"}
    over = finished("crashed", signal=9, **why)
    messages_of(update, STARTED, ended(None, "out_of_memory", 9) | why, over)
    lines = [one.fields["line"] for one in update.events if one.kind is kinds.LOG]
    assert (lines, update.changes["reason"]) == (["Out of memory: …"], "Out of memory: …")


def test_what_could_not_even_start_has_crashed_and_says_why() -> None:
    update = RunUpdate(a_run("r", fence=1), 1, 99.0)
    assert messages_of(update, finished("not_started", reason="No such program.")) == ["Crashed"]
    assert update.changes["reason"] == "No such program."
    lines = [one.fields["line"] for one in update.events if one.kind is kinds.LOG]
    assert lines == ["No such program."]


def test_a_run_that_the_server_stopped_with_itself_is_still_wanted() -> None:
    update = RunUpdate(a_run("r", fence=1), 1, 99.0)
    assert messages_of(update, STARTED, ended(None, "stopped", 2), finished("stopped")) == [
        "Running",
        "Stopped",
    ]
    assert (update.changes["state"], update.changes["fence"]) == ("pending", None)
    assert not update.has_ended


def test_a_run_that_somebody_stopped_has_ended() -> None:
    update = RunUpdate(a_run("r", fence=1, desired="stopped", reason="Stopped by ada."), 1, 99.0)
    messages_of(update, STARTED, finished("stopped"))
    assert (update.changes["state"], update.changes["reason"]) == ("stopped", "Stopped by ada.")


def test_lines_go_where_they_belong() -> None:
    live = RunUpdate(a_run("r", fence=1), 1, 99.0)
    live.take(Record("stderr", 5.0, "oops"))
    assert live.events[0].kind is kinds.LOG
    assert msgspec.json.decode(live.events[0].body) == {"line": "oops", "type": "stderr"}
    tested = RunUpdate(a_run("t", kind="backtest", backtest_id="b", fence=1), 1, 99.0)
    tested.take(Record("stdout", 5.0, "step"))
    assert tested.events[0].kind is kinds.BACKTEST_LOG
    assert tested.events[0].backtest_id == "b"


def test_a_backtests_status_comes_after_its_result_and_its_last_line() -> None:
    update = RunUpdate(
        a_run("t", kind="backtest", backtest_id="b", description="why", fence=1), 1, 99.0
    )
    messages_of(update, STARTED)
    update.take(Record("stdout", 11.0, "last words"))
    header = {"backtest_id": "made up by the model", "symbols": []}
    messages_of(update, finished("exited"), ending=Ending(True, "", "", header, "upload"))
    said = [one for one in update.events if one.fields.get("type") != "system"]
    assert [one.kind for one in said] == [
        kinds.BACKTEST_LOG,
        kinds.BACKTEST_RESULT,
        kinds.BACKTEST_STATUS,
    ]
    result, status = said[1], said[2].fields
    assert (result.fields["backtest_id"], result.upload) == ("b", "upload")
    assert status["successful"] is True
    assert (status["status_summary"], status["description"]) == ("Success", "why")


def test_a_backtest_that_was_killed_did_not_succeed_whatever_it_wrote_before() -> None:
    update = RunUpdate(a_run("t", kind="backtest", backtest_id="b", fence=1), 1, 99.0)
    over = finished("crashed", exit_code=None, signal=9, cause="time_limit")
    messages_of(update, STARTED, over, ending=Ending(True))
    status = update.events[-1].fields
    assert status["successful"] is False
    assert "longer than a backtest may" in status["status_details"]


def test_an_installation_that_failed_ends_the_run_with_its_reason() -> None:
    update = RunUpdate(a_run("r"), 1, 99.0)
    update.failed("There is no six.", 5.0)
    assert [one.fields["message"] for one in update.events] == ["Failed to Install"]
    assert (update.changes["state"], update.changes["reason"]) == ("failed", "There is no six.")
    tested = RunUpdate(a_run("t", kind="backtest", backtest_id="b"), 1, 99.0)
    tested.failed("There is no six.", 5.0)
    status = tested.events[-1].fields
    assert status["status_summary"] == "There is no six."
    assert status["time_elapsed"] == 0.0


def test_a_wait_for_room_on_the_machine_is_told_and_is_no_crash() -> None:
    waiting = {"event": "waiting", "attempt": 1, "reason": "There is no room."}
    update = RunUpdate(a_run("r", fence=1), 1, 99.0)
    assert messages_of(update, waiting, STARTED) == ["Running"]
    assert news_of(update) == ["model_waits", "model_started"]
    lines = [one.fields["line"] for one in update.events if one.kind is kinds.LOG]
    assert lines == ["It cannot be started now and will be retried: There is no room."]
    assert messages_of(update, waiting)[-1] == "Restarting"
    assert update.changes["state"] == "restarting"
    assert not update.has_ended


def test_the_end_of_a_lease_is_no_crash_and_the_run_starts_again() -> None:
    update = RunUpdate(a_run("r", fence=1), 1, 99.0)
    over = finished("lease", cause="lease", reason="Its node could not renew its lease.")
    assert messages_of(update, STARTED, ended(None, "lease", 9), over) == ["Running", "Stopped"]
    assert update.changes["state"] == "pending"
    assert update.changes["fence"] is None
    assert not update.has_ended
    lines = [one.fields["line"] for one in update.events if one.kind is kinds.LOG]
    assert len(lines) == 1
    assert lines[0].startswith("Ended because its node could not renew its lease")
    assert news_of(update) == ["model_started", "model_stopped"]


def test_a_run_that_was_to_stop_has_stopped_when_its_lease_ended_it() -> None:
    update = RunUpdate(a_run("r", fence=1, desired="stopped", reason="Stopped by ada."), 1, 99.0)
    messages_of(update, STARTED, ended(None, "lease", 9), finished("lease", cause="lease"))
    assert (update.changes["state"], update.changes["reason"]) == ("stopped", "Stopped by ada.")
    assert update.has_ended


def test_a_scheduled_run_that_its_lease_ended_is_not_made_up_for() -> None:
    """It may have traded already."""
    screener = a_run("s", kind="screener", schedule="* * * * *", due_at=1.0, fence=1)
    update = RunUpdate(screener, 1, 99.0)
    over = finished("lease", cause="lease")
    assert messages_of(update, STARTED, ended(None, "lease", 9), over) == ["Running", "Stopped"]
    assert update.has_ended
    assert (update.changes["state"], update.changes["ended_at"]) == ("stopped", 12.0)
    assert "fence" not in update.changes
    assert update.changes["reason"].endswith("It runs again at its next time.")


@pytest.mark.parametrize(
    "run",
    [
        a_run("never", fence=1, state="installing"),
        a_run("not again", fence=2, state="pending", started_at=3.0, restarts=1),
        a_run("t", kind="backtest", backtest_id="b", fence=1, state="installing"),
    ],
)
def test_a_launch_that_never_started_is_repeated_and_is_no_crash(run: Run) -> None:
    update = RunUpdate(run, 1, 99.0)
    update.relaunching(5.0, 5.5)
    assert [one.fields["line"] for one in update.events] == [
        "Its host did not say that it started. It is started again."
    ]
    assert update.changes == {"state": "pending", "fence": None}
    assert news_of(update) == ["model_not_started"]
