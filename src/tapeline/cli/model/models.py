"""`tapeline models`: register a model that runs elsewhere, and publish starter models."""

from typing import Annotated

import typer

from tapeline.cli.model.control import version_id
from tapeline.cli.server.options import ModelOption
from tapeline.cli.server.session import Session
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.failures import Misused

TYPES = ("strategy", "screener")

StarterName = Annotated[
    str,
    typer.Argument(
        metavar="STARTER", help="Lower-case letters, digits and hyphens.", show_default=False
    ),
]


@command('tapeline models new "My bot"', "tapeline models new Watchlist --type screener --json")
def new(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Its name.", show_default=False)],
    type: Annotated[str, typer.Option("--type", help="strategy or screener.")] = "strategy",
    description: Annotated[str, typer.Option("--description", help="What it does.")] = "",
) -> None:
    """Register a model that runs elsewhere and pushes its events.

    It needs a key to push with: tapeline keys new
    """
    if type not in TYPES:
        raise Misused(f"--type must be strategy or screener, not {type}")
    session = Session.of(context)
    made = session.wire.post(
        "/model/create-model",
        projectId=session.project["id"],
        name=name,
        type=type,
        description=description,
    )
    session.screen.done(f"Created model {name}. Its id is {made['modelId']}", made)
    session.screen.note("Make a key to push events with: tapeline keys new", None)


@command("tapeline models publish trend-follower", "tapeline models publish trend --version 3")
def publish(
    context: typer.Context,
    name: StarterName,
    model: ModelOption = None,
    version: Annotated[
        str | None, typer.Option("--version", help="Its number; the newest by default.")
    ] = None,
) -> None:
    """Publish a version as a starter model for everyone on this server.

    Every account can read its files and start from them with: tapeline init --from STARTER
    """
    session = Session.of(context)
    found = session.model(model)
    chosen = None if version is None else version_id(session, found, version)
    made = session.wire.post(f"/api/models/{found['id']}/starters", name=name, version_id=chosen)
    session.screen.done(
        f"Everyone on this server can start from it: tapeline init FOLDER --from {name}", made
    )


@command("tapeline models unpublish trend-follower")
def unpublish(context: typer.Context, name: StarterName, model: ModelOption = None) -> None:
    """Remove a starter model from the list."""
    session = Session.of(context)
    found = session.model(model)
    session.wire.ask("DELETE", f"/api/models/{found['id']}/starters/{name}")
    session.screen.done(f"{name} is no longer a starter model.")
