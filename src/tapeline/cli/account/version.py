"""`tapeline version`."""

import typer

from tapeline import __version__
from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.screen import Screen


@command("tapeline version", "tapeline version --json", options=JSON)
def version(context: typer.Context) -> None:
    """Print the version."""
    Screen(as_json=context.obj.as_json).done(__version__, {"version": __version__})
