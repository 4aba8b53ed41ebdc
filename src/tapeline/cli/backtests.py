"""`tapeline backtests`: what models would have done, one by one and side by side."""

import time
from typing import Annotated, Any

import typer

from tapeline.cli import screen
from tapeline.cli.failures import Misused
from tapeline.cli.options import Count, Model, ModelOption
from tapeline.cli.screen import state
from tapeline.cli.session import Session
from tapeline.cli.spoken import spoken

KEY_METRICS = ("total_return", "sharpe", "max_drawdown")
CURVE = 60  # columns of a sparkline where the terminal has room
COMPUTING_PATIENCE = 20.0  # seconds to wait for metrics that are being computed

BacktestId = Annotated[str, typer.Argument(help="The backtest's id.", show_default=False)]


@spoken("tapeline backtests list", "tapeline backtests list Trend -n 5 --json")
def list_backtests(context: typer.Context, model: Model = None, number: Count = 20) -> None:
    """List a model's backtests."""
    session = Session.of(context)
    found = session.model(model)
    items = session.everything(f"/api/models/{found['id']}/backtests", number)
    if session.choices.as_json:
        session.screen.json(items)
        return
    session.screen.table(
        ["backtest", "status", "when", ">return", ">sharpe", ">drawdown", ">trades", "~about"],
        [_row(one) for one in items],
        empty=f"{found['name']} has no backtests yet. Run one with: tapeline backtest",
    )


@spoken("tapeline backtests show 8xk2…", "tapeline backtests show 8xk2… --model Trend --json")
def show(context: typer.Context, backtest: BacktestId, model: ModelOption = None) -> None:
    """Show one backtest: status, metrics, equity."""
    session = Session.of(context)
    found = session.model(model)
    shown = shown_when_computed(session, found["id"], backtest)
    if session.choices.as_json:
        session.screen.json(shown)
    else:
        show_backtest(session, found["id"], shown)


@spoken("tapeline backtests compare 8xk2… p3fz… --model Trend")
def compare(
    context: typer.Context,
    backtests: Annotated[list[str], typer.Argument(metavar="BACKTEST...", help="Two or more ids.")],
    model: ModelOption = None,
) -> None:
    """Compare backtests, metric by metric."""
    if not 2 <= len(backtests) <= 8:
        raise Misused("Name two to eight backtests.")
    session = Session.of(context)
    found = session.model(model)
    shown = [shown_when_computed(session, found["id"], one) for one in backtests]
    if session.choices.as_json:
        session.screen.json(shown)
        return
    session.screen.table(["metric", *(f">{one}" for one in backtests)], compared(shown))
    for one in shown:
        curve = _curve(session, found["id"], one["backtest_id"])
        session.screen.say(f"{one['backtest_id']}  {curve}")


def shown_when_computed(session: Session, model_id: str, backtest: str) -> dict[str, Any]:
    """With its metrics, unless they take very long."""
    until = time.monotonic() + COMPUTING_PATIENCE
    while True:
        found: dict[str, Any] = session.wire.get(f"/api/models/{model_id}/backtests/{backtest}")
        if not found["metrics"].get("computing") or time.monotonic() > until:
            return found
        time.sleep(0.5)


def show_backtest(session: Session, model_id: str, one: dict[str, Any]) -> None:
    out = session.screen
    status = one["status"] or {}
    elapsed = status.get("time_elapsed")
    took = f" in {screen.span(elapsed)}" if elapsed else ""
    summary = status.get("status_summary") or ""
    said = f": {summary}" if summary and summary != "Success" else ""
    word = _status(one)
    out.say(f"{word.capitalize()}{took}{said}", screen.STATES.get(word))
    if (details := str(status.get("status_details") or "")) and details != summary:
        out.say(details.rstrip())
    period = [screen.day(one.get(key)) for key in ("start_time", "stop_time")]
    if "-" not in period:
        symbols = ", ".join(one.get("symbols") or [])
        out.say(f"{' to '.join(period)}  {symbols}  {one['counts']['trades']} trades", "dim")
    out.table(["metric", ">value"], metrics_of(one), empty="It has no metrics.")
    if curve := _curve(session, model_id, one["backtest_id"]):
        out.say(curve)


def metrics_of(one: dict[str, Any]) -> list[list[Any]]:
    """Computed ones first, then those the model sent itself; without a value they say nothing."""
    rows = []
    for kind in ("computed", "custom"):
        for name, found in (one["metrics"].get(kind) or {}).items():
            facts = found if isinstance(found, dict) else {"value": found}
            value = facts.get("value")
            if value is not None and not isinstance(value, dict | list):
                label = facts.get("display_name") or name
                rows.append([label, screen.metric(value, facts.get("type"))])
    return rows


def compared(shown: list[dict[str, Any]]) -> list[list[Any]]:
    """A row for each metric that any of them has, a dash where one has none."""
    by_backtest = [{str(row[0]): row[1] for row in metrics_of(one)} for one in shown]
    names = list(dict.fromkeys(name for one in by_backtest for name in one))
    return [[name, *(one.get(name, "-") for one in by_backtest)] for name in names]


def _row(one: dict[str, Any]) -> list[Any]:
    computed = one["metrics"].get("computed") or {}
    figures = [
        screen.metric(
            (computed.get(name) or {}).get("value"), (computed.get(name) or {}).get("type")
        )
        for name in KEY_METRICS
    ]
    about = (
        one.get("label") or one.get("description") or (one["status"] or {}).get("status_summary")
    )
    return [
        one["backtest_id"], state(_status(one)), screen.ago(one["created_at"]), *figures,
        one["counts"]["trades"], about,
    ]  # fmt: skip


def _status(one: dict[str, Any]) -> str:
    status = one["status"]
    if status is None or status.get("successful") is None:
        return "pending"
    return "done" if status["successful"] else "failed"


def _curve(session: Session, model_id: str, backtest: str) -> str:
    path = f"/api/models/{model_id}/backtests/{backtest}/equity"
    points = session.wire.get(path, points=200)["items"]
    values = [float(one["value"]) for one in points if one["value"] is not None]
    if len(values) < 2:
        return ""
    width = min(CURVE, max(10, session.screen.out.width - 40))
    first, last = values[0], values[-1]
    change = f" ({(last / first - 1) * 100:+.2f}%)" if first > 0 else ""
    line = screen.sparkline(values, width)
    return f"{screen.number(first)} {line} {screen.number(last)}{change}"
