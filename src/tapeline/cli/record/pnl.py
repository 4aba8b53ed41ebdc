"""`tapeline pnl`: a model's profit and loss."""

from typing import Any

import typer

from tapeline.cli.record import first
from tapeline.cli.server.options import Model
from tapeline.cli.server.session import Session
from tapeline.cli.server.wire import NO_SUCH_PAGE, Missing
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.failures import Failure
from tapeline.cli.terminal.screen import Screen, signed

CURVE = 60


@command("tapeline pnl --wait", "tapeline pnl Trend --json")
def pnl(context: typer.Context, model: Model = None, wait: first.Wait = False) -> None:
    """Show a model's profit and loss."""
    session = Session.of(context)
    found = session.model(model)
    answer: dict[str, Any] = {}

    def ask() -> bool:
        answer.update(_ask(session, found))
        filled = any(one["fills"] for one in (answer.get("by_currency") or {}).values())
        return filled or answer.get("source") == "model"

    first.look(session, found, ask, wait=wait)
    if session.choices.as_json:
        session.screen.json(answer)
    else:
        show_pnl(session.screen, answer)


def _ask(session: Session, model: dict[str, Any]) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = session.wire.get(f"/api/models/{model['id']}/pnl")
    except Missing as missing:
        if missing.said_code != NO_SUCH_PAGE:
            raise
        raise Failure(
            f"{session.profile.url} does not compute profit and loss. Upgrade the server."
        ) from None
    return answer


def show_pnl(out: Screen, answer: dict[str, Any]) -> None:
    by_currency = answer.get("by_currency") or {}
    out.table(
        ["currency", ">total", ">realized", ">unrealized", ">fees", ">fills"],
        [_money(currency, one) for currency, one in by_currency.items()],
        empty="There is no profit or loss before the first fill. Wait for it with: --wait",
    )
    if positions := answer.get("positions"):
        out.say()
        out.table(
            ["symbol", "?currency", ">held", "?>average", ">last", "?>value", ">realized",
             ">unrealized"],
            [_position(one, named=len(by_currency) > 1) for one in positions],
        )  # fmt: skip
    values = [one["value"] for one in answer.get("series") or [] if one["value"] is not None]
    if len(values) > 1:
        width = min(CURVE, max(10, out.out.width - 30))
        line = screen.sparkline(values, width)
        out.say()
        out.say(f"{screen.number(values[0])} {line} {screen.number(values[-1])}")
    if answer.get("source") == "model":
        out.note("The series is the model's own, not computed from its orders.")
    for currency, one in by_currency.items():
        for kind, amount in (one.get("cash") or {}).items():
            out.note(f"{kind.capitalize()}: {signed(amount, currency)} {currency}, in the total.")
    for one in answer.get("not_computed") or []:
        out.note(f"{one['symbol']} is not computed and counts nowhere: {one['reason']}", "yellow")
    for one in disagreeing(answer.get("checks") or []):
        said, held = screen.number(one["reported"]), screen.number(one["held"])
        when = screen.moment(one["time"])
        out.note(
            f"{one['symbol']}: the model says that it holds {said}, the books hold {held} ({when})."
            " An order may be missing.",
            "yellow",
        )
    for one in (answer.get("warnings") or [])[:5]:
        out.note(f"Note: {one['message']}", "yellow")


def disagreeing(checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The newest check of each symbol, if it disagrees; one that agrees settles the earlier."""
    newest: dict[str, dict[str, Any]] = {}
    for one in sorted(checks, key=lambda one: one["time"]):
        newest[one["symbol"]] = one
    return [one for one in newest.values() if one["difference"]]


def _money(currency: str, one: dict[str, Any]) -> list[Any]:
    total = one.get("total", one["realized"] + one["unrealized"])  # with cash, since there is any
    return [
        currency, signed(total, currency), signed(one["realized"], currency),
        signed(one["unrealized"], currency), screen.amount(one["fees"], currency), one["fills"],
    ]  # fmt: skip


def _position(one: dict[str, Any], *, named: bool) -> list[Any]:
    return [
        one["symbol"], one["currency"] if named else "", screen.number(one["size"]),
        screen.price(one["average_price"]), screen.price(one["last_price"]),
        screen.number(one["value"]), signed(one["realized"], one["currency"]),
        signed(one["unrealized"], one["currency"]),
    ]  # fmt: skip
