"""`tapeline servers`: where you are signed in, and the server that commands use."""

from typing import Annotated

import typer

from tapeline import settings
from tapeline.cli.server import profiles
from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.failures import NotFound
from tapeline.cli.terminal.screen import Screen


@command("tapeline servers list", options=JSON)
def list_servers(context: typer.Context) -> None:
    """List the servers you are signed in to."""
    screen, known = _known(context)
    items = [
        {"name": name, "url": one.url, "email": one.email, "current": name == known.current}
        for name, one in known.servers.items()
    ]
    if screen.as_json:
        screen.json(items)
        return
    screen.table(
        ["", "name", "address", "~account"],
        [["*" if one["current"] else "", one["name"], one["url"], one["email"]] for one in items],
        empty="You are not signed in to any server. Run: tapeline login",
    )


@command("tapeline servers use work", options=JSON)
def use(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Its name or address.", show_default=False)],
) -> None:
    """Choose the server that commands use."""
    screen, known = _known(context)
    found = known.find(name)
    if found is None:
        raise NotFound(f"You are not signed in to {name}. Run: tapeline login --server {name}")
    known.current = found[0]
    known.save()
    screen.done(f"Commands now use {found[1].url}.", {"current": found[0]})


def _known(context: typer.Context) -> tuple[Screen, profiles.Profiles]:
    screen = Screen(as_json=context.obj.as_json)
    return screen, profiles.load(settings.client_variables().folder)
