"""`tapeline user`: accounts, for the operator of a server."""

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer
from sqlalchemy import Connection

from tapeline import compose, datadir, logs, settings, typed_commands
from tapeline.accounts import passwords, sign_ins, users
from tapeline.accounts.actor import OPERATOR
from tapeline.accounts.users import User
from tapeline.cli.server.options import Config, Data, Database
from tapeline.cli.terminal import plain
from tapeline.cli.terminal.command import HERE, JSON, command
from tapeline.cli.terminal.confirming import ask_secret
from tapeline.cli.terminal.screen import Screen
from tapeline.errors import NoSuchUser
from tapeline.models import onboarding
from tapeline.settings import Settings

Email = Annotated[str, typer.Argument(help="The account's email address.")]


@command(
    "tapeline user add ada@example.com --name Ada",
    "tapeline user add ada@example.com < password.txt",
    options=JSON,
)
def add(
    context: typer.Context,
    email: Email,
    name: Annotated[str, typer.Option(help="The person's name.")] = "",
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Add an account. The password is asked for, or read from standard input."""
    chosen = _settings(data, database, config)
    users.normal_email(email)
    password_hash = passwords.hash_password(_ask_password())
    with compose.open_store(chosen) as store:
        user = store.write_now(
            onboarding.add_by_operator, email=email, name=name, password_hash=password_hash
        )
    _screen(context).done(f"Added {user.email} ({user.id}).", _facts(user))


@command("tapeline user list --json", options=HERE)
def list_users(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """List the accounts."""
    out = Screen(as_json=as_json)
    chosen = _settings(data, database, config)
    with compose.open_store(chosen) as store:
        everyone = store.read_now(users.everyone)
    for user in everyone:
        out.json_line(_facts(user)) if as_json else plain.write(_line(user))
    if not everyone:
        add = typed_commands.with_database("tapeline user add you@example.com", chosen)
        out.note(f"No accounts yet. Add one with: {add}", None)


@command("tapeline user passwd ada@example.com", options=JSON)
def passwd(
    context: typer.Context,
    email: Email,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Set an account's password; all its sign-ins end."""
    chosen = _settings(data, database, config)
    with compose.open_store(chosen) as store:
        user = store.read_now(users.find, email)
        if user is None:
            raise NoSuchUser
        password_hash = passwords.hash_password(_ask_password())
        ended = store.write_now(_set_password, user, password_hash)
    _screen(context).done(
        f"Password of {user.email} is set; {ended} sign-ins ended.",
        {**_facts(user), "ended_sign_ins": ended},
    )


@command("tapeline user disable ada@example.com", options=JSON)
def disable(
    context: typer.Context,
    email: Email,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Disable an account at once. Its models and data stay."""
    _set_disabled(context, _settings(data, database, config), email, disabled=True)


@command("tapeline user enable ada@example.com", options=JSON)
def enable(
    context: typer.Context,
    email: Email,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Enable a disabled account again."""
    _set_disabled(context, _settings(data, database, config), email, disabled=False)


def _settings(data: Data, database: Database, config: Config) -> Settings:
    chosen = settings.load({"data": data, "database": database, "config": config})
    logs.start("warning", chosen.log_format)
    datadir.require_database(chosen.data, chosen.database)
    return chosen


def _ask_password() -> str:
    if sys.stdin.isatty():
        password = ask_secret("Password", twice=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    passwords.check_rules(password, "password")
    return password


def _set_password(connection: Connection, user: User, password_hash: str) -> int:
    users.set_password(connection, OPERATOR, user, password_hash)
    return sign_ins.end_all(connection, user.id)


def _set_disabled(context: typer.Context, chosen: Settings, email: str, *, disabled: bool) -> None:
    with compose.open_store(chosen) as store:
        user = store.write_now(users.set_disabled, OPERATOR, email, disabled=disabled)
    _screen(context).done(
        f"{user.email} is {'disabled' if disabled else 'enabled'}.",
        {**_facts(user), "disabled": disabled},
    )


def _screen(context: typer.Context) -> Screen:
    return Screen(as_json=context.obj.as_json)


def _facts(user: User) -> dict[str, object]:
    return {
        "id": user.id,
        "email": user.email,
        "name": user.name,
        "created_at": user.created_at,
        "disabled": user.disabled_at is not None,
    }


def _line(user: User) -> str:
    since = datetime.fromtimestamp(user.created_at, UTC).strftime("%Y-%m-%d")
    mark = "  disabled" if user.disabled_at is not None else ""
    return f"{user.id}  {since}  {user.email}  {user.name}{mark}"
