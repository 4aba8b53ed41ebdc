"""Follows a run until it is up, or has failed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tapeline.cli.server.changes import Change, Changes
from tapeline.cli.server.session import Session
from tapeline.cli.terminal.failures import RunFailed
from tapeline.cli.terminal.lines import show_line
from tapeline.cli.terminal.screen import moment, styled

FIRST_LINES = 3.0  # seconds after its start in which a model shows whether it works
LOOKED_EVERY = 2.0  # seconds of silence before the run itself is checked
ENDED = {"stopped", "exited", "crashed", "failed"}
MESSAGES = {
    "Deploying": "Queued.",
    "Installing Dependencies": "Installing dependencies.",
    "Running": "Running.",
}


def run_of(session: Session, model_id: str, run_id: str) -> dict[str, Any]:
    found: dict[str, Any] = session.wire.get(f"/api/models/{model_id}/runs/{run_id}")
    return found


def follow_live(
    session: Session, deployed: dict[str, Any], after: int, *, forever: bool
) -> dict[str, Any]:
    """Show how a run starts and its first lines; return its state after that."""
    model_id, run_id = deployed["modelId"], deployed["runId"]
    run = run_of(session, model_id, run_id)
    if run["kind"] == "screener" and not forever:
        session.screen.note(f"Runs on schedule {run['schedule']}, next {when(run)}.")
        return run
    changes = Changes(session, model_id, after)
    until: float | None = None
    told = None
    while True:
        with waiting(session, "running" if until else "starting"):
            change = changes.next(_patience(until))
        if change is None:
            run = run_of(session, model_id, run_id)
            told = tell_trouble(session, run, told)
            if run["state"] == "running" and until is None and not forever:
                until = time.monotonic() + FIRST_LINES
        elif change.fields.get("run_id") == run_id:
            _show(session, change)
            if change.kind == "lifecycle":
                run = run_of(session, model_id, run_id)
                if change.fields.get("message") == "Running" and until is None and not forever:
                    until = time.monotonic() + FIRST_LINES
        if run["state"] in ENDED or (run["state"] == "restarting" and not forever):
            _show_rest(session, changes, run_id)
            return run
        if until is not None and time.monotonic() >= until:
            return run


def follow_backtest(session: Session, tested: dict[str, Any], after: int) -> dict[str, Any]:
    """Show a backtest's log until its status arrives; return the ended run. One whose node was lost
    goes on with another run."""
    model_id, run_id = tested["modelId"], tested["runId"]
    changes = Changes(session, model_id, after)
    told = None
    while True:
        with waiting(session, "running the backtest"):
            change = changes.next(LOOKED_EVERY)
        if change is not None and _is_of(change, run_id, tested["backtestId"]):
            _show(session, change)
        if change is None or change.kind == "backtest-status":
            run = _newest_of(session, tested)
            run_id = run["run_id"]
            told = tell_trouble(session, run, told)
            if run["state"] in ENDED:
                _show_rest(session, changes, run_id)
                return run


def _is_of(change: Change, run_id: str, backtest_id: str) -> bool:
    """Not every change names its backtest, and a run that goes on instead is not known at once."""
    found = change.fields
    return found.get("run_id") == run_id or found.get("backtest_id") == backtest_id


def _newest_of(session: Session, tested: dict[str, Any]) -> dict[str, Any]:
    path = f"/api/models/{tested['modelId']}/runs"
    (newest, *_) = session.wire.get(path, backtest=tested["backtestId"])["items"]
    return dict(newest)


def tell_trouble(session: Session, run: dict[str, Any], told: str | None) -> str | None:
    """Say once why it does not go on, such as a run before it on a host that is silent."""
    trouble: str | None = run.get("trouble")
    if trouble and trouble != told:
        session.screen.note(trouble, "yellow")
    return trouble


def require_alive(session: Session, run: dict[str, Any], model: str) -> None:
    """A deploy has failed if its model is down a moment later, although its version is stored."""
    reason = (run.get("reason") or "").partition("\n")[0]
    if run["state"] in {"crashed", "failed"}:
        raise RunFailed(f"{model} {run['state']}: {reason or 'see its log'}")
    if run["state"] == "restarting":
        raise RunFailed(f"{model} crashed and is being restarted. Watch it with: tapeline logs -f")
    if run["state"] == "stopped":
        raise RunFailed(f"{model} was stopped: {reason or 'no reason was given'}")
    if run["state"] == "exited":
        session.screen.note("It finished with exit code 0.")


def when(run: dict[str, Any]) -> str:
    due = run.get("next_run_at")
    return "when it is installed" if due is None else f"at {moment(due)}"


def _patience(until: float | None) -> float:
    return LOOKED_EVERY if until is None else max(0.05, until - time.monotonic())


def _show(session: Session, change: Change) -> None:
    if change.kind in {"log", "backtest-log"}:
        show_line_as_note(session, change.fields)
    elif change.kind == "lifecycle" and change.fields.get("message"):
        message = str(change.fields["message"])
        session.screen.note(MESSAGES.get(message, f"{message}."), "cyan")


def _show_rest(session: Session, changes: Changes, run_id: str) -> None:
    """Its last lines may arrive a moment after its end."""
    while (change := changes.next(0.3)) is not None:
        if change.fields.get("run_id") == run_id:
            _show(session, change)


def show_line_as_note(session: Session, line: dict[str, Any]) -> None:
    """A line that accompanies an answer; with --json the answer alone is printed."""
    if not session.screen.as_json:
        show_line(session.screen, line)


@contextmanager
def waiting(session: Session, what: str) -> Iterator[None]:
    """A spinner while nothing arrives, only on a terminal."""
    if not session.screen.is_lively:
        yield
        return
    with session.screen.err.status(styled(what, "dim"), spinner="dots"):
        yield
