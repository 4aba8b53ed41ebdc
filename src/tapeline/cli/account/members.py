"""`tapeline members`: the members of a project, and invitations."""

from typing import Annotated, Any

import typer

from tapeline.cli.server.options import Yes
from tapeline.cli.server.session import Session
from tapeline.cli.server.wire import json_of
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import SERVER, command
from tapeline.cli.terminal.confirming import confirm
from tapeline.cli.terminal.failures import NotFound

Who = Annotated[
    str, typer.Argument(metavar="MEMBER", help="Email address or id.", show_default=False)
]


@command("tapeline members list", "tapeline members list --project Research --json")
def list_members(context: typer.Context) -> None:
    """List the members of a project."""
    session = Session.of(context)
    items = _members(session)
    if session.choices.as_json:
        session.screen.json(items)
        return
    session.screen.table(
        ["~member", "~name", "role", "?since", "?id"],
        [
            [one["email"], one["name"], one["role"], screen.ago(one["since"]), one["user_id"]]
            for one in items
        ],
    )


@command("tapeline members invite", "tapeline members invite --role viewer --json")
def invite(
    context: typer.Context,
    role: Annotated[
        str, typer.Option("--role", help="Their role: owner, admin, member or viewer.")
    ] = "member",
) -> None:
    """Make a link that lets one person join."""
    session = Session.of(context)
    made = session.wire.ask("POST", f"{_path(session)}/invitations", json_of({"role": role}))
    session.screen.done(made["url"], made)
    session.screen.note(
        f"Send it to one person. It makes them {role} of {session.project['name']}, works once"
        f" and expires {screen.moment(made['expires_at'])}."
    )


@command("tapeline members invitations")
def invitations(context: typer.Context) -> None:
    """List invitations that are still open."""
    session = Session.of(context)
    items = session.wire.get(f"{_path(session)}/invitations")["items"]
    if session.choices.as_json:
        session.screen.json(items)
        return
    session.screen.table(
        ["invitation", "role", "~by", "until"],
        [
            [one["id"], one["role"], one["invited_by"], screen.moment(one["expires_at"])]
            for one in items
        ],
        empty="No invitation is open.",
    )


@command("tapeline members withdraw p3fz8k2mwq7x9vbn")
def withdraw(
    context: typer.Context,
    invitation: Annotated[
        str, typer.Argument(help="Its id; see members invitations.", show_default=False)
    ],
) -> None:
    """Withdraw an invitation: its link stops working."""
    session = Session.of(context)
    session.wire.ask("DELETE", f"{_path(session)}/invitations/{invitation}")
    session.screen.done("Withdrawn. The link no longer works.")


@command("tapeline members join http://127.0.0.1:8700/auth/invitation/Zk3…", options=SERVER)
def join(
    context: typer.Context,
    link: Annotated[str, typer.Argument(help="The link you were sent.", show_default=False)],
) -> None:
    """Join a project by an invitation link."""
    session = Session.of(context)
    secret = link.rstrip("/").rpartition("/")[2]
    joined = session.wire.post("/api/invitations/accept", invitation=secret)
    session.screen.done(f"You are {joined['role']} of {joined['project']} now.", joined)
    session.screen.note(f"Work in it with: tapeline projects use {joined['project_id']}")


@command("tapeline members role grace@example.com admin")
def role(
    context: typer.Context,
    member: Who,
    to: Annotated[
        str,
        typer.Argument(metavar="ROLE", help="owner, admin, member or viewer.", show_default=False),
    ],
) -> None:
    """Give a member another role."""
    session = Session.of(context)
    found = _member(session, member)
    path = f"{_path(session)}/members/{found['user_id']}"
    changed = session.wire.ask("PATCH", path, json_of({"role": to}))
    session.screen.done(f"{found['email']} is {changed['role']} now.", changed)


@command("tapeline members rm grace@example.com --yes")
def remove(context: typer.Context, member: Who, yes: Yes = False) -> None:
    """Remove a member from a project, or leave it."""
    session = Session.of(context)
    found = _member(session, member)
    where = session.project["name"]
    confirm(session.screen, f"Remove {found['email']} from {where}?", yes=yes)
    session.wire.ask("DELETE", f"{_path(session)}/members/{found['user_id']}")
    session.screen.done(f"{found['email']} is no longer a member of {where}.")


def _path(session: Session) -> str:
    return f"/api/projects/{session.project['id']}"


def _members(session: Session) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = session.wire.get(f"{_path(session)}/members")["items"]
    return found


def _member(session: Session, wanted: str) -> dict[str, Any]:
    for one in _members(session):
        if wanted == one["user_id"] or wanted.casefold() == one["email"].casefold():
            return one
    raise NotFound(
        f"{wanted} is not a member of {session.project['name']}. List all: tapeline members list"
    )
