"""`tapeline versions` and `tapeline runs`: a model's uploads, and how its runs ended."""

from typing import Any

import typer

from tapeline.cli.server.options import Count, Model
from tapeline.cli.server.session import Session
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.screen import state


@command("tapeline versions", "tapeline versions Trend --json")
def versions(context: typer.Context, model: Model = None, number: Count = 20) -> None:
    """List a model's versions."""
    session = Session.of(context)
    found = session.model(model)
    items = session.everything(f"/api/models/{found['id']}/versions", number)
    if session.choices.as_json:
        session.screen.json(items)
        return
    live = (session.find_model(found["id"])["run"] or {}).get("version_id")
    session.screen.table(
        ["", ">version", "when", "python", "plan", ">size", "~note"],
        [
            [
                "*" if one["version_id"] == live else "",
                one["version"],
                screen.ago(one["created_at"]),
                one["python_version"],
                one["plan"],
                screen.size(one["size"]),
                one["description"],
            ]
            for one in items
        ],
        empty=f"{found['name']} has no versions yet. Upload one with: tapeline deploy",
    )


@command("tapeline runs", "tapeline runs Trend -n 5 --json")
def runs(context: typer.Context, model: Model = None, number: Count = 20) -> None:
    """List a model's runs and how they ended."""
    session = Session.of(context)
    found = session.model(model)
    items = session.everything(f"/api/models/{found['id']}/runs", number)
    if session.choices.as_json:
        session.screen.json(items)
        return
    is_one_of_many = len({one.get("host") for one in items} - {None}) > 1
    session.screen.table(
        [
            *("run", "kind", ">ver", "state", "started", "?for", "?>restarts"),
            *(["?host"] if is_one_of_many else []),
            "~reason",
        ],
        [
            [
                one["run_id"],
                one["kind"],
                one["version"],
                state(one["state"]),
                screen.ago(one["started_at"]),
                _lasted(one["started_at"], one["ended_at"]),
                one["restarts"],
                *([one["host"] or "-"] if is_one_of_many else []),
                "see below" if _is_noted(one) else _why(one),
            ]
            for one in items
        ],
        empty=f"{found['name']} has never run. Run it with: tapeline start",
    )
    for one in items:
        if _is_noted(one):
            session.screen.note(f"{one['run_id']}: {_why(one)}", "yellow")


def _why(run: dict[str, Any]) -> str:
    return run.get("trouble") or (run["reason"] or "").partition("\n")[0]


def _is_noted(run: dict[str, Any]) -> bool:
    """Whether its sentence must not be cut: it has not ended, or nobody wanted its end, as when its
    node was lost. Not of each that somebody stopped."""
    is_lost = run["state"] == "stopped" and run.get("desired") == "running"
    return bool(_why(run)) and (is_lost or run["ended_at"] is None)


def _lasted(started: float | None, ended: float | None) -> str:
    return "-" if started is None or ended is None else screen.span(max(0.0, ended - started))
