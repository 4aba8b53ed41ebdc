"""`tapeline secrets`: environment variables of a model that nobody can read back."""

import os
import sys
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from tapeline.cli.folder import manifest_file, packing
from tapeline.cli.server.options import Model, ModelOption
from tapeline.cli.server.session import Session
from tapeline.cli.server.wire import json_of
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.confirming import ask_secret
from tapeline.cli.terminal.failures import Misused

SecretName = Annotated[
    str, typer.Argument(metavar="NAME", help="Such as EXCHANGE_KEY.", show_default=False)
]


@command(
    "tapeline secrets set EXCHANGE_KEY",
    "tapeline secrets set EXCHANGE_KEY --model Trend < key.txt",
)
def put(context: typer.Context, name: SecretName, model: ModelOption = None) -> None:
    """Set a secret; its value is asked for or read from standard input.

    The model's next runs have it as an environment variable. Values are never shown again.
    """
    session = Session.of(context)
    found = session.model(model)
    if sys.stdin.isatty():
        value = ask_secret(f"Value of {name}")
    else:
        # The last line end belongs to the file; those inside, as in a certificate, are kept.
        value = sys.stdin.read().removesuffix("\n").removesuffix("\r")
    if not value:
        raise Misused("Standard input is empty. Send the value there.")
    path = f"/api/models/{found['id']}/secrets/{quote(name, safe='')}"
    answer = session.wire.ask("PUT", path, json_of({"value": value}))
    session.screen.done(f"{name} is set for the next runs of {found['name']}.", answer)
    _warn_of_file(session)


def _warn_of_file(session: Session) -> None:
    """A secret that was read from a file in the model's folder would be in its next version."""
    manifest = manifest_file.find(Path())
    if manifest is None or sys.stdin.isatty():
        return
    path = packing.holds(Path(), manifest, os.fstat(sys.stdin.fileno()))
    if path is not None:
        session.screen.note(
            f"{path} is in the model's folder and would be uploaded with the next version, for"
            " every member of the project to read. Move it away, or name it in .tapelineignore",
            "yellow",
        )


@command("tapeline secrets list", "tapeline secrets list Trend --json")
def list_secrets(context: typer.Context, model: Model = None) -> None:
    """List the names of a model's secrets."""
    session = Session.of(context)
    found = session.model(model)
    items = session.wire.get(f"/api/models/{found['id']}/secrets")["items"]
    if session.choices.as_json:
        session.screen.json(items)
        return
    session.screen.table(
        ["secret", "changed"],
        [[one["name"], screen.ago(one["changed_at"])] for one in items],
        empty=f"{found['name']} has no secrets. Set one with: tapeline secrets set NAME",
    )


@command("tapeline secrets rm EXCHANGE_KEY --model Trend")
def remove(context: typer.Context, name: SecretName, model: ModelOption = None) -> None:
    """Delete a secret."""
    session = Session.of(context)
    found = session.model(model)
    session.wire.ask("DELETE", f"/api/models/{found['id']}/secrets/{quote(name, safe='')}")
    session.screen.done(f"{name} is deleted. Runs that already have it keep it until they end.")
