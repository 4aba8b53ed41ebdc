"""When a condition about behaviour would have held in the last 30 days: from the newest orders,
lines and reports, of which a bounded number is read."""

from collections.abc import Callable, Sequence

from tapeline.tape import lateness
from tapeline.tape.events import kinds
from tapeline.tape.reading import channels
from tapeline.watch.conditions import stretches
from tapeline.watch.conditions.condition import Past, Preview, Stretch, Stretches
from tapeline.watch.conditions.judging import percent_of, within
from tapeline.watch.facts import of_arrivals, of_lines, of_orders
from tapeline.watch.facts.of_orders import Fate, Filled, Placed
from tapeline.watch.heavy.messages import Match

ORDERS = 5_000
LINES = 20_000
JUDGED = 2_000  # moments at which a share is worked out anew
LEAST = 5
"""Orders within the window: the share of fewer says nothing."""


def share(placed: Sequence[Placed], fates: frozenset[Fate]) -> float | None:
    """In percent; None of too few."""
    if len(placed) < LEAST:
        return None
    return 100 * sum(one.fate in fates for one in placed) / len(placed)


def slippage(fills: Sequence[Filled]) -> float | None:
    """In percent of the expected price, weighted by value: what was paid more, or got less. None
    where no order says what it expected."""
    lost = weight = 0.0
    for one in fills:
        expected = one.placed.expected
        if expected:
            more = expected - one.price if one.placed.is_sell else one.price - expected
            lost, weight = lost + more / expected * one.value, weight + one.value
    return percent_of(lost, weight) if weight else None


def fee_share(fills: Sequence[Filled]) -> float | None:
    """Fees in percent of the traded value."""
    traded = sum(one.value for one in fills)
    return percent_of(sum(one.fee for one in fills), traded) if traded else None


def orders_per_minute(past: Past) -> Sequence[Stretch]:
    (placed, since), window = _placed(past), within(past.asked)
    times = [one.time for one in placed]
    found = stretches.of_windows(past, times, window, lambda a, b: (b - a) * 60 / window)
    return Stretches(found, since)


def share_of(fates: frozenset[Fate]) -> Preview:
    def preview(past: Past) -> Sequence[Stretch]:
        every, since = _placed(past)
        placed = every[-JUDGED:]
        found = stretches.of_windows(
            past,
            [one.time for one in placed],
            within(past.asked),
            lambda a, b: share(placed[a:b], fates),
        )
        return Stretches(found, placed[0].time if len(every) > JUDGED else since)

    return preview


def of_fills(judge: Callable[[Sequence[Filled]], float | None]) -> Preview:
    def preview(past: Past) -> Sequence[Stretch]:
        if past.subject.tape is None:
            return []
        since = past.since - within(past.asked)
        found = of_orders.fills(past.connection, past.subject.tape, since, ORDERS)
        every = sorted(found.items, key=lambda one: one.placed.time)
        fills = every[-JUDGED:]
        judged = stretches.of_windows(
            past,
            [one.placed.time for one in fills],
            within(past.asked),
            lambda a, b: judge(fills[a:b]),
        )
        is_cut = bool(fills) and (found.is_cut or len(every) > JUDGED)
        return Stretches(judged, fills[0].placed.time if is_cut else None)

    return preview


def log_line(past: Past) -> Sequence[Stretch]:
    tape = past.subject.tape
    if tape is None:
        return []
    some = channels.newest(past.connection, tape, kinds.LOG.channel, before=None, limit=LINES)
    records = [one for one in some.records if one.received_at >= past.since]
    lines = [of_lines.text_of(one) for one in records]
    answer = past.sources.heavy.matching([Match(str(past.asked.options["matches"]), lines)])[0]
    if isinstance(answer, str):
        return []
    moments = [records[place].received_at for place in answer.found]
    is_cut = some.next is not None and len(records) == len(some.records)
    if answer.looked < len(records):  # there was no time for older lines
        is_cut, records = True, records[: max(1, answer.looked)]
    return Stretches(
        stretches.of_moments(past, moments, within(past.asked)),
        records[-1].received_at if is_cut else None,
    )


def late_reports(past: Past) -> Sequence[Stretch]:
    tape = past.subject.tape
    if tape is None:
        return []
    after = max(lateness.LEAST, float(past.sources.settings.late_seconds))
    since = past.since - within(past.asked)
    found = of_arrivals.arrivals(past.connection, tape, since, after, ORDERS)
    moments = sorted(one.received_at for one in found.late)
    judged = stretches.of_windows(past, moments, within(past.asked), lambda a, b: float(b - a))
    return Stretches(judged, moments[0] if found.is_cut and moments else None)


def _placed(past: Past) -> tuple[list[Placed], float | None]:
    """Oldest first, and since when none is missing, where there are too many."""
    if past.subject.tape is None:
        return [], None
    since = past.since - within(past.asked)
    found = of_orders.placed(past.connection, past.subject.tape, since, ORDERS)
    placed = sorted((one for one in found.items if one.time >= since), key=lambda one: one.time)
    return placed, found.items[-1].received_at if found.is_cut else None
