"""`tapeline projects space`: what a project takes by kind of data, and how long it is kept."""

import json
from typing import Annotated, Any

import typer

from tapeline.cli.server.options import Yes
from tapeline.cli.server.session import Session
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import SERVER, command
from tapeline.cli.terminal.confirming import confirm
from tapeline.cli.terminal.failures import Misused

EVER = "ever"
ALWAYS = "record"
"""Orders, cash and all else that is always kept."""


@command(
    "tapeline projects space",
    "tapeline projects space --keep logs=30 --keep samples=3",
    "tapeline projects space --keep logs=ever",
    options=SERVER,
)
def space(
    context: typer.Context,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="KIND=DAYS",
            help="Days to keep logs, events, backtests or samples, or `ever`.",
        ),
    ] = None,
    yes: Yes = False,
) -> None:
    """Show what the project takes by kind of data, or choose how long to keep a kind.

    What is older is removed within the hour, for good. Orders, cash, prices and lifecycle are
    always kept.
    """
    session = Session.of(context)
    path = f"/api/projects/{session.project['id']}/retention"
    if keep:
        changes = dict(_change(one) for one in keep)
        if any(days is not None for days in changes.values()):
            confirm(session.screen, "Remove what is older for good?", yes=yes)
        found = session.wire.ask("PATCH", path, json.dumps(changes).encode())
    else:
        found = session.wire.get(path)
    if session.screen.as_json:
        session.screen.json(found)
        return
    rows = [_row(one) for one in found["items"]]
    session.screen.table(["kind", ">size", ">kept", ">removed"], rows)


def _row(one: dict[str, Any]) -> list[Any]:
    kept = "always" if one["kind"] == ALWAYS else EVER
    if one["days"] is not None:
        kept = f"{one['days']} days"
    return [one["kind"], screen.size(one["bytes"]), kept, f"{one['removed']:,}"]


def _change(text: str) -> tuple[str, int | None]:
    kind, equals, days = text.partition("=")
    if not equals or not (days == EVER or days.isdecimal()):
        raise Misused(f"--keep {text} is not KIND=DAYS, for example logs=30 or logs={EVER}")
    return kind, None if days == EVER else int(days)
