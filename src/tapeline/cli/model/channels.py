"""`tapeline channels`: where messages about incidents go."""

import sys
from typing import Annotated, Any

import typer

from tapeline.cli.server.session import Session, one_of
from tapeline.cli.server.wire import json_of
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.confirming import ask_secret
from tapeline.cli.terminal.failures import Failure, Misused

Name = Annotated[str, typer.Argument(metavar="NAME", help="Such as phone.", show_default=False)]
Which = Annotated[
    str, typer.Argument(metavar="CHANNEL", help="Its name or id.", show_default=False)
]
OfServer = Annotated[
    bool,
    typer.Option("--server-wide", help="Of the installation, for operators, not of a project."),
]


@command(
    "tapeline channels add phone < address.txt",
    'tapeline channels add mail --quiet "22:00-07:00 Europe/Berlin" < address.txt',
    "tapeline channels add team --digest day < address.txt",
)
def add(
    context: typer.Context,
    name: Name,
    quiet: Annotated[
        str, typer.Option("--quiet", metavar="HOURS", help='Such as "22:00-07:00 Europe/Berlin".')
    ] = "",
    digest: Annotated[
        str, typer.Option("--digest", metavar="EVERY", help="One message every hour or day.")
    ] = "",
    server_wide: OfServer = False,
) -> None:
    """Make a channel for messages about incidents.

    Its address is asked for or read from standard input. It is one of Apprise
    (mailtos://, tgram://, ntfys:// …), or https:// for a webhook. It is never shown again.
    """
    session = Session.of(context)
    place = _place(session, server_wide)
    address = ask_secret("Address") if sys.stdin.isatty() else sys.stdin.read().strip()
    if not address:
        raise Misused("Standard input is empty. Send the address there.")
    said = {"name": name, "address": address, "quiet": _quiet(quiet), "digest": _digest(digest)}
    made = session.wire.ask("POST", place, json_of(said))
    session.screen.done(f"The channel {made['name']} is made: {made['shown']}", made)
    if made["secret"] and not session.choices.as_json:
        session.screen.say(f"secret  {made['secret']}")
        session.screen.note("Save the secret now: it is shown only once.", "yellow")


@command("tapeline channels list", "tapeline channels list --project Research --json")
def list_channels(context: typer.Context, server_wide: OfServer = False) -> None:
    """List channels, and whether messages arrive."""
    session = Session.of(context)
    items = session.wire.get(_place(session, server_wide))["items"]
    if session.choices.as_json:
        session.screen.json(items)
        return
    session.screen.table(
        ["channel", "~address", "held", "~state"],
        [[one["name"], one["shown"], _held(one), _state(one)] for one in items],
        empty="There are no channels. Make one with: tapeline channels add NAME",
    )


@command("tapeline channels test phone")
def send_test(context: typer.Context, channel: Which, server_wide: OfServer = False) -> None:
    """Send a message to a channel, and say whether the service accepted it."""
    session = Session.of(context)
    found = _find(session, channel, server_wide)
    answer = session.wire.ask("POST", f"/api/channels/{found['channel_id']}/test")
    if not answer["arrived"]:
        raise Failure(f"The message did not arrive at {found['name']}. {answer['message']}")
    session.screen.done(f"The service of {found['name']} accepted the message.", answer)


@command("tapeline channels remove phone")
def remove(context: typer.Context, channel: Which, server_wide: OfServer = False) -> None:
    """Delete a channel, with what it was still to be told."""
    session = Session.of(context)
    found = _find(session, channel, server_wide)
    session.wire.ask("DELETE", f"/api/channels/{found['channel_id']}")
    session.screen.done(f"The channel {found['name']} is deleted.")


def _place(session: Session, server_wide: bool) -> str:
    return "/api/channels" if server_wide else f"/api/projects/{session.project['id']}/channels"


def _find(session: Session, wanted: str, server_wide: bool) -> dict[str, Any]:
    items = session.wire.get(_place(session, server_wide))["items"]
    known = [{"id": one["channel_id"], **one} for one in items]
    return one_of(known, wanted, "channel", "tapeline channels list")


def _quiet(text: str) -> dict[str, str] | None:
    if not text:
        return None
    hours, _, zone = text.partition(" ")
    begin, dash, end = hours.partition("-")
    if not dash:
        raise Misused('--quiet is a time from and to, such as "22:00-07:00 Europe/Berlin".')
    return {"from": begin, "to": end, "zone": zone.strip() or "UTC"}


def _digest(text: str) -> dict[str, str] | None:
    if text not in {"", "hour", "day"}:
        raise Misused("--digest is hour or day.")
    return {"every": text} if text else None


def _held(one: dict[str, Any]) -> str:
    parts = []
    if one["quiet"]:
        parts.append(f"quiet {one['quiet']['from']}-{one['quiet']['to']}")
    if one["digest"]:
        parts.append(f"every {one['digest']['every']}")
    return ", ".join(parts) or "-"


def _state(one: dict[str, Any]) -> str:
    if one["failing_since"]:
        return f"failing since {screen.ago(one['failing_since'])}: {one['last_error']}"
    if one["tested_at"]:
        return f"tested {screen.ago(one['tested_at'])}: {one['test_result']}"
    return "not tested"
