"""`tapeline backtests`: list, show and compare backtests."""

import json
from typing import Annotated, Any

import typer

from tapeline.cli.server.options import Count, Model, ModelOption
from tapeline.cli.server.session import Session
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.failures import Misused
from tapeline.cli.terminal.screen import better, state
from tapeline.polling import poll

IN_A_LIST = ("total_return", "sharpe", "max_drawdown")
KEY_METRICS = (
    "total_return", "cagr", "profit", "sharpe", "sortino", "calmar", "volatility", "max_drawdown",
    "longest_drawdown_days", "var", "win_rate_days", "round_trips", "win_rate_trades",
    "profit_factor", "expectancy", "exposure", "turnover_yearly", "fees",
)  # fmt: skip
LISTED = (
    "backtest", "status", "when", ">return", ">sharpe", ">drawdown", "?>trades", "?~called with",
    "?~about",
)  # fmt: skip
MOST_COMPARED = 8
CURVE = 60  # columns of a sparkline where the terminal has room
COMPUTING_PATIENCE = 20.0  # seconds to wait for metrics that are being computed

All = Annotated[bool, typer.Option("--all", help="Show every metric.")]
BacktestId = Annotated[str, typer.Argument(help="The backtest's id.", show_default=False)]


@command("tapeline backtests list", "tapeline backtests list Trend -n 5 --json")
def list_backtests(context: typer.Context, model: Model = None, number: Count = 20) -> None:
    """List a model's backtests."""
    session = Session.of(context)
    found = session.model(model)
    items = session.everything(f"/api/models/{found['id']}/backtests", number)
    if session.choices.as_json:
        session.screen.json(items)
        return
    session.screen.table(
        LISTED,
        [_row(one) for one in items],
        empty=f"{found['name']} has no backtests yet. Run one with: tapeline backtest",
    )


@command("tapeline backtests show 8xk2…", "tapeline backtests show 8xk2… --model Trend --json")
def show(
    context: typer.Context,
    backtest: BacktestId,
    model: ModelOption = None,
    everything: All = False,
) -> None:
    """Show one backtest: status, metrics, equity."""
    session = Session.of(context)
    found = session.model(model)
    shown = shown_when_computed(session, found["id"], backtest)
    if session.choices.as_json:
        session.screen.json(shown)
    else:
        show_backtest(session, found["id"], shown, everything=everything)


@command("tapeline backtests compare", "tapeline backtests compare 8xk2… p3fz… --model Trend")
def compare(
    context: typer.Context,
    backtests: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BACKTEST...",
            help="Two to eight ids; the two newest by default.",
            show_default=False,
        ),
    ] = None,
    model: ModelOption = None,
    everything: All = False,
) -> None:
    """Compare backtests, metric by metric.

    The best value of each row is green, where one is better than the others.
    """
    session = Session.of(context)
    found = session.model(model)
    chosen = backtests or _newest(session, found["id"])
    if not 2 <= len(chosen) <= MOST_COMPARED:
        raise Misused(f"Name two to {MOST_COMPARED} backtests.")
    path = f"/api/models/{found['id']}/backtests-compare"
    answer = session.wire.get(path, ids=",".join(chosen), align="start", points=200)
    if session.choices.as_json:
        session.screen.json(answer)
        return
    rows = arguments_compared(answer["items"]) + compared(answer["metrics"], everything=everything)
    names = [one["backtest_id"] for one in answer["items"]]
    session.screen.table(["metric", *(f">={name}" for name in names)], rows)
    session.screen.say()
    for one in answer["items"]:
        values = [value for value in one["values"] if value is not None]
        line = screen.sparkline(values, _width(session))
        session.screen.say(f"{one['backtest_id']}  {line}")


def _newest(session: Session, model_id: str) -> list[str]:
    """The two newest that can be compared, the older first."""
    items = session.everything(f"/api/models/{model_id}/backtests", 20)
    done = [one["backtest_id"] for one in items if _status(one) == "done"]
    return done[1::-1]


def shown_when_computed(session: Session, model_id: str, backtest: str) -> dict[str, Any]:
    """With its metrics, unless they take very long."""
    path = f"/api/models/{model_id}/backtests/{backtest}"
    found: dict[str, Any] = poll(
        lambda: session.wire.get(path),
        within=COMPUTING_PATIENCE,
        every=0.5,
        done=lambda found: not found["metrics"].get("computing"),
    )
    return found


def show_backtest(
    session: Session, model_id: str, one: dict[str, Any], *, everything: bool = False
) -> None:
    out = session.screen
    status = one["status"] or {}
    elapsed = status.get("time_elapsed")
    took = f" in {screen.span(elapsed)}" if elapsed else ""
    summary = status.get("status_summary") or ""
    said = f": {summary}" if summary and summary != "Success" else ""
    word = _status(one)
    out.say(f"{word.capitalize()}{took}{said}", screen.STATES.get(word))
    if (details := str(status.get("status_details") or "")) and details != summary:
        out.say_lines(details.rstrip())
    if called := called_with(one):
        out.say(f"Called with {called}", "dim")
    period = [screen.day(one.get(key)) for key in ("start_time", "stop_time")]
    if "-" not in period:
        symbols = ", ".join(one.get("symbols") or [])
        out.say(f"{' to '.join(period)}  {symbols}  {one['counts']['trades']} trades", "dim")
    rows = metrics_of(one, everything=everything)
    out.table(["metric", ">value"], rows, empty="It has no metrics.")
    if not everything and len(rows) < len(metrics_of(one, everything=True)):
        out.note(f"More with: tapeline backtests show {one['backtest_id']} --all")
    if curve := _curve(session, model_id, one["backtest_id"]):
        out.say(curve)


def metrics_of(one: dict[str, Any], *, everything: bool) -> list[list[Any]]:
    """Computed metrics first, then those sent by the model; those without a value are left out."""
    rows = []
    for kind in ("computed", "custom"):
        for name, found in (one["metrics"].get(kind) or {}).items():
            if kind == "computed" and not everything and name not in KEY_METRICS:
                continue
            facts = found if isinstance(found, dict) else {"value": found}
            value = facts.get("value")
            if value is not None and not isinstance(value, dict | list):
                label = facts.get("display_name") or name
                rows.append([label, screen.metric(value, facts.get("type"))])
    return rows


def called_with(one: dict[str, Any]) -> str:
    """Its arguments as --arg takes them; empty where there are none."""
    given = (one.get("arguments") or {}).items()
    return " ".join(
        f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in given
    )


def arguments_compared(items: list[dict[str, Any]]) -> list[list[Any]]:
    """A row for each argument that differs."""
    given = [one.get("arguments") or {} for one in items]
    names = dict.fromkeys(name for one in given for name in one)
    rows = []
    for name in names:
        cells = [json.dumps(one[name]) if name in one else "-" for one in given]
        if len(set(cells)) > 1:
            rows.append([name, *cells])
    return rows


def compared(metrics: list[dict[str, Any]], *, everything: bool) -> list[list[Any]]:
    """A row for each metric that any of them has, the best marked."""
    rows = []
    for one in metrics:
        wanted = everything or one["name"] in KEY_METRICS
        if wanted and any(value is not None for value in one["values"]):
            cells = [
                better(screen.metric(value, one["type"]), is_best=place in one["best"])
                for place, value in enumerate(one["values"])
            ]
            rows.append([one["display_name"], *cells])
    return rows


def _row(one: dict[str, Any]) -> list[Any]:
    computed = one["metrics"].get("computed") or {}
    figures = [
        screen.metric(
            (computed.get(name) or {}).get("value"), (computed.get(name) or {}).get("type")
        )
        for name in IN_A_LIST
    ]
    about = (
        one.get("label") or one.get("description") or (one["status"] or {}).get("status_summary")
    )
    return [
        one["backtest_id"], state(_status(one)), screen.ago(one["created_at"]), *figures,
        one["counts"]["trades"], called_with(one), about,
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
    first, last = values[0], values[-1]
    change = f" ({(last / first - 1) * 100:+.2f}%)" if first > 0 else ""
    line = screen.sparkline(values, _width(session))
    return f"{screen.number(first)} {line} {screen.number(last)}{change}"


def _width(session: Session) -> int:
    return min(CURVE, max(10, session.screen.out.width - 40))
