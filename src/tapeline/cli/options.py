"""Options that several commands share. None means: not given, so the next source decides."""

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    Path | None, typer.Option("--data", help="Directory that holds all state.", metavar="DIR")
]
Database = Annotated[
    str | None,
    typer.Option("--database", help="PostgreSQL to use instead of SQLite.", metavar="URL"),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", help="Settings file; ./tapeline.toml if it is there.", metavar="FILE"),
]
