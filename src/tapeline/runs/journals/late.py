"""What a run printed on a host that was lost, when that host is back: between two notes, and dated
as it was printed.

The run has ended in its row, and another one may go on in its place. So its states become lines:
they change neither the model's lifecycle nor what was decided about the run. How far this has come
is in the row, in its reason and its journal, and changes with the lines in one transaction.
"""

from datetime import UTC, datetime

from tapeline.runs.described_hosts import DECLARED_GONE
from tapeline.runs.journals import meaning
from tapeline.runs.journals.journal import Chunk
from tapeline.runs.journals.meaning import RunUpdate
from tapeline.runs.journals.records import Record
from tapeline.runs.run import Run

NOT_RENEWED = "did not renew its lease"
"""In the reason for which a run ended that another took over."""
ARRIVING = " Its host is back, and its last output arrives now."
ARRIVED = " Its host came back, and its last output arrived late."


def may_have_more(run: Run) -> bool:
    """Whether it ended in its row before its journal was read to the end."""
    ended_unseen = DECLARED_GONE in run.reason or NOT_RENEWED in run.reason
    return run.ended_at is not None and ended_unseen and ARRIVED not in run.reason


def take(made: RunUpdate, chunk: Chunk) -> None:
    """The next part of its journal."""
    run, first = made.run, chunk.records[0].time if chunk.records else made.run.ended_at or 0.0
    if ARRIVING not in run.reason:
        made.line(
            f"[The host {run.host} is back. Run {run.id} printed the following lines there, until"
            " the next note like this one: they arrived late]",
            "system",
            first,
        )
        made.changes["reason"] = run.reason + ARRIVING
    if chunk.lost:
        made.lost(chunk.lost, first, meaning.UNREAD)
    for one in chunk.records:
        _take(made, one)
    if chunk.over:
        made.over(chunk.over, first)
    made.changes["journal"] = chunk.offset


def close(made: RunUpdate, last_seen: float | None) -> None:
    """There is no more. `last_seen` is when it was last alive, if its journal does not say when it
    ended."""
    run = made.run
    has_printed = ARRIVING in run.reason
    reason = run.reason.replace(ARRIVING, "")
    if not has_printed:
        if DECLARED_GONE not in reason:
            return  # it ended with its lease, as its reason says
        made.changes["ended_at"] = last_seen or run.ended_at
    ended_at = made.changes.get("ended_at") or run.ended_at or 0.0
    until = datetime.fromtimestamp(ended_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    if has_printed:
        said = f"[End of the lines that arrived late. Run {run.id} ended at {until}]"
    else:
        said = (
            f"[The host {run.host} is back: run {run.id} went on there until {until}. It printed"
            " nothing more]"
        )
    made.line(said, "system", ended_at)
    made.changes["reason"] = reason + ARRIVED


def _take(made: RunUpdate, record: Record) -> None:
    state = record.state
    if state is None:
        made.line(record.text, record.kind, record.time)
        return
    match state.get("event"):
        case "started":
            made.line("Running.", "system", record.time)
        case "restarting":
            made.line(f"Restarting in {state['after']:g} s.", "system", record.time)
        case "ended":
            made.changes |= {"ended_at": record.time, "exit_code": state["exit_code"]}
            made.line(f"{meaning.how(state)}.", "system", record.time)
        case "finished":
            made.changes["ended_at"] = record.time
            if made.run.backtest_id is not None and state["outcome"] == "exited":
                made.line(
                    "Its result is not stored, because the backtest was started again or given up.",
                    "system",
                    record.time,
                )
        case _:
            made.take_gap(state, record.time)
