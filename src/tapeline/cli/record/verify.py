"""`tapeline verify`: check a record offline. All of the checking is in `tape.record.checking`."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.failures import REFUSED, Failure
from tapeline.cli.terminal.screen import Screen
from tapeline.tape.record import checking, in_words
from tapeline.tape.record.checking import Checked


@command("tapeline verify 2vf5v8gcd8g79vvg.record.ndjson", options=JSON)
def verify(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(help="A file made by `tapeline export`.", show_default=False)
    ],
    earlier: Annotated[
        Path | None,
        typer.Option(help="An earlier record of the same model: this one must continue it."),
    ] = None,
    late_seconds: Annotated[
        float,
        typer.Option(help="Report orders, prices, cash and positions that are this much late."),
    ] = checking.LATE_AFTER,
) -> None:
    """Check a record: chain and signatures, without any server.

    Reports what a passed check proves, and what it does not. Exits with status 1 if the record does
    not match its seals.
    """
    screen = Screen(as_json=context.obj.as_json)
    kept = None if earlier is None else _checked(earlier, late_seconds)
    found = _checked(file, late_seconds, kept) if kept is None or kept.is_whole else kept
    if screen.as_json:
        screen.json({**msgspec.to_builtins(found), "is_whole": found.is_whole})
    else:
        screen.say_lines(in_words.words(found))
    if not found.is_whole:
        raise typer.Exit(REFUSED)


def _checked(file: Path, late_seconds: float, earlier: Checked | None = None) -> Checked:
    try:
        with file.open("rb") as lines:
            return checking.check(lines, late_seconds, earlier)
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}.") from error
