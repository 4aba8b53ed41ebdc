"""`tapeline screener`: the results of a screener."""

from typing import Annotated, Any

import typer

from tapeline.cli.record import first
from tapeline.cli.server.options import Count, Model
from tapeline.cli.server.session import Session
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import command


@command("tapeline screener Watchlist --wait", "tapeline screener Watchlist --history -n 5 --json")
def screener(
    context: typer.Context,
    model: Model = None,
    history: Annotated[
        bool, typer.Option("--history", help="List all results, newest first.")
    ] = False,
    number: Count = 20,
    wait: first.Wait = False,
) -> None:
    """Show a screener's latest result."""
    session = Session.of(context)
    found = session.model(model)
    path = f"/api/models/{found['id']}/screener"
    if history:
        _show_history(session, found, session.everything(f"{path}/history", number))
        return

    def ask() -> dict[str, Any] | None:
        answer: dict[str, Any] = session.wire.get(path)
        return answer if answer["result"] is not None else None

    answer = first.look(session, found, ask, wait=wait)
    if session.choices.as_json:
        session.screen.json(answer or {"result": None, "time": None, "received_at": None})
    else:
        _show(session, found, answer)


def _show(session: Session, model: dict[str, Any], answer: dict[str, Any] | None) -> None:
    result = (answer or {}).get("result") or {}
    rows = {symbol: row or {} for symbol, row in result.items()}
    columns = list(dict.fromkeys(key for row in rows.values() for key in row))
    session.screen.table(
        ["symbol", *(f">{column}" for column in columns)],
        [[symbol, *(_cell(row.get(key)) for key in columns)] for symbol, row in rows.items()],
        empty=f"{model['name']} has no result yet. Wait for the first with: --wait",
    )
    if answer is not None:
        session.screen.note(f"Found {screen.ago(answer['time'])}.")


def _show_history(session: Session, model: dict[str, Any], items: list[dict[str, Any]]) -> None:
    if session.choices.as_json:
        session.screen.json(items)
        return
    session.screen.table(
        ["when", ">symbols", "~found"],
        [
            [screen.short_moment(one["time"]), len(one["result"]), ", ".join(one["result"])]
            for one in items
        ],
        empty=f"{model['name']} has no results yet.",
    )


def _cell(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    return screen.number(value) if isinstance(value, int | float) else str(value)
