"""When a limit on an account would have been reached in the last 30 days, on the line that is known
today: what was reported late counts at its own time here too.

numpy is imported at the first use, to keep start-up fast.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tapeline.watch.conditions import stretches
from tapeline.watch.conditions.condition import Past, Stretch
from tapeline.watch.conditions.judging import DAY, MONDAY, slack
from tapeline.watch.facts import of_money

if TYPE_CHECKING:
    from tapeline.results.metrics.account import Floats
    from tapeline.results.performance.standing import Lines

REPORTS = 2_000  # account values that are looked at, the newest


def drawdown(past: Past) -> Sequence[Stretch]:
    import numpy as np  # noqa: PLC0415

    lines = _lines(past, past.since)
    if lines is None:
        return []
    with np.errstate(all="ignore"):
        if past.asked.unit != "percent":
            values = np.maximum.accumulate(np.maximum(lines.profit, 0.0)) - lines.profit
        elif lines.growth is not None:
            values = 100 * (1 - lines.growth / np.maximum.accumulate(lines.growth))
        else:
            return []
    return _reaching(past, lines.times, values)


def loss_of_day(past: Past) -> Sequence[Stretch]:
    return _losses(past, DAY, 0.0)


def loss_of_week(past: Past) -> Sequence[Stretch]:
    return _losses(past, 7 * DAY, MONDAY)


def profit_target(past: Past) -> Sequence[Stretch]:
    lines = _lines(past, past.since)
    if lines is None or not len(lines.times):
        return []
    if past.asked.unit != "percent":
        return _reaching(past, lines.times, lines.profit)
    if lines.growth is None:
        return []
    return _reaching(past, lines.times, 100 * (lines.growth / lines.growth[0] - 1))


def account_below(past: Past) -> Sequence[Stretch]:
    lines = _lines(past, past.since)
    if lines is None or lines.value is None or past.asked.limit is None:
        return []
    below = lines.value < past.asked.limit - slack(past.asked.limit)
    return stretches.of_line(past, lines.times, lines.value, below)


def account_unexplained(past: Past) -> Sequence[Stretch]:
    import numpy as np  # noqa: PLC0415

    tape = past.subject.tape
    if tape is None:
        return []
    said = of_money.newest_reports(past.connection, tape, REPORTS)
    found = of_money.evidence_around(past.connection, tape, [time for time, _ in said])
    lines, _ = of_money.lines_of(found)
    known = [(time, one.value) for time, one in said if one.currency in (None, found.currency)]
    if lines is None or lines.value is None or not known or not len(lines.times):
        return []
    times, values = np.array(known).T
    places = np.maximum(np.searchsorted(lines.times, times, side="right") - 1, 0)
    with np.errstate(all="ignore"):
        apart = np.abs(values - lines.value[places])
        if past.asked.unit == "percent":
            apart = 100 * apart / np.abs(values)
    return _reaching(past, times, apart)


def _losses(past: Past, length: float, first: float) -> Sequence[Stretch]:
    """Of days or weeks, of which one begins at `first`."""
    import numpy as np  # noqa: PLC0415

    lines = _lines(past, past.since - length)
    is_share = past.asked.unit == "percent"
    line = None if lines is None else lines.growth if is_share else lines.profit
    if lines is None or line is None or not len(lines.times):
        return []
    begins = np.arange((past.since - first) // length * length + first, past.now, length)
    times = np.union1d(lines.times, begins)  # at its beginning a day has lost nothing
    own = (times - first) // length * length + first
    now = line[np.maximum(np.searchsorted(lines.times, times, side="right") - 1, 0)]
    before = np.searchsorted(lines.times, own, side="left") - 1
    opened = line[np.maximum(before, 0)]
    with np.errstate(all="ignore"):
        lost = np.where(before < 0, 0.0, opened) - now
        values = 100 * (1 - now / opened) if is_share else lost
    values[times < lines.times[0]] = 0.0
    return _reaching(past, times, values)


def _reaching(past: Past, times: "Floats", values: "Floats") -> Sequence[Stretch]:
    if past.asked.limit is None:
        return []
    least = past.asked.limit - slack(past.asked.limit)
    return stretches.of_line(past, times, values, values >= least)


def _lines(past: Past, since: float) -> "Lines | None":
    """Exact at the beginning of each day."""
    if past.subject.kind in ("project", "all"):
        found = past.sources.portfolios.of(past.connection, past.subject.id, past.now)
        return found.outline.lines
    if past.subject.tape is None:
        return None
    days = range(int((past.now - since) // DAY) + 2)
    midnights = [since // DAY * DAY + number * DAY for number in days]
    evidence = of_money.evidence_around(past.connection, past.subject.tape, midnights)
    return None if evidence.not_computed else of_money.lines_of(evidence)[0]
