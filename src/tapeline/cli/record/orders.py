"""`tapeline orders`: what a model bought and sold."""

import time
from typing import Annotated, Any

import typer

from tapeline.cli.record import first
from tapeline.cli.record.logs import moment_of
from tapeline.cli.server.options import Count, Model
from tapeline.cli.server.session import Session
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.failures import Misused

SIDES = {"buy": "green", "sell": "red"}


@command(
    "tapeline orders --wait",
    "tapeline orders Trend --symbol BTC-USD --side buy --since 1d --json",
)
def orders(
    context: typer.Context,
    model: Model = None,
    number: Count = 20,
    symbol: Annotated[str | None, typer.Option("--symbol", help="Only this symbol.")] = None,
    side: Annotated[str | None, typer.Option("--side", help="Only buy, or only sell.")] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="Only newer orders: 15m, 2h, 3d, or a date.")
    ] = None,
    wait: first.Wait = False,
) -> None:
    """List a model's orders, newest first."""
    if side is not None and side.lower() not in SIDES:
        raise Misused(f"--side must be buy or sell, not {side}")
    session = Session.of(context)
    found = session.model(model)
    oldest = None if since is None else moment_of(since, time.time())

    def ask() -> list[dict[str, Any]]:
        path = f"/api/models/{found['id']}/orders"
        return session.everything(
            path, number, symbol=symbol, side=side and side.lower(), since=oldest
        )

    items = first.look(session, found, ask, wait=wait)
    if session.choices.as_json:
        session.screen.json(items)
        return
    session.screen.table(
        ["when", "symbol", "side", "?type", ">size", ">price", "status", "~note", "?id"],
        [_row(one) for one in items],
        empty=f"{found['name']} has no orders"
        + (" like that." if symbol or side or since else " yet. Wait for the first with: --wait"),
    )


def _row(one: dict[str, Any]) -> list[Any]:
    side, fill = str(one.get("side")), one.get("fill") or {}
    price = fill.get("price") or one.get("price")
    return [
        screen.short_moment(one.get("time")),
        one.get("symbol"),
        screen.styled(side, SIDES.get(side, "")),
        str(one.get("type", "")).removeprefix("spot-"),
        size(one),
        screen.price(price),
        one.get("status") or "",
        one.get("annotation") or "",
        one.get("id"),
    ]


def size(one: dict[str, Any]) -> str:
    """Filled / ordered, where they differ. A server before fills were computed has no `fill`."""
    ordered, fill = one.get("size"), one.get("fill", one)
    if ordered is None:
        return f"{screen.number(one.get('funds'))} funds"
    filled = (fill or {"size": 0}).get("size")
    if filled == ordered:
        return screen.number(ordered)
    return f"{screen.number(filled)} / {screen.number(ordered)}"
