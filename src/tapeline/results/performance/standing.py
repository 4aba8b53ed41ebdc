"""An account in the few figures that limits are about: its value, its peak, this day, this week.

The same lines as the page of a model has, so money that comes or goes is neither a loss nor a peak,
and what is reported late counts at its own time. Days are those of UTC, weeks begin on Monday.
"""

from typing import NamedTuple

import msgspec
import numpy as np

from tapeline.results.metrics.account import DAY, Floats
from tapeline.results.performance.account_line import RUINED, AccountLine

MONDAY = 4 * DAY  # 1970 began on a Thursday


class Fall(msgspec.Struct, frozen=True):
    """From the highest until now, to where it stands now."""

    money: float
    """Not negative."""
    share: float | None
    """Of what the account had grown to; None where that means nothing."""
    peak_at: float


class Gained(msgspec.Struct, frozen=True):
    """Since a moment. Negative for a loss."""

    money: float
    share: float | None


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    currency: str | None
    at: float | None
    """Of the newest entry."""
    value: float | None
    """Of the account; None without one."""
    profit: float
    gained: Gained
    """Since the account began."""
    fall: Fall
    day: Gained
    week: Gained
    reason: str | None = None
    """Why there is no account, or no share."""
    as_of: float


class Lines(NamedTuple):
    """What figures are made from: one value for each moment."""

    times: Floats
    profit: Floats
    growth: Floats | None
    """None, or NaN from some moment on, where shares mean nothing."""
    value: Floats | None

    def cut(self, until: float) -> "Lines":
        end = int(np.searchsorted(self.times, until, side="right"))
        return Lines(*(None if one is None else one[:end] for one in self))  # type: ignore[arg-type]


def of_account(line: AccountLine) -> Lines:
    return Lines(line.times, line.profit, line.growth, line.value)


def of_money(times: Floats, profits: Floats) -> Lines:
    """Without a capital: profit and loss alone."""
    last = np.append(np.diff(times) > 0, [True])[: len(times)]  # of each moment
    return Lines(times[last], profits[last], None, None)


def day_of(now: float) -> float:
    """When the day of a moment began."""
    return now // DAY * DAY


def week_of(now: float) -> float:
    return (now - MONDAY) // (7 * DAY) * (7 * DAY) + MONDAY


def standing(lines: Lines, currency: str | None, reason: str | None, now: float) -> Standing:
    if lines.growth is not None and len(lines.growth) and np.isnan(lines.growth[-1]):
        reason = reason or RUINED
    known = len(lines.times) > 0
    return Standing(
        currency=currency,
        at=float(lines.times[-1]) if known else None,
        value=float(lines.value[-1]) if known and lines.value is not None else None,
        profit=float(lines.profit[-1]) if known else 0.0,
        gained=gained_since(lines, -np.inf),
        fall=fallen(lines),
        day=gained_since(lines, day_of(now)),
        week=gained_since(lines, week_of(now)),
        reason=reason,
        as_of=now,
    )


def fallen(lines: Lines) -> Fall:
    """Money by money and share by share: after a deposit the two have different peaks."""
    times, profit, growth, _ = lines
    if not len(times):
        return Fall(0.0, None, 0.0)
    share, highest = None, int(np.argmax(profit))
    money = max(0.0, max(0.0, float(profit[highest])) - float(profit[-1]))
    if growth is not None and not np.isnan(growth[-1]):
        highest = int(np.argmax(growth))
        share = float(1.0 - growth[-1] / growth[highest])
    return Fall(money, share, float(times[highest]))


def gained_since(lines: Lines, moment: float) -> Gained:
    """Since right before a moment."""
    times, profit, growth, _ = lines
    if not len(times):
        return Gained(0.0, None if growth is None else 0.0)
    before = int(np.searchsorted(times, moment, side="left")) - 1
    start = 0.0 if before < 0 else float(profit[before])
    share = None
    if growth is not None and not np.isnan(growth[-1]):
        share = float(growth[-1] / growth[max(before, 0)] - 1.0)
    return Gained(float(profit[-1]) - start, share)
