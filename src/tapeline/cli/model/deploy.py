"""`tapeline deploy`: a folder becomes a version, and the version runs."""

from pathlib import Path
from typing import Annotated

import typer

from tapeline.cli.folder import manifest_file
from tapeline.cli.model.uploading import Routes, Source, upload
from tapeline.cli.server.following import follow_live, require_alive
from tapeline.cli.server.options import ModelOption
from tapeline.cli.server.session import Session
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.failures import Misused

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="The model's folder.", show_default=False)
]
New = Annotated[bool, typer.Option("--new", help="Create a new model from it.")]
Name = Annotated[str | None, typer.Option("--name", help="Name of the new model.")]
Plan = Annotated[str | None, typer.Option("--plan", help="Memory and processor, such as micro.")]
Python = Annotated[str | None, typer.Option("--python", help="Python version, such as 3.12.")]
Upload = Annotated[
    bool, typer.Option("--upload", help="Make a new version even if nothing changed.")
]
NoCheck = Annotated[bool, typer.Option("--no-check", help="Skip the check for syntax errors.")]
Detach = Annotated[bool, typer.Option("--detach", "-d", help="Do not wait for it to start.")]


@command(
    "tapeline deploy",
    'tapeline deploy models/trend --new --name Trend --note "first try"',
    "tapeline deploy --plan micro --detach --json",
)
def deploy(
    context: typer.Context,
    folder: Folder = Path(),
    model: ModelOption = None,
    new: New = False,
    name: Name = None,
    note: Annotated[str | None, typer.Option("--note", help="What is new in this version.")] = None,
    plan: Plan = None,
    python: Python = None,
    schedule: Annotated[
        str | None, typer.Option("--schedule", help="When a screener runs, as a cron expression.")
    ] = None,
    always: Upload = False,
    unchecked: NoCheck = False,
    detach: Detach = False,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Follow its log until Ctrl-C.")
    ] = False,
) -> None:
    """Upload a folder as a new version and run it live.

    It replaces the version that is running. platform.json says which model the folder belongs to;
    use --new the first time. An unchanged folder is not uploaded again: its stored version runs.
    Files named by .gitignore, .tapelineignore or `ignore_files` are left out, as are .git, .venv
    and the like.
    """
    session = Session.of(context)
    if schedule is not None:
        _require_screener(session, folder, model)
    source = Source(
        folder, model, new=new, name=name, python=python, always=always, checked=not unchecked
    )
    said = {"versionDescription": note, "plan": plan, "schedule": schedule}
    deployed, after = upload(session, source, Routes("/model/deploy", "/model/run"), said)
    shown = {"id": deployed["modelId"], "projectId": deployed["projectId"]}
    page = session.page_of(shown)
    called = f"Version {deployed['version']}"
    run = None
    if not detach:
        run = follow_live(session, deployed, after, forever=follow)
    session.screen.done(page, {**deployed, "url": page, "run": run})
    if run is not None:
        require_alive(session, run, called)


def _require_screener(session: Session, folder: Path, model: str | None) -> None:
    """The server would silently ignore the schedule of any other model."""
    said = manifest_file.require(folder).values
    kind = said.get("type")
    if kind is None and (model or said.get("model_id")):
        kind = session.model(model or str(said["model_id"])).get("type")
    if kind != "screener":
        raise Misused(
            "--schedule is for screeners. Leave it out, or make this model one with"
            ' "type": "screener" in platform.json'
        )
