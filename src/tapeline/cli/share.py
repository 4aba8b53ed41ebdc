"""`tapeline share`: links that show a record to whoever has them, as much of it as is chosen."""

import sys
import time
from typing import Annotated, Any

import typer

from tapeline.cli import screen
from tapeline.cli.failures import Misused
from tapeline.cli.options import Model, ModelOption
from tapeline.cli.session import Session
from tapeline.cli.spoken import spoken
from tapeline.cli.wire import json_of

DAY = 86400.0
HIDDEN = ("percent_only", "hide_symbols", "hide_sizes", "hide_logs")


@spoken(
    "tapeline share new Trend --percent-only --base 25000 --delay-hours 24",
    "tapeline share new --backtest 8xk2… --hide-symbols --days 30",
    "tapeline share new Trend --password-stdin < password.txt",
)
def new(
    context: typer.Context,
    model: Model = None,
    backtest: Annotated[
        str | None, typer.Option("--backtest", help="One backtest instead of the live record.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="What stands over the page.")] = None,
    percent_only: Annotated[
        bool, typer.Option("--percent-only", help="Show no amounts of money and no sizes.")
    ] = False,
    base: Annotated[
        float | None, typer.Option("--base", help="The capital behind a live model, for percents.")
    ] = None,
    hide_symbols: Annotated[
        bool, typer.Option("--hide-symbols", help="Show neither symbols nor prices.")
    ] = False,
    hide_sizes: Annotated[
        bool, typer.Option("--hide-sizes", help="Show no sizes of single trades.")
    ] = False,
    hide_logs: Annotated[bool, typer.Option("--hide-logs", help="Show no log lines.")] = False,
    delay_hours: Annotated[
        int, typer.Option("--delay-hours", min=0, help="Show all as it stood so long ago.")
    ] = 0,
    days: Annotated[
        float | None, typer.Option("--days", min=0.001, help="After how many days it expires.")
    ] = None,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Ask visitors for the password on stdin.")
    ] = False,
) -> None:
    """Make a link that shows a model's record to whoever has it.

    The address is shown once. Everything is shown that is not hidden by an option.
    """
    session = Session.of(context)
    found = session.model(model)
    body: dict[str, Any] = {
        "backtest_id": backtest,
        "title": title,
        "percent_only": percent_only,
        "base": base,
        "hide_symbols": hide_symbols,
        "hide_sizes": hide_sizes,
        "hide_logs": hide_logs,
        "delay_hours": delay_hours,
        "expires_at": None if days is None else time.time() + days * DAY,
        "password": _password() if password_stdin else None,
    }
    made = session.wire.ask("POST", f"/api/models/{found['id']}/shares", json_of(body))
    session.screen.done(made["url"], made)
    session.screen.note("Keep the address: it is shown this once.", "yellow")


@spoken("tapeline share list", "tapeline share list Trend --json")
def list_shares(context: typer.Context, model: Model = None) -> None:
    """List a model's links and how often they were looked at."""
    session = Session.of(context)
    found = session.model(model)
    items = session.wire.get(f"/api/models/{found['id']}/shares")["items"]
    if session.choices.as_json:
        session.screen.json(items)
        return
    session.screen.table(
        ["link", "~shows", "~hides", ">views", "made", "ends"],
        [_row(one) for one in items],
        empty=f"{found['name']} is not shared. Make a link with: tapeline share new",
    )


@spoken("tapeline share rm k7x2m9fdq3wz8vbn --model Trend")
def remove(
    context: typer.Context,
    share: Annotated[str, typer.Argument(help="Its id; see share list.", show_default=False)],
    model: ModelOption = None,
) -> None:
    """Revoke a link: from now on it opens nothing."""
    session = Session.of(context)
    found = session.model(model)
    session.wire.ask("DELETE", f"/api/models/{found['id']}/shares/{share}")
    session.screen.done(f"{share} is revoked.")


def _password() -> str:
    password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise Misused("Standard input was empty: send the password there.")
    return password


def _row(one: dict[str, Any]) -> list[Any]:
    hides = [name.replace("_", " ") for name in HIDDEN if one[name]]
    hides += [f"last {one['delay_hours']} h"] if one["delay_hours"] else []
    hides += ["password"] if one["has_password"] else []
    ends = "never" if one["expires_at"] is None else screen.day(one["expires_at"])
    return [
        one["id"],
        one["title"] or one["backtest_id"] or "live record",
        ", ".join(hides) or "nothing",
        one["views"],
        screen.ago(one["created_at"]),
        "expired" if one["is_expired"] else ends,
    ]
