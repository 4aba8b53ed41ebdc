"""`tapeline logs`: a model's log, from the tape and then live."""

import re
import time
from datetime import datetime
from typing import Annotated, Any

import typer

from tapeline import terminal_text
from tapeline.cli.server.changes import Changes
from tapeline.cli.server.following import tell_trouble
from tapeline.cli.server.options import Model
from tapeline.cli.server.session import Session
from tapeline.cli.terminal.command import command
from tapeline.cli.terminal.failures import Misused
from tapeline.cli.terminal.lines import show_line

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
PAGE = 500
LOOKED_EVERY = 10.0  # seconds, while no line comes
SHORT = 1.0  # seconds: Ctrl-C is only handled between waits


@command(
    "tapeline logs -f",
    "tapeline logs Trend --since 1h --type stderr",
    "tapeline logs Trend --backtest 8xk2… -n 1000 --json",
)
def logs(
    context: typer.Context,
    model: Model = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Follow new lines until Ctrl-C.")
    ] = False,
    number: Annotated[
        int | None,
        typer.Option("--number", "-n", min=0, help="How many of the last lines; 100 by default."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", help="Only newer lines: 30s, 15m, 2h, 3d, or 2026-01-31T12:00."),
    ] = None,
    type: Annotated[
        str | None,
        typer.Option("--type", help="Only lines of these types: stdout, stderr, system…"),
    ] = None,
    containing: Annotated[
        str | None, typer.Option("--grep", "-g", help="Only lines that contain this text.")
    ] = None,
    backtest: Annotated[
        str | None, typer.Option("--backtest", help="The log of one backtest instead.")
    ] = None,
    times: Annotated[bool, typer.Option(help="Show when each line was printed.")] = True,
) -> None:
    """Show a model's log; -f follows it.

    With --json, prints one object per line.
    """
    session = Session.of(context)
    found = session.model(model)
    path = f"/api/models/{found['id']}/{f'backtests/{backtest}/' if backtest else ''}logs"
    oldest = None if since is None else moment_of(since, time.time())
    count = number if number is not None else 100 if oldest is None else None
    # Older lines are on the tape, newer ones in the stream: no line comes twice.
    head = session.wire.get(path, limit=1)["items"]
    after = int(head[0]["seq"]) if head else 0
    for line in _lines(session, path, count, oldest, {"type": type, "q": containing}):
        show_line(session.screen, line, times=times)
        after = max(after, line["seq"])
    trouble = _tell_trouble(session, found["id"], backtest, None)
    if not head and not follow:
        session.screen.note(f"{found['name']} has not printed anything yet.")
    if not follow:
        return
    looked, changes = time.monotonic(), Changes(session, found["id"], after)
    while True:
        if (change := changes.next(SHORT)) is None:
            if time.monotonic() > looked + LOOKED_EVERY:
                looked = time.monotonic()
                trouble = _tell_trouble(session, found["id"], backtest, trouble)
            continue
        line = change.fields
        if change.kind == ("backtest-log" if backtest else "log") and (
            (backtest is None or line.get("backtest_id") == backtest)
            and (type is None or line.get("type") == type)
            and (containing is None or containing in terminal_text.plain(str(line.get("line"))))
        ):
            show_line(session.screen, line, times=times)


def _tell_trouble(
    session: Session, model_id: str, backtest: str | None, told: str | None
) -> str | None:
    """Why no more lines come, if the model's host is silent or nobody can start it."""
    if backtest is None:
        run = session.find_model(model_id).get("run")
    else:
        found = session.wire.get(f"/api/models/{model_id}/runs", backtest=backtest, limit=1)
        run = next(iter(found["items"]), None)
    return tell_trouble(session, run or {}, told)


def _lines(
    session: Session, path: str, count: int | None, oldest: float | None, wanted: dict[str, Any]
) -> list[dict[str, Any]]:
    """The newest matching lines, oldest first."""
    taken: list[dict[str, Any]] = []
    cursor = None
    while count is None or len(taken) < count:
        size = PAGE if count is None else min(PAGE, count - len(taken))
        answer = session.wire.get(path, limit=size, cursor=cursor, **wanted)
        new = [one for one in answer["items"] if oldest is None or one["received_at"] >= oldest]
        taken += new
        cursor = answer["next"]
        if cursor is None or len(new) < len(answer["items"]):
            break
    return taken[::-1]


def moment_of(text: str, now: float) -> float:
    """Epoch seconds of `2h` ago, or of a date with or without a time, in local time."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", text.strip())
    if found:
        return now - float(found[1]) * UNITS[found[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError):
        raise Misused(
            f"--since {text} is not a time. Write 30s, 15m, 2h, 3d, or 2026-01-31T12:00."
        ) from None
