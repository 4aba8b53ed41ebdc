"""Translates a run's journal into events for its model's tape, and changes to its row.

Pure: the same journal always gives the same events and changes, however often it is read.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from tapeline.runs.journals import records
from tapeline.runs.journals.records import Record
from tapeline.runs.run import Run
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event

CAUSES = {
    "out_of_memory": "it used more memory than its plan has",
    "time_limit": "it took longer than a backtest may",
    "lease": "its node could not renew its lease",
    "flood": "it kept starting processes, far beyond its limit (`run_processes`)",
    "disk_full": "its folders took more disk space than those of a run may (`run_disk`), or are"
    " nested too deep",
}

LEASE_RAN_OUT = (
    "Ended because its node could not renew its lease: it may be cut off from the servers, or they"
    " from the database."
)
NEXT_TIME = "It runs again at its next time."
KILLED = "It was killed from outside, together with its shim."
UNANSWERED = "Its host did not say that it started. It is started again."
UNREAD = "nobody was there to read them"
STAGES = ("Installing Dependencies", "Running")
"""Lifecycle messages that a backtest shows in its log, before it has a status."""

NETWORK = {
    "network_lost": "Its network was lost and is being restored.",
    "network_back": "Its network is back.",
}
LONGEST_QUOTE = 200
"""Characters of a model's last line in the server's log."""

_encode = msgspec.json.Encoder().encode


class Ending(msgspec.Struct, frozen=True):
    """The files that a backtest wrote: its status and its result."""

    successful: bool | None = None
    """As the bootstrap reported; None when it was killed before."""
    summary: str = ""
    details: str = ""
    header: dict[str, Any] | None = None
    upload: str | None = None
    """The result, staged but not visible yet."""


class BacktestOutput(msgspec.Struct, frozen=True):
    ending: Ending
    result: Path | None = None
    """The dictionary that a backtest returned, as JSON. It is untrusted."""


class News(msgspec.Struct, frozen=True):
    """A change of a run for the server's log."""

    event: str
    facts: dict[str, Any]
    is_bad: bool = False


class RunUpdate:
    def __init__(self, run: Run, tape: int, now: float, printed: Callable[[], str] = str) -> None:
        """`printed` finds the last line on the tape, for a model that ends after the line was
        stored."""
        self.run = run
        self.events: list[Event] = []
        self.changes: dict[str, Any] = {}
        self.news: list[News] = []
        self.has_ended = False
        self._tape = tape
        self._now = now
        self._said: str | None = None
        self._last_line = ""
        self._printed = printed

    def take(self, record: Record, ending: Ending | None = None) -> None:
        if record.kind != "state":
            self.line(record.text, record.kind, record.time)
            self._last_line = record.text
            return
        state = record.state or {}
        match state.get("event"):
            case "started":
                self._started(record.time)
            case "ended":
                self._ended(state, record.time)
            case "restarting":
                self.changes |= {"state": "restarting", "restarts": state["restarts"]}
                self.line(f"Restarting in {state['after']:g} s.", "system", record.time)
                self._tell("model_restarting", after=state["after"], restarts=state["restarts"])
                self.lifecycle("Restarting", record.time)
            case "waiting":
                self._waiting(state["reason"], record.time)
            case "finished":
                self._finished(state, record.time, ending)
            case "network_lost" | "network_back" as event:
                self.line(NETWORK[event], "system", record.time)
                self._tell(f"model_{event}", is_bad=event == "network_lost")
            case _:
                self.take_gap(state, record.time)

    def take_gap(self, state: dict[str, Any], at: float) -> None:
        """Output that is missing here."""
        match state.get("event"):
            case records.UNREADABLE:
                self.unreadable(state["bytes"], state["why"], at)
            case "cut":
                self.lost(state["bytes"], at, state.get("why") or UNREAD)
            case "over":
                self.over(state["bytes"], at)

    def line(self, text: str, type: str, at: float) -> None:
        of_backtest = self.run.backtest_id is not None
        fields = {"line": text, "type": type}
        if of_backtest:
            fields["backtest_id"] = self.run.backtest_id or ""
        self._add(kinds.BACKTEST_LOG if of_backtest else kinds.LOG, fields, at)

    def lifecycle(self, message: str, at: float, **more: Any) -> None:
        """The model's lifecycle is that of its deployed run. A backtest has a status instead, and
        until then its log shows how far it is, because viewers see only the tape."""
        if self.run.is_deployed:
            self._said = message
            self._add(kinds.LIFECYCLE, {"message": message, **more}, at)
        elif message in STAGES:
            self.line(f"{message}.", "system", at)

    def lost(self, size: int, at: float, why: str) -> None:
        self.line(f"[{size:,} bytes of output were dropped here: {why}]", "system", at)

    def over(self, size: int, at: float) -> None:
        self.line(f"[{size:,} bytes of output were dropped here: more than the model's quota]",
                  "system", at)  # fmt: skip

    def unreadable(self, size: int, why: str, at: float) -> None:
        because = f": {why}" if why else ""
        self.line(f"[{size:,} bytes of this run's journal could not be read and were skipped"
                  f"{because}]", "system", at)  # fmt: skip

    def silenced(self, why: str, at: float) -> None:
        self.line(f"[This run's journal cannot be read ({why}): the model's output from here on is"
                  " not shown until it is started again]", "system", at)  # fmt: skip

    def relaunching(self, seen: float, at: float) -> None:
        """It disappeared without a record, after it was last seen; it starts again under a new
        fence."""
        if self.run.is_unstarted:
            self._not_started(at)
            return
        self.line(KILLED, "system", seen)
        self.lifecycle("Crashed", seen, running=False, end_at=seen)
        self.lifecycle("Restarting", at)
        self._tell("model_killed", is_bad=True)
        self.changes |= {"state": "restarting", "fence": None, "restarts": self.run.restarts + 1}

    def _not_started(self, at: float) -> None:
        """A server or the way to a node died while it was started. That is no crash of the
        model."""
        self.line(UNANSWERED, "system", at)
        self._tell("model_not_started", is_bad=True)
        self.changes |= {"state": "pending", "fence": None}

    def taken_over(self, at: float) -> None:
        """This data directory is a copy; the run was the original's, and starts again here."""
        self.line("This server is a restored copy and was released: the run goes on here.",
                  "system", at)  # fmt: skip
        self._tell("model_taken_over")
        self.changes |= {"state": "pending", "fence": None}

    def failed_over(self, reason: str, at: float, *, goes_on: bool) -> None:
        """Its lease ran out, and its node said nothing more. That is no crash of the model. A
        backtest that goes on in another run has no status yet."""
        self.line(reason, "system", at)
        self.lifecycle("Stopped", at, running=False, end_at=at)
        self._tell("model_failed_over", is_bad=True, reason=reason)
        self._end("stopped", reason, at, None, is_last=not goes_on)

    def failed(self, reason: str, at: float) -> None:
        """Its dependencies could not be installed. The log has the reason already."""
        self.lifecycle("Failed to Install", at)
        self._tell("model_not_installed", is_bad=True, reason=reason)
        self._end("failed", reason, at, None)

    def gave_up(self, state: str, reason: str, at: float) -> None:
        """It ended, but its journal does not say so."""
        is_bad = state != "stopped"
        self.lifecycle("Crashed" if is_bad else "Stopped", at, running=False, end_at=at)
        self._tell("model_given_up" if is_bad else "model_stopped", is_bad=is_bad, reason=reason)
        self._end(state, reason, at, None)

    def _started(self, at: float) -> None:
        first = self.run.started_at or self.changes.get("started_at") or at
        self.changes |= {"state": "running", "started_at": first}
        self.lifecycle("Running", at, running=True, start_at=first, end_at=None)
        self._tell("model_started", restarts=self.changes.get("restarts", self.run.restarts))

    def _waiting(self, reason: str, at: float) -> None:
        """The machine has no room for it. That is no crash, and ends by itself."""
        self.line(f"It cannot be started now and will be retried: {reason}", "system", at)
        self._tell("model_waits", is_bad=True, reason=reason)
        if self.changes.get("state", self.run.state) == "running":
            self.changes["state"] = "restarting"
            self.lifecycle("Restarting", at)

    def _ended(self, state: dict[str, Any], at: float) -> None:
        self.changes["exit_code"] = state["exit_code"]
        if state["cause"] in ("stopped", "lease") or state["exit_code"] == 0:
            return
        reason = state.get("reason") or f"{how(state)}."
        self.line(reason, "system", at)
        last_line = (self._last_line or self._printed())[:LONGEST_QUOTE]
        self._tell("model_crashed", is_bad=True, reason=reason, last_line=last_line)
        message = "Out of Memory" if state["cause"] == "out_of_memory" else "Crashed"
        self.lifecycle(message, at, running=False, end_at=at)

    def _finished(self, state: dict[str, Any], at: float, ending: Ending | None) -> None:
        outcome = state["outcome"]
        if outcome == "lease":
            self.line(LEASE_RAN_OUT, "system", at)
            outcome = "stopped"
        if outcome == "stopped" and self.run.desired == "running":
            self._interrupted(at, ended_by_lease=state["outcome"] == "lease")
        elif outcome == "exited":
            self.lifecycle("Exited", at, running=False, end_at=at)
            self._tell("model_exited")
            self._end("exited", "", at, ending)
        elif outcome == "stopped":
            self.lifecycle("Stopped", at, running=False, end_at=at)
            self._tell("model_stopped", reason=self.run.reason or "Stopped.")
            self._end("stopped", self.run.reason or "Stopped.", at, ending)
        else:
            reason = state.get("reason") or f"{how(state)}."
            if outcome == "not_started" or self._said is None:
                self.line(reason, "system", at)
                self.lifecycle("Crashed", at, running=False, end_at=at)
            self._tell("model_given_up", is_bad=True, reason=reason)
            self._end("crashed", reason, at, ending)

    def _interrupted(self, at: float, *, ended_by_lease: bool) -> None:
        """The server stopped it, because it stops itself or is on hold; or its lease ran out. It
        is still desired, and its shim has seen the last of its processes end: nobody else has
        taken its place until now, and nobody will, because this record changes its row."""
        self.lifecycle("Stopped", at, running=False, end_at=at)
        reason = LEASE_RAN_OUT if ended_by_lease else "The server stops or is on hold."
        self._tell("model_stopped", is_bad=ended_by_lease, reason=reason)
        if ended_by_lease and self.run.kind == "screener":
            # It may have traded already: its schedule goes on with the next time.
            self._end("stopped", f"{LEASE_RAN_OUT} {NEXT_TIME}", at, None)
        else:
            self.changes |= {"state": "pending", "fence": None}

    def _end(
        self, state: str, reason: str, at: float, ending: Ending | None, *, is_last: bool = True
    ) -> None:
        self.has_ended = True
        self.changes |= {"state": state, "reason": reason, "ended_at": at}
        if self.run.backtest_id is not None and is_last:
            self._end_backtest(state, reason, at, ending or Ending())

    def _end_backtest(self, state: str, reason: str, at: float, ending: Ending) -> None:
        """The status comes after the result and after the last line."""
        backtest_id = self.run.backtest_id
        if ending.header is not None:
            header = {**ending.header, "backtest_id": backtest_id}
            self._add(kinds.BACKTEST_RESULT, header, at, upload=ending.upload)
        successful = state == "exited" and ending.successful is not False
        started = self.changes.get("started_at") or self.run.started_at
        status = {
            "backtest_id": backtest_id,
            "successful": successful,
            "status_summary": ending.summary or ("Success" if successful else _summary(reason)),
            "status_details": ending.details or reason,
            "time_elapsed": 0.0 if started is None else max(0.0, at - started),
            "description": self.run.description or None,
        }
        self._add(kinds.BACKTEST_STATUS, status, at)

    def _tell(self, event: str, *, is_bad: bool = False, **facts: Any) -> None:
        known = {"model": self.run.model_id, "run": self.run.id, "kind": self.run.kind}
        self.news.append(News(event, known | facts, is_bad))

    def _add(
        self, kind: kinds.Kind, fields: dict[str, Any], at: float, upload: str | None = None
    ) -> None:
        in_backtest = kind in kinds.OF_BACKTESTS
        self.events.append(
            Event(
                tape=self._tape,
                kind=kind,
                fields=fields,
                body=_encode(fields),
                time=at,
                received_at=self._now,
                run_id=self.run.id,
                backtest_id=self.run.backtest_id if in_backtest else None,
                upload=upload,
            )
        )


def how(state: dict[str, Any]) -> str:
    """How a process ended, as a clause."""
    if state.get("cause") == "stopped":
        return "Stopped"
    known = CAUSES.get(state.get("cause", ""))
    if known:
        return f"Stopped: {known}"
    if state.get("signal") is not None:
        return f"Killed by signal {state['signal']}"
    return f"Exited with code {state.get('exit_code')}"


def _summary(reason: str) -> str:
    return reason.partition("\n")[0][:200] or "Failed"
