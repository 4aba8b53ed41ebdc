"""`tapeline keys`: keys with which scripts, and models that run elsewhere, push and read."""

from typing import Annotated

import typer

from tapeline.cli.server.session import Session
from tapeline.cli.server.wire import json_of
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import command


@command("tapeline keys new --name laptop", "tapeline keys new --read-only --json")
def new(
    context: typer.Context,
    name: Annotated[str, typer.Option("--name", help="What it is for.")] = "",
    read_only: Annotated[
        bool, typer.Option("--read-only", help="The key can read, but not push.")
    ] = False,
    write_only: Annotated[
        bool, typer.Option("--write-only", help="The key can push, but not read.")
    ] = False,
) -> None:
    """Generate a key for models and scripts; its pass is shown once."""
    session = Session.of(context)
    made = session.wire.ask(
        "POST",
        "/project/generate-project-token",
        json_of(
            {
                "projectId": session.project["id"],
                "name": name,
                "read": not write_only,
                "write": not read_only,
            }
        ),
    )
    if session.choices.as_json:
        session.screen.json(made)
        return
    session.screen.say(f"api_key   {made['apiKey']}")
    session.screen.say(f"api_pass  {made['apiPass']}")
    session.screen.note("Save the pass now: it is shown only once.", "yellow")


@command("tapeline keys list", "tapeline keys list --project Research --json")
def list_keys(context: typer.Context) -> None:
    """List a project's keys."""
    session = Session.of(context)
    found = session.wire.post("/project/list-tokens", projectId=session.project["id"])["keys"]
    if session.choices.as_json:
        session.screen.json(found)
        return
    session.screen.table(
        ["key", "~name", "may", "made"],
        [
            [
                one["id"],
                one["name"] or "-",
                " ".join(right for right in ("read", "write") if one[right]),
                screen.ago(one["timestamp"]),
            ]
            for one in found
        ],
        empty=f"Project {session.project['name']} has no keys. Make one with: tapeline keys new",
    )


@command("tapeline keys rm k7x2m9fdq3wz8vbn")
def remove(
    context: typer.Context,
    key: Annotated[str, typer.Argument(help="The key itself; see keys list.", show_default=False)],
) -> None:
    """Delete a key; it stops working at once."""
    session = Session.of(context)
    session.wire.post("/project/delete-project-token", projectId=session.project["id"], tokenId=key)
    session.screen.done(f"{key} is deleted.")
