"""Conditions about silence: nothing came from a model for so long, although it runs."""

import math
from collections.abc import Callable, Sequence

from tapeline.runs.run import Run
from tapeline.watch.conditions import silence_previews
from tapeline.watch.conditions.condition import (
    Condition,
    Find,
    Finding,
    Option,
    Preview,
    Question,
)
from tapeline.watch.conditions.durations import in_words
from tapeline.watch.conditions.judging import TOO_LARGE, unknown
from tapeline.watch.facts.last_events import HEARTBEAT, UNNAMED
from tapeline.watch.facts.lifecycle_events import Said

Last = Callable[[Question], float | None]


def _silence(last_of: Last, what: str) -> Find:
    """No `what` for as long as the rule's `for`: counted from the last one, from the model's start,
    from the rule's own beginning or from that of its hours, whichever is the latest."""

    def find(question: Question) -> Finding:
        running_since, is_stopped = _running(question.facts.get("lifecycle", ()))
        if is_stopped:
            return Finding(holds=False, said="It is not running, so nothing is expected of it.")
        last, asked = last_of(question), question.asked
        start = max(last or 0.0, running_since or 0.0, asked.counts_from)
        start = min(start, question.now)  # another machine's clock may have stamped it
        if math.isnan(start):
            return unknown(TOO_LARGE)
        due, silent = start + asked.lasting, max(0.0, question.now - start)
        if question.now < due:
            # Nothing that the next one makes untrue: it is not asked again before it is due.
            return Finding(
                holds=False,
                said=f"It has not been without any {what} for {in_words(asked.lasting)}.",
                value=silent,
                limit=asked.lasting,
                look_again=due,
                is_settled=True,
            )
        return Finding(
            holds=True,
            said=f"It has sent no {what} for {in_words(silent)}"
            f" ({in_words(asked.lasting)} are allowed).",
            value=silent,
            limit=asked.lasting,
            since=due,
        )

    return find


def _running(said: Sequence[Said]) -> tuple[float | None, bool]:
    """Since when it runs, and whether it does not, as far as it ever said either."""
    since = None
    for one in said:
        if one.is_running is False:
            return since, since is None
        if one.is_running:
            since = one.at
    return since, False


def _fact(name: str) -> Last:
    return lambda question: question.facts.get(name)


def _heartbeat(question: Question) -> float | None:
    name = question.asked.options.get(HEARTBEAT, UNNAMED)
    at: float | None = question.facts.get("heartbeats", {}).get(name)
    return at


def _schedule_missed(question: Question) -> Finding:
    run: Run | None = question.facts.get("deployed_run")
    if run is None or run.schedule is None:
        return Finding(holds=None, said="It has no schedule.")
    if run.desired == "stopped" or run.due_at is None or run.started_at is not None:
        return Finding(holds=False, said=f"Its schedule is {run.schedule}; nothing is due.")
    start = max(run.due_at, min(question.asked.counts_from, question.now))
    due, late = start + question.asked.lasting, max(0.0, question.now - start)
    if question.now < due or run.ended_at is not None:
        again = None if run.ended_at is not None else due
        return Finding(
            holds=False, said=f"Its schedule is {run.schedule}.", value=late, look_again=again
        )
    return Finding(
        holds=True,
        said=f"It was due {in_words(max(0.0, question.now - run.due_at))} ago by its schedule"
        f" ({run.schedule}) and has not started.",
        value=late,
        limit=question.asked.lasting,
        since=due,
    )


def _condition(
    name: str, title: str, help_: str, fact: str, find: Find, preview: Preview | None = None
) -> Condition:
    return Condition(
        name=name,
        about="silence",
        title=title,
        help=help_,
        needs=(fact, "lifecycle"),
        is_silence=True,
        find=find,
        preview=preview,
        options=(NAME,) if fact == "heartbeats" else (),
    )


NAME = Option(
    name=HEARTBEAT,
    kind="text",
    help="The `name` among the arguments of the heartbeat; any, if left out.",
)

SILENCE = (
    _condition(
        "no-event", "No event at all", "It runs and sends nothing: no order, no line, no figure.",
        "last_event", _silence(_fact("last_event"), "event"), silence_previews.no_event,
    ),
    _condition(
        "no-order", "No order", "It runs and places no order.",
        "last_order", _silence(_fact("last_order"), "order"), silence_previews.no_order,
    ),
    _condition(
        "no-log", "No log", "It runs and prints nothing.",
        "last_log", _silence(_fact("last_log"), "line"), silence_previews.no_log,
    ),
    _condition(
        "no-bar", "No bar", "It runs and reports no current bar.",
        "last_bar", _silence(_fact("last_bar"), "bar"),
    ),
    _condition(
        "no-heartbeat", "No heartbeat",
        "It runs and sends no sign of life: an event of the type heartbeat.",
        "heartbeats", _silence(_heartbeat, "heartbeat"), silence_previews.no_heartbeat,
    ),
    Condition(
        name="schedule-missed",
        about="silence",
        title="A schedule that did not run",
        help="It was due by its schedule, and did not start.",
        needs=("deployed_run",),
        is_silence=True,
        find=_schedule_missed,
    ),
)  # fmt: skip
