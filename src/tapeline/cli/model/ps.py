"""`tapeline ps`: the models of a project at a glance."""

import time
from typing import Annotated, Any

import typer

from tapeline.cli.server.session import Session
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.screen import signed, state, styled, table_of

EVERY = 2.0  # seconds between two refreshes
NEARLY_FULL = 0.8  # of the quota of a tape
NEWS_FOR = 86400.0  # seconds
WANTED = {"pending", "installing", "running", "restarting"}
GOING = {*WANTED, "stopping", "unreachable"}


@command("tapeline ps", "tapeline ps --watch", "tapeline ps --running --json")
def ps(
    context: typer.Context,
    running: Annotated[
        bool, typer.Option("--running", "-r", help="Only models that are running or starting.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Refresh every two seconds until Ctrl-C.")
    ] = False,
) -> None:
    """List a project's models with their state and results."""
    session = Session.of(context)
    if watch:
        _watch(session, running)
    elif session.choices.as_json:
        session.screen.json(_found(session, running))
    else:
        found = _found(session, running)
        nothing = "no running models" if running else "no models yet. Make one: tapeline init"
        empty = f"Project {session.project['name']} has {nothing}"
        session.screen.table(_columns(found), map(_row_for(found), found), empty=empty)
        for hold in {run["hold"] for one in found if (run := one["run"] or {}).get("hold")}:
            session.screen.note(f"This server is {hold}", "yellow")
        for one in found:
            run = one["run"] or {}
            said = run.get("trouble") or _news(run)
            if said:
                session.screen.note(f"{one['name']}: {said}", "yellow")


def _watch(session: Session, running: bool) -> None:
    if session.choices.as_json or not session.screen.out.is_terminal:
        while True:
            session.screen.json_line(_found(session, running))
            time.sleep(EVERY)
    from rich.live import Live  # noqa: PLC0415

    def picture() -> Any:
        found = _found(session, running)
        rows = list(map(_row_for(found), found))
        return table_of(_columns(found), rows, session.screen.out.width)

    with Live(picture(), console=session.screen.out, auto_refresh=False) as live:
        while True:
            time.sleep(EVERY)
            live.update(picture(), refresh=True)


def _found(session: Session, running: bool) -> list[dict[str, Any]]:
    """Two requests, however many models there are."""
    project = f"/api/projects/{session.project['id']}"
    runs = {run["model_id"]: run for run in session.wire.get(f"{project}/runs")["items"]}
    models = session.wire.get(f"{project}/models")["items"]
    found = [_described(model, runs.get(model["id"])) for model in models]
    return [one for one in found if not running or (one["run"] or {}).get("state") in GOING]


def _described(model: dict[str, Any], run: dict[str, Any] | None) -> dict[str, Any]:
    """A model as `GET /api/models/{model}` shows it, with more: there `version` is the newest."""
    newest = model.pop("newest_version", model["version"])
    return model | {"version": newest, "run": run}


def _columns(found: list[dict[str, Any]]) -> list[str]:
    columns = ["~model", "id", "state", ">ver", "?since", ">memory", "?>cpu", ">restarts", "?>tape"]
    if _have_hosts(found):
        columns.append("?host")
    return [*columns, ">p&l"] if _have_results(found) else columns


def _tape(usage: dict[str, Any] | None) -> str:
    """The size of the tape, and how full it is once it matters; older servers do not report it."""
    if usage is None:
        return "-"
    used, quota = usage["tape"]["used"], usage["tape"]["quota"]
    full = used / quota if quota else 0.0
    return f"{screen.size(used)} ({full:.0%})" if full >= NEARLY_FULL else screen.size(used)


def _news(run: dict[str, Any]) -> str | None:
    """Of a run that goes on: what happened to the one before it, for a day."""
    is_new = time.time() - run.get("created_at", 0.0) < NEWS_FOR
    return run.get("reason") if is_new and run.get("state") in WANTED else None


def _have_hosts(found: list[dict[str, Any]]) -> bool:
    """More than one: which it is says something."""
    return len({run.get("host") for one in found if (run := one["run"])} - {None}) > 1


def _have_results(found: list[dict[str, Any]]) -> bool:
    return any((one["pnl"] or {}).get("value") is not None for one in found)


def _row_for(found: list[dict[str, Any]]) -> Any:
    have_results, have_hosts = _have_results(found), _have_hosts(found)

    def row(one: dict[str, Any]) -> list[Any]:
        run, version = one["run"] or {}, one["version"] or {}
        is_unknown = _is_lost(run) or run.get("hold")
        cells = [
            one["name"],
            one["id"],
            _state(run),
            run.get("version") or version.get("version") or "-",
            screen.ago(run.get("ended_at") or run.get("started_at") or run.get("created_at")),
            screen.size(None if is_unknown else run.get("memory")),
            "-" if is_unknown or run.get("cpu") is None else f"{run['cpu']:.2f}",
            run.get("restarts", "-"),
            _tape(one.get("usage")),
            *([run.get("host") or "-"] if have_hosts else []),
        ]
        return [*cells, result(one["pnl"] or {})] if have_results else cells

    return row


def _state(run: dict[str, Any]) -> Any:
    """With a mark where nobody knows it any more, or where it waits for such a run."""
    if run.get("hold"):
        return styled("on hold", "yellow")
    word = run.get("state", "never ran")
    is_marked = _is_lost(run) and word != "unreachable"
    marked = [state(word), styled("(host silent)", "yellow")]
    return styled(" ").join(marked) if is_marked else state(word)


def _is_lost(run: dict[str, Any]) -> bool:
    """Older servers do not say it."""
    return bool(run.get("silent_host"))


def result(pnl: dict[str, Any]) -> Any:
    """Profit and loss with its currency, every other currency too, and what is not in it."""
    value, currency = pnl.get("value"), pnl.get("currency")
    if value is None:
        return styled("not computed", "yellow") if pnl.get("is_partial") else signed(None)
    main = signed(value, currency)
    parts = [styled(" ").join([main, styled(currency)]) if currency else main]
    for name, one in (pnl.get("by_currency") or {}).items():
        if name != currency:
            parts.append(styled(" ").join([signed(one, name), styled(name)]))
    if pnl.get("is_partial"):
        parts.append(styled("partial", "yellow"))
    return styled(", ").join(parts)
