"""`tapeline halt` and `resume`: everything of a project is stopped, with a proof for each model."""

from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any

import typer

from tapeline.cli.server.options import Config, Data
from tapeline.cli.server.session import Session
from tapeline.cli.server.wire import Refused
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.failures import Failure, Misused, Unreachable
from tapeline.cli.terminal.screen import Screen
from tapeline.polling import poll

LOOKED_EVERY = 0.5
PATIENCE = 60.0  # seconds until models that are still stopping are given as not stopped
ON_THE_MACHINE = "On the machine itself, without server and database: tapeline halt --here"

Why = Annotated[
    str | None, typer.Option("--why", help="The reason, for everybody who sees it.", metavar="TEXT")
]
All = Annotated[
    bool, typer.Option("--all", help="All projects of this installation; for its operator.")
]


@command(
    'tapeline halt --why "Prices are wrong"',
    "tapeline halt --project desk --json",
    "tapeline halt --all",
    "tapeline halt --here --data /srv/tapeline",
)
def halt(
    context: typer.Context,
    everything: All = False,
    why: Why = None,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Do not wait for it.")] = False,
    here: Annotated[
        bool,
        typer.Option(
            "--here", help="All on this machine, without server and database. For its operator."
        ),
    ] = False,
    data: Data = None,
    config: Config = None,
) -> None:
    """Stop every model of a project now, and prove for each one that it is stopped.

    Nothing of it starts again until `tapeline resume`. Models get their seconds to clean up and are
    killed after that; stopping sells nothing. Models that run elsewhere are told with the answer to
    their next event. Exits with 1 if one is not known to be stopped.

    With --here, everything on this machine is stopped through its processes, even if server or
    database are down; undo that with: tapeline release
    """
    if here:
        _halt_here(context, everything, why, data, config)
        return
    try:
        session = Session.of(context)
        path = "/api/halt" if everything else f"/api/projects/{session.project['id']}/halt"
        found = session.wire.post(path, why=why or "")
    except Unreachable as error:
        raise Unreachable(f"{error} {ON_THE_MACHINE}") from None
    except Refused as error:
        if error.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            raise
        raise Failure(f"{error} {ON_THE_MACHINE}") from None
    if not detach:
        found = _followed(session, path, found)
    _show(session, found, "everything" if everything else session.project["name"])
    if not detach and found["stopped"] < len(found["models"]):
        raise Failure(
            f"{len(found['models']) - found['stopped']} of {len(found['models'])} are not known to"
            f" be stopped. {ON_THE_MACHINE}"
        )


@command("tapeline resume", "tapeline resume --start", "tapeline resume --all")
def resume(
    context: typer.Context,
    everything: All = False,
    start: Annotated[
        bool, typer.Option("--start", help="Start again what ran until the halt.")
    ] = False,
) -> None:
    """Let models of a halted project be started again.

    Nothing starts by itself, unless --start is given.
    """
    session = Session.of(context)
    path = "/api/resume" if everything else f"/api/projects/{session.project['id']}/resume"
    answer = session.wire.post(path, start=start)
    count = answer["started"]
    started = f" {count} {'model starts' if count == 1 else 'models start'} again." if start else ""
    what = "Everything" if everything else session.project["name"]
    session.screen.done(f"{what} is resumed.{started}", answer)


def _halt_here(
    context: typer.Context,
    everything: bool,
    why: str | None,
    data: Path | None,
    config: Path | None,
) -> None:
    if everything or context.obj.project:
        raise Misused("--here stops everything on this machine: give neither --all nor --project.")
    from tapeline.cli.operator import holding  # noqa: PLC0415 - the others do not need the server

    holding.halt_here(Screen(as_json=context.obj.as_json), why, data, config)


def _followed(session: Session, path: str, found: dict[str, Any]) -> dict[str, Any]:
    """Until nothing is stopping any more. Models that run elsewhere may never say that they did."""
    told = -1

    def look() -> dict[str, Any]:
        nonlocal told
        newest: dict[str, Any] = session.wire.get(path)["halt"]
        if newest["stopped"] != told and session.screen.is_lively:
            told = newest["stopped"]
            session.screen.note(f"{told} of {len(newest['models'])} are stopped.")
        return newest

    if not found["stopping"]:
        return found
    return poll(look, within=PATIENCE, every=LOOKED_EVERY, done=lambda one: not one["stopping"])


def _show(session: Session, found: dict[str, Any], what: str) -> None:
    if session.screen.as_json:
        session.screen.json(found)
        return
    session.screen.table(
        ["~model", "state", "?run", "?host", "stopped", "proof"],
        [_row(one) for one in found["models"]],
        empty="Nothing was running.",
    )
    resumes = "tapeline resume --all" if found["project_id"] is None else "tapeline resume"
    session.screen.note(f"Halted: {what}. Nothing starts until: {resumes}")
    for one in found["models"]:
        if one["why"]:
            session.screen.note(f"{one['model']}: {one['why']}", "yellow")


def _row(one: dict[str, Any]) -> list[Any]:
    return [
        one["model"],
        screen.state(one["state"]),
        one["run_id"] or "",
        one["host"] or "",
        one["how"] or "",
        _proof(one["proof"]),
    ]


def _proof(proof: dict[str, Any] | None) -> str:
    if proof is None:
        return "none"
    if proof.get("never_launched"):
        return "it had no process"
    if proof.get("withdrawn"):
        return "its start was withdrawn, no host has it, key refused"
    if proof.get("lease_ended_at"):
        return "its lease has run out, key refused"
    if proof.get("lock_is_free"):
        return f"lock free, {proof['processes']} processes, key refused"
    return "its own word"
