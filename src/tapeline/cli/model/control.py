"""`tapeline start`, `stop`, `rollback` and `delete`: which version of a model runs, if any."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from tapeline.cli.server.following import ENDED, follow_live, require_alive, run_of
from tapeline.cli.server.options import Data, Model, ModelOption, Yes
from tapeline.cli.server.session import Session
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.confirming import confirm
from tapeline.cli.terminal.failures import Failure, Misused, NotFound
from tapeline.cli.terminal.screen import Screen
from tapeline.polling import poll

LOOKED_EVERY = 0.2
PATIENCE = 60.0  # seconds to wait for a stop

Detach = Annotated[bool, typer.Option("--detach", "-d", help="Do not wait for it.")]
Plan = Annotated[str | None, typer.Option("--plan", help="Memory and processor, such as micro.")]


@command("tapeline start", "tapeline start Trend --version 3 --plan small")
def start(
    context: typer.Context,
    model: Model = None,
    version: Annotated[
        str | None, typer.Option("--version", help="Its number; the one that ran last by default.")
    ] = None,
    plan: Plan = None,
    detach: Detach = False,
) -> None:
    """Run a model live, with the version that ran last.

    A model that never ran starts with its newest version.
    """
    session = Session.of(context)
    found = session.model(model)
    chosen = version_id(session, found, version) if version else None
    _run(session, found, chosen, plan, detach)


@command("tapeline rollback 3", "tapeline rollback 3 --model Trend")
def rollback(
    context: typer.Context,
    version: Annotated[str, typer.Argument(help="Its number, such as 3.", show_default=False)],
    model: ModelOption = None,
    detach: Detach = False,
) -> None:
    """Run an older version live again."""
    session = Session.of(context)
    found = session.model(model)
    _run(session, found, version_id(session, found, version), None, detach)


@command(
    "tapeline stop",
    "tapeline stop Trend",
    "tapeline stop Trend --run k3vx8q…",
    "tapeline stop --here k3vx8q… --data /srv/tapeline",
)
def stop(
    context: typer.Context,
    model: Model = None,
    run: Annotated[
        str | None, typer.Option("--run", help="One run, such as a backtest that takes too long.")
    ] = None,
    detach: Detach = False,
    here: Annotated[
        bool,
        typer.Option(
            "--here", help="On this machine, by its id, without a server. For its operator."
        ),
    ] = False,
    data: Data = None,
) -> None:
    """Stop a model, or one of its runs.

    With --here, the model's processes on this machine are ended and their end is proven, even if
    server or database are down. The stop is recorded when they are back.
    """
    if here:
        _stop_here(context, run or model, data)
        return
    session = Session.of(context)
    found = session.model(model)
    name, model_id = found["name"], found["id"]
    if run is None:
        current = session.find_model(model_id)["run"]
        if current is None or current["state"] in ENDED:
            session.screen.done(f"{name} is not running.", {"status": "success", "run": current})
            return
        session.wire.post("/model/kill", modelId=model_id, projectId=found["projectId"])
        run = str(current["run_id"])
    else:
        session.wire.post(f"/api/models/{model_id}/runs/{run}/stop")
    ended = run_of(session, model_id, run) if detach else _wait_for_end(session, model_id, run)
    session.screen.done(
        f"{name} is {'being ' if detach else ''}stopped.", {"status": "success", "run": ended}
    )


@command("tapeline delete Trend", "tapeline delete Trend --yes")
def delete(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help="Id or name.", show_default=False)],
    yes: Yes = False,
) -> None:
    """Delete a model with everything that belongs to it.

    Its versions, orders, logs, backtests and secrets are gone for good.
    """
    session = Session.of(context)
    found = session.model(model)
    confirm(
        session.screen, f"Delete {found['name']} ({found['id']}) with all of its data?", yes=yes
    )
    said = session.wire.post("/model/delete", modelId=found["id"], projectId=found["projectId"])
    session.screen.done(f"{found['name']} is deleted.", said)
    if warning := said.get("warning"):
        session.screen.note(warning, "yellow")


def _stop_here(context: typer.Context, wanted: str | None, data: Path | None) -> None:
    from tapeline import settings  # noqa: PLC0415 - the other commands do not need the server
    from tapeline.cli.operator import holding  # noqa: PLC0415

    if wanted is None:
        raise Misused("Give the id of the model: without a server, its name is not known.")
    chosen = settings.load({"data": data})
    holding.stop_here(Screen(as_json=context.obj.as_json), chosen, wanted)


def version_id(session: Session, model: dict[str, Any], wanted: str) -> str:
    """By its number, with or without a v, or by its id."""
    number = wanted.lower().removeprefix("v")
    for one in session.everything(f"/api/models/{model['id']}/versions", None):
        if wanted == one["version_id"] or number == str(one["version"]):
            return str(one["version_id"])
    raise NotFound(f"{model['name']} has no version {wanted}. List them with: tapeline versions")


def _run(
    session: Session, model: dict[str, Any], version: str | None, plan: str | None, detach: bool
) -> None:
    lines = session.wire.get(f"/api/models/{model['id']}/logs", limit=1)["items"]
    started = session.wire.post(
        "/model/run",
        modelId=model["id"],
        projectId=model["projectId"],
        versionId=version,
        plan=plan,
    )
    called = f"Version {started['version']} of {model['name']}"
    run = None
    if not detach:
        after = int(lines[0]["seq"]) if lines else 0
        run = follow_live(session, started, after, forever=False)
    page = session.page_of(model)
    session.screen.done(page, {**started, "url": page, "run": run})
    if run is not None:
        require_alive(session, run, called)


def _wait_for_end(session: Session, model_id: str, run_id: str) -> dict[str, Any]:
    run = poll(
        lambda: run_of(session, model_id, run_id),
        within=PATIENCE,
        every=LOOKED_EVERY,
        done=lambda run: run["state"] in ENDED or bool(run.get("trouble")),
    )
    if run["state"] in ENDED:
        return run
    if trouble := run.get("trouble"):
        raise Failure(f"The stop is recorded but not carried out. {trouble}")
    wanted = model_id if run["kind"] != "backtest" else run_id
    raise Failure(
        f"The stop is recorded, but the model has not ended within {PATIENCE:.0f} s and may still"
        " be trading. Check again with: tapeline ps. Or end it without the server, on the machine"
        f" where it runs{_host(run)}: tapeline stop --here {wanted}{_same_data(session, run)}"
    )


def _host(run: dict[str, Any]) -> str:
    return f" (host {run['host']})" if run.get("host") else ""


def _same_data(session: Session, run: dict[str, Any]) -> str:
    """Where the server keeps its data, if it is the host of this run and the account may know."""
    try:
        health = session.wire.get("/api/health")
    except Failure:
        return ""
    is_there = run.get("host") and health.get("host") == run["host"]
    return f" --data {shlex.quote(health['data'])}" if is_there else ""
