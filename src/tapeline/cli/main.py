"""The command `tapeline`."""

import sys

import typer

from tapeline import __version__
from tapeline.cli import keys, up, user, verify
from tapeline.errors import InvalidSetting, Problem

app = typer.Typer(
    name="tapeline",
    help="Deploy trading models, watch them trade, keep an honest tape.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command("up")(up.up)
app.command("verify")(verify.verify)
app.add_typer(user.app, name="user")
app.add_typer(keys.app, name="keys")


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


def main() -> None:
    try:
        app()
    except Problem as problem:
        typer.echo(f"tapeline: {problem.message}", err=True)
        sys.exit(2 if isinstance(problem, InvalidSetting) else 1)
