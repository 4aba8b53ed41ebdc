"""`tapeline verify`: whether an exported tape is what the server sealed, and what that means."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tapeline.cli.failures import Failure
from tapeline.cli.screen import Screen, moment
from tapeline.cli.spoken import JSON, spoken
from tapeline.tape import exported
from tapeline.tape.exported import Checked

PROVES = (
    "No event was edited, removed, added or put elsewhere since the server sealed it.",
    "Each event had arrived by the time of the signature that follows it, by the server's clock.",
)
NOT_PROVEN = (
    "That a fill was real: the tape holds what the model reported.",
    "That this is the only tape: whoever runs the server could have kept another one.",
)


@spoken("tapeline verify 2vf5v8gcd8g79vvg.tape.ndjson", options=JSON)
def verify(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="What `tapeline export` made.", show_default=False)],
    key: Annotated[
        str | None,
        typer.Option("--key", help="The server's public key or its id, if you know it."),
    ] = None,
) -> None:
    """Check an exported tape, without any server.

    Says what a good check proves, and what it does not. Ends with status 1 when the tape is not
    as it was sealed.
    """
    screen = Screen(as_json=context.obj.as_json)
    try:
        with file.open("rb") as lines:
            found = exported.check(lines, key=key)
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}.") from error
    if screen.as_json:
        answer = {**msgspec.structs.asdict(found), "good": not found.problems}
        screen.json({**answer, "proves": list(PROVES), "does_not_prove": list(NOT_PROVEN)})
    else:
        _show(screen, found, key)
    if found.problems:
        raise Failure(f"{file} is not what the server sealed: {found.problems[0]}")


def _show(screen: Screen, found: Checked, key: str | None) -> None:
    screen.say(f"model    {found.model} ({found.model_id})")
    period = f"{moment(found.first_at)} to {moment(found.last_at)}" if found.events else "none"
    screen.say(f"events   {found.events:,}, {period}")
    screen.say(f"signed   {found.checkpoints} times, last {moment(found.signed_at)}")
    known = "the one you named" if key else "compare it with the server's own, if it matters"
    screen.say(f"key      {found.key_id} ({known})")
    if found.results or found.results_without_lists:
        gone = found.results_without_lists
        without = f", {gone} without lists (replaced or deleted)" if gone else ""
        screen.say(f"results  {found.results} backtests with all their values{without}")
    screen.say()
    if found.problems:
        screen.say("NOT GOOD", "bold red")
        for problem in found.problems:
            screen.say(f"  {problem}")
        return
    screen.say("GOOD", "bold green")
    screen.say("This proves:")
    for sentence in PROVES:
        screen.say(f"  {sentence}")
    screen.say("It does not prove:")
    for sentence in NOT_PROVEN:
        screen.say(f"  {sentence}")
