"""`tapeline status`: the health of a server, or of its machine when the server does not answer."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import typer

from tapeline import datadir, settings, typed_commands
from tapeline.cli.operator import doctor
from tapeline.cli.operator.finding import Finding
from tapeline.cli.server.options import Config, Data, Database
from tapeline.cli.server.session import Session
from tapeline.cli.server.wire import LOOPBACK
from tapeline.cli.terminal.command import SERVER, command
from tapeline.cli.terminal.failures import Failure, NotSignedIn, Unreachable
from tapeline.cli.terminal.findings import Row, show_findings
from tapeline.cli.terminal.screen import Screen
from tapeline.settings import Settings

PATIENCE = 15.0  # seconds: the server itself waits for its checks for ten
MARKS = {"green": ("✓", "green"), "yellow": ("!", "yellow"), "red": ("✗", "red")}
COLOURS = {"good": "green", "note": "green", "weak": "yellow", "bad": "red"}
START = "Start it: {up}; with systemd: systemctl start tapeline, and journalctl -u tapeline"


@command(
    "tapeline status", "tapeline status --server https://tapeline.example --json", options=SERVER
)
def status(
    context: typer.Context, data: Data = None, database: Database = None, config: Config = None
) -> None:
    """Show the health of a server, and what to do about what is not well.

    For its operator: sign in first. If the server does not answer and this is its machine, it shows
    what can be seen without the server. Exits with status 1 if something is red, and with status 5
    if the server does not answer.
    """
    session = Session(context.obj)
    session.wire.patience, session.wire.tries = PATIENCE, 1  # a server that hangs is news, too
    try:
        session.sign_in()
        found = session.wire.get("/api/health")
    except (Unreachable, NotSignedIn) as problem:
        chosen = settings.load({"data": data, "database": database, "config": config})
        if not (data or _is_here(session, chosen)):
            raise
        datadir.require(chosen.data)
        _show_machine(session.screen, chosen)
        raise _instead_of(problem, chosen) from None
    _show(session.screen, found)
    red = [row["name"] for row in found["rows"] if row["state"] == "red"]
    if red:
        raise Failure(f"Not well: {', '.join(red)}.")


def _is_here(session: Session, chosen: Settings) -> bool:
    """Whether the server that was asked is one of this machine, and this its data."""
    is_local = urlsplit(session.profile.url).hostname in LOOPBACK
    return is_local and (chosen.data / datadir.LOCK).exists()


def _instead_of(problem: Failure, chosen: Settings) -> Failure:
    """More exact than the problem, because we are on the machine."""
    note = datadir.server_of(chosen.data)
    if not note:
        return Unreachable(f"No server uses {chosen.data}. Start it with: {_up(chosen)}")
    address = note.partition(",")[0]
    if isinstance(problem, NotSignedIn) and address.startswith("http"):
        return NotSignedIn(
            f"Sign in as the operator to see the rest: tapeline login --server {address}"
        )
    return problem


def _up(chosen: Settings) -> str:
    return typed_commands.with_database("tapeline up", chosen)


def _show_machine(out: Screen, chosen: Settings) -> None:
    rows = [*_server(chosen), *map(_row, doctor.of_machine(chosen))]
    _show(out, {"version": None, "state": "red", "rows": rows})


def _row(found: Finding) -> dict[str, str]:
    return {
        "name": found.topic,
        "state": COLOURS[found.state],
        "says": found.says,
        "fix": found.fix,
    }


def _server(chosen: Settings) -> Iterator[dict[str, str]]:
    """Said only where no server holds the data; a server that does is asked by the other rows."""
    if not datadir.server_of(chosen.data):
        says = f"no server uses {chosen.data}"
        yield {"name": "server", "state": "red", "says": says, "fix": START.format(up=_up(chosen))}


def _show(out: Screen, found: dict[str, Any]) -> None:
    if out.as_json:
        out.json(found)
        return
    rows = found["rows"]
    show_findings(
        out,
        (Row(*MARKS[one["state"]], one["name"], one["says"], one["fix"]) for one in rows),
    )
