"""Options that several commands share. None means: not given, so the next source decides."""

from pathlib import Path
from typing import Annotated

import typer

from tapeline.cli.server import completing

Data = Annotated[
    Path | None, typer.Option("--data", help="Directory that holds all state.", metavar="DIR")
]
Database = Annotated[
    str | None,
    typer.Option("--database", help="PostgreSQL to use instead of SQLite.", metavar="URL"),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", help="Settings file; ./tapeline.toml if it exists.", metavar="FILE"),
]
Model = Annotated[
    str | None,
    typer.Argument(
        metavar="MODEL",
        help="Id or name; this folder's model by default.",
        autocompletion=completing.models,
        show_default=False,
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="MODEL",
        help="Id or name; this folder's model by default.",
        autocompletion=completing.models,
    ),
]
Count = Annotated[int, typer.Option("--number", "-n", min=1, help="How many of the newest.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
