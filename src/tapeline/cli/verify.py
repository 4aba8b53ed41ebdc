"""`tapeline verify`: check a record offline. All of it is in `tape.record_check`."""

from pathlib import Path
from typing import Annotated

import typer

from tapeline.tape import record_check
from tapeline.tape.record_check import Checked


def verify(
    file: Annotated[Path, typer.Argument(help="A record, as `…/record` gives it.")],
    earlier: Annotated[
        Path | None,
        typer.Option(help="A record of the same model that you kept: this one must go on from it."),
    ] = None,
    late_seconds: Annotated[
        float, typer.Option(help="From how many seconds on an order is reported as late.")
    ] = record_check.LATE_AFTER,
) -> None:
    """Check a record: chain and signatures, without a server. Exits with 1 if it is broken."""
    kept = None if earlier is None else _checked(earlier, late_seconds)
    if kept is not None and not kept.is_whole:
        typer.echo(f"{earlier}: {record_check.words(kept)}")
        raise typer.Exit(1)
    found = _checked(file, late_seconds, kept)
    typer.echo(record_check.words(found))
    if not found.is_whole:
        raise typer.Exit(1)


def _checked(file: Path, late_seconds: float, earlier: Checked | None = None) -> Checked:
    try:
        with file.open("rb") as lines:
            return record_check.check(lines, late_seconds, earlier)
    except OSError as error:
        typer.echo(f"tapeline: {file} cannot be read: {error.strerror}.", err=True)
        raise typer.Exit(2) from None
