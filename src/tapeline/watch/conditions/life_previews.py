"""When conditions about life held in the past, for previews."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from sqlalchemy import ColumnElement, select

from tapeline.runs.run import DEPLOYED
from tapeline.store.tables.runs import runs, samples
from tapeline.tape.events import kinds
from tapeline.tape.reading import channels
from tapeline.watch.conditions.condition import Past, Preview, Stretch, Stretches
from tapeline.watch.facts.lifecycle_events import Said, said
from tapeline.watch.facts.resource_use import MB

NEWEST = 2_000
"""Events of one channel that a preview reads at most."""
MOST_RUNS, MOST_SAMPLES = 500, 20_000


def lifecycle(past: Past) -> tuple[list[Said], float]:
    """The oldest first, and since when they are known."""
    if past.subject.tape is None:
        return [], past.since
    found = channels.newest(
        past.connection, past.subject.tape, kinds.LIFECYCLE.channel, before=None, limit=NEWEST
    )
    events = [said(one.time, one.body) for one in reversed(found.records)]
    known_since = past.since if found.next is None or not events else events[0].at
    return [one for one in events if one.at >= past.since], max(past.since, known_since)


def while_true(changes: Iterable[tuple[float, bool]], now: float) -> Iterator[Stretch]:
    """Stretches from moments at which something became true or false, in order."""
    began: float | None = None
    for at, is_true in changes:
        if is_true and began is None:
            began = at
        elif not is_true and began is not None:
            yield Stretch(began_at=began, ended_at=at)
            began = None
    if began is not None and began <= now:
        yield Stretch(began_at=began, ended_at=None)


def not_running(past: Past) -> Stretches:
    """From an end that nobody wanted until it ran again. What runs by a schedule ends each time."""
    newest = select(runs.c.schedule).where(
        runs.c.model_id == past.subject.id, runs.c.kind.in_(DEPLOYED)
    )
    if past.connection.scalar(newest.order_by(runs.c.created_at.desc()).limit(1)) is not None:
        return Stretches(looked_since=past.since)
    events, since = lifecycle(past)
    changes = [
        (one.at, not one.is_running and one.message != "Stopped")
        for one in events
        if one.is_running is not None
    ]
    return Stretches(while_true(changes, past.now), looked_since=since)


def ended_so(messages: frozenset[str]) -> Preview:
    def preview(past: Past) -> Stretches:
        events, since = lifecycle(past)
        healthy: float = past.asked.options["within"]
        changes: list[tuple[float, bool]] = []
        for one in events:
            while changes and not changes[-1][1] and changes[-1][0] > one.at:
                changes.pop()  # it crashed again before it counted as well
            if one.message in messages:
                changes.append((one.at, True))
            elif one.is_running and changes and changes[-1][1]:
                changes.append((one.at + healthy, False))
        known = [one for one in changes if one[0] <= past.now]
        return Stretches(while_true(known, past.now), looked_since=since)

    return preview


def restarting(past: Past) -> Stretches:
    events, since = lifecycle(past)
    within, limit = past.asked.options["within"], past.asked.limit or 0.0
    times = [one.at for one in events if one.message == "Restarting"]
    moments = sorted([(at, 1) for at in times] + [(at + within, -1) for at in times])
    count, changes = 0, list[tuple[float, bool]]()
    for at, step in moments:
        count += step
        if at <= past.now:
            changes.append((at, count >= limit))
    return Stretches(while_true(changes, past.now), looked_since=since)


def given_up(past: Past) -> Stretches:
    query = (
        select(runs.c.created_at, runs.c.ended_at, runs.c.state)
        .where(runs.c.model_id == past.subject.id, runs.c.kind.in_(DEPLOYED))
        .order_by(runs.c.created_at.desc())
        .limit(MOST_RUNS)
    )
    rows = list(reversed(past.connection.execute(query).all()))
    found = Stretches()
    for row, after in pairwise([*rows, None]):
        if row is not None and row.state in {"crashed", "failed"} and row.ended_at >= past.since:
            ended = None if after is None else after.created_at
            found.append(Stretch(began_at=row.ended_at, ended_at=ended))
    found.looked_since = past.since
    return found


def memory_near(past: Past) -> Stretches:
    return _near(past, samples.c.memory, runs.c.memory_mb * MB)


def disk_near(past: Past) -> Stretches:
    return _near(past, samples.c.disk, samples.c.disk_limit)


def _near(past: Past, used: ColumnElement[Any], allowed: ColumnElement[Any]) -> Stretches:
    query = (
        select(samples.c.at, used.label("used"), allowed.label("allowed"))
        .join(runs, runs.c.id == samples.c.run_id)
        .where(
            runs.c.model_id == past.subject.id,
            runs.c.kind.in_(DEPLOYED),
            samples.c.at >= past.since,
            used.is_not(None),
        )
        .order_by(samples.c.at.desc())
        .limit(MOST_SAMPLES)
    )
    rows = list(reversed(past.connection.execute(query).all()))
    limit = past.asked.limit or 0.0
    changes = [(row.at, 100.0 * row.used / row.allowed >= limit) for row in rows]
    since = rows[0].at if len(rows) == MOST_SAMPLES else past.since
    return Stretches(while_true(changes, past.now), looked_since=since)
