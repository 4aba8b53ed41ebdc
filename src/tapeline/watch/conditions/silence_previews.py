"""When a model was silent in the past, for previews."""

from collections.abc import Sequence

from sqlalchemy import select

from tapeline.store.tables.tape import orders
from tapeline.tape.events import kinds
from tapeline.tape.reading import channels
from tapeline.watch.conditions.condition import Past, Stretch, Stretches
from tapeline.watch.conditions.life_previews import NEWEST, lifecycle
from tapeline.watch.facts import last_events

MOST_ORDERS = 20_000


def no_order(past: Past) -> Stretches:
    query = (
        select(orders.c.received_at)
        .where(orders.c.tape == past.subject.tape, orders.c.seq.is_not(None))
        .order_by(orders.c.seq.desc())
        .limit(MOST_ORDERS)
    )
    times = [at for at in past.connection.scalars(query) if at is not None]
    since = min(times) if len(times) == MOST_ORDERS else past.since
    return gaps(past, times, max(since, past.since))


def no_log(past: Past) -> Stretches:
    return _of_channels(past, [kinds.LOG.channel], last_events.is_own_line)


def no_event(past: Past) -> Stretches:
    return _of_channels(past, last_events.CHANNELS, lambda _: True)


def no_heartbeat(past: Past) -> Stretches:
    name = past.asked.options.get(last_events.HEARTBEAT, last_events.UNNAMED)
    return _of_channels(past, [kinds.EVENT.channel], last_events.is_heartbeat(name))


def _of_channels(past: Past, numbers: list[int], wanted: channels.Wanted) -> Stretches:
    times, since = list[float](), past.since
    if past.subject.tape is None:
        return gaps(past, times, since)
    for number in numbers:
        found = channels.newest(
            past.connection, past.subject.tape, number, before=None, limit=NEWEST,
            wanted=wanted,
        )  # fmt: skip
        some = [one.received_at for one in found.records]
        times += some
        if found.next is not None:
            since = max(since, min(some, default=past.now))
    return gaps(past, times, since)


def gaps(past: Past, times: Sequence[float], since: float) -> Stretches:
    """When nothing came for longer than the rule allows, although the model ran. `since`: from when
    on the times are all there."""
    events, known_since = lifecycle(past)
    start, allowed = max(since, known_since), past.asked.lasting
    marks = sorted(
        [(at, "event") for at in times if at >= start]
        + [(one.at, "run" if one.is_running else "stop") for one in events
           if one.is_running is not None and one.at >= start]
    )  # fmt: skip
    # Before its first sign of life there was nobody to be silent.
    found, last, is_running = Stretches(), marks[0][0] if marks else past.now, True
    for at, what in [*marks, (past.now, "now")]:
        if is_running and at - last > allowed:
            ended = None if what == "now" else at
            found.append(Stretch(began_at=last + allowed, ended_at=ended, value=at - last))
        is_running = is_running if what in {"event", "now"} else what == "run"
        last = at
    found.looked_since = start
    return found
