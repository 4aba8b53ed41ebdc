"""Prepares an account's values for arithmetic: in order, one per moment, faults noted."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from tapeline.moments import EARLIEST, LATEST
from tapeline.results.metrics.report_fields import Notes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

DAY = 86_400.0
BEFORE = 1.0  # seconds before the first entry at which an account had its start

SATURDAY, SUNDAY = 2, 3  # of days since 1970-01-01, a Thursday, modulo 7
# Days between values, and how many such periods a year has.
SPACINGS = ((5, 9, 52), (26, 33, 12), (85, 95, 4), (350, 380, 1))
RARE = 0.05  # a share of days under which a Saturday is an accident
NO_VALUE = "No account value is known, only profit and loss in money."
COVERED = 0.75  # of the expected periods; with fewer, a year of them is not a year
MOST_FILLED = 40_000  # days, more than a century: a time that is wrong must not cost a second


class Lacking(Exception):
    """Why a figure cannot be given. The reason is shown in its place."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Ordered(msgspec.Struct, frozen=True):
    """Times that rise, and the values at them. NaN stands for null."""

    times: Floats
    values: Floats
    notes: Notes


def ordered(times: Any, values: Any) -> Ordered:
    """Sort by time, keep the last of those with one time, leave out impossible times."""
    times, values = np.asarray(times, dtype="f8"), np.asarray(values, dtype="f8")
    sent = len(times)
    possible = (times >= EARLIEST) & (times < LATEST)
    if not possible.all():
        times, values = times[possible], values[possible]
    impossible = sent - len(times)
    steps = np.diff(times)
    unsorted = bool((steps < 0).any())
    if unsorted:
        order = np.argsort(times, kind="stable")
        times, values = times[order], values[order]
        steps = np.diff(times)
    last_of_time = np.append(steps > 0, [True])[: len(times)]
    duplicates = int(len(times) - last_of_time.sum())
    if duplicates:
        times, values = times[last_of_time], values[last_of_time]
    values = np.where(np.isfinite(values), values, np.nan)
    notes = Notes(sent, int(np.isnan(values).sum()), duplicates, impossible, unsorted)
    return Ordered(times, values, notes)


def led(start: float, times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """The same, led by the value right before the first: what the first entry earned counts too."""
    first = times[:1] - BEFORE
    return np.concatenate([first, times]), np.concatenate([np.full(len(first), start), values])


def from_pieces(contents: Sequence[bytes]) -> tuple[Floats, Floats]:
    """Times and values of a series that is stored as pieces of both, as doubles."""
    pieces = [np.frombuffer(content, dtype="<f8").reshape(2, -1) for content in contents]
    if not pieces:
        return np.empty(0), np.empty(0)
    return np.concatenate([one[0] for one in pieces]), np.concatenate([one[1] for one in pieces])


class Account:
    """A series as the metrics see it. Each property is computed once, or raises what is missing."""

    def __init__(
        self,
        series: Ordered,
        *,
        is_money: bool = False,
        why: str = NO_VALUE,
        is_live: bool = False,
    ) -> None:
        """`is_money`: profit and loss, not the value of an account, and why that is not known.
        `is_live`: it has a value at any time, so a day without a new one is a day without a gain.
        """
        self.series = series
        self._is_live = is_live
        self.is_money, self._why = is_money, why
        self._what = "profit and loss" if is_money else "account value"

    @cached_property
    def known(self) -> tuple[Floats, Floats]:
        """Times and values without nulls."""
        if not self.series.notes.sent:
            raise Lacking(f"There is no {self._what}.")
        if not len(self.series.times):
            raise Lacking("No time is within the years 1 to 9999; times are epoch seconds.")
        there = ~np.isnan(self.series.values)
        if not there.any():
            raise Lacking(f"Every {self._what} is null.")
        return self.series.times[there], self.series.values[there]

    @property
    def times(self) -> Floats:
        return self.known[0]

    @property
    def values(self) -> Floats:
        """At least two."""
        if len(self.known[1]) < 2:
            raise Lacking(f"There is only one {self._what}.")
        return self.known[1]

    @cached_property
    def days(self) -> Integers:
        """The days, since 1970, that have a value."""
        return self._closing[0]

    @property
    def closes(self) -> Floats:
        """The last value of each of these days, in UTC."""
        return self._closing[1]

    @cached_property
    def _closing(self) -> tuple[Integers, Floats]:
        days = np.floor_divide(self.times, DAY).astype("i8")
        last = np.append(np.diff(days) > 0, [True])
        days, closes = days[last], self.known[1][last]
        return _with_flat_days(days, closes) if self._is_live else (days, closes)

    @cached_property
    def marks(self) -> tuple[Integers, Floats]:
        """Days and closes, preceded by the very first value if its day closes with another one."""
        values, days, closes = self.values, self.days, self.closes
        first_day = int((np.floor_divide(self.times, DAY) == days[0]).sum())
        if first_day > 1:
            return np.append([days[0]], days), np.append(values[:1], closes)
        return days, closes

    @cached_property
    def changes(self) -> tuple[Integers, Floats]:
        """Each day's change in money, and its day."""
        days, marks = self.marks
        if len(marks) < 2:
            raise Lacking("All values are within one moment of one day.")
        return days[1:], np.diff(marks)

    @cached_property
    def returns(self) -> Floats:
        """Each day's return: its close relative to the close before."""
        self.require_account()
        _, changes = self.changes
        before = self.marks[1][:-1]
        if (before <= 0).any():
            raise Lacking("The account value fell to zero or below, so returns mean nothing.")
        return np.asarray(changes / before)

    @property
    def several_returns(self) -> Floats:
        """At least two."""
        if len(self.returns) < 2:
            raise Lacking("It takes at least two daily returns.")
        return self.returns

    @property
    def return_days(self) -> Integers:
        return self.changes[0]

    def require_account(self) -> None:
        if self.is_money:
            raise Lacking(self._why)

    @cached_property
    def periods_per_year(self) -> int:
        """365 for markets that never close, 252 for those with weekends; see docs/metrics.md."""
        days = self.days
        if len(days) < 2:
            raise Lacking("It takes values on at least two days.")
        gap = float(np.median(np.diff(days)))
        periods = next((per for least, most, per in SPACINGS if least <= gap <= most), None)
        if gap == 1:
            is_open = _open_weekdays(days)
            periods = 302 if is_open[SUNDAY] else 252
            if is_open[SATURDAY]:
                periods = 365
        if periods is None:
            raise Lacking("The values are neither daily, weekly, monthly, quarterly nor yearly.")
        expected = float(days[-1] - days[0]) * periods / 365.25
        if len(days) - 1 < COVERED * int(expected):
            raise Lacking(f"There are gaps: {len(days)} of some {int(expected) + 1} days.")
        return periods

    @cached_property
    def peaks(self) -> Floats:
        """The highest value so far. Profit and loss starts from zero."""
        highest = np.maximum.accumulate(self.known[1])
        return np.maximum(highest, 0.0) if self.is_money else highest

    @cached_property
    def drawdown(self) -> Floats:
        """How far each value is below the highest before it, as a share of that."""
        self.require_account()
        if len(self.known[1]) and self.peaks[0] <= 0:
            raise Lacking(
                "The first account value is not positive, so a share of it means nothing."
            )
        return np.asarray(self.known[1] / self.peaks - 1.0)

    @cached_property
    def money_drawdown(self) -> Floats:
        return np.asarray(self.known[1] - self.peaks)


def _open_weekdays(days: Integers) -> Flags:
    """On which days of the week its market is open, by the days that have values."""
    found = np.ones(7, dtype=bool)
    shares = np.bincount(days % 7, minlength=7) / len(days)
    found[[SATURDAY, SUNDAY]] = shares[[SATURDAY, SUNDAY]] >= RARE
    return found


def _with_flat_days(days: Integers, closes: Floats) -> tuple[Integers, Floats]:
    """All days of its market from the first to the last. Without those on which nothing moved, a
    year of the others would look like a year of the account, and better than it was."""
    if not 1 < days[-1] - days[0] < MOST_FILLED:
        return days, closes
    every = np.arange(days[0], days[-1] + 1)
    kept = _open_weekdays(days)[every % 7]
    kept[days - days[0]] = True
    every = every[kept]
    return every, closes[np.searchsorted(days, every, side="right") - 1]
