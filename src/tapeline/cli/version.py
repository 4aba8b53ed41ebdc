"""`tapeline version`."""

import typer

from tapeline import __version__
from tapeline.cli.spoken import HERE, spoken


@spoken("tapeline version", options=HERE)
def version() -> None:
    """Print the version."""
    typer.echo(__version__)
