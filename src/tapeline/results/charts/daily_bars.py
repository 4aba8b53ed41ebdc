"""The close of a symbol on each day, from its bars of a day or less."""

from collections.abc import Iterable, Sequence

import numpy as np
from sqlalchemy import Connection

from tapeline.prices import window
from tapeline.prices.columns import Bars
from tapeline.prices.intervals import DAY, HOUR, levels, spans
from tapeline.prices.series import Series
from tapeline.prices.window import Window
from tapeline.results.charts.daily_prices import MOST_DAYS, NONE, Prices
from tapeline.results.metrics.account import Floats, Integers

EARLY = 9 * HOUR
"""By how much a day may begin before 0:00 UTC: at midnight in Tokyo."""


def daily_bars(connection: Connection, every: Iterable[Series], first: int, last: int) -> Prices:
    """From one day to another, both included; the last ones of too many. Of several intervals the
    one counts that knows the price of the latest moment of a day; the first of those that do."""
    first = max(first, last - MOST_DAYS + 1)
    some = [one for one in every if one.interval <= DAY]
    found = [_of_series(connection, one, first, last) for one in some]
    every = np.concatenate([NONE.days, *(one.days for one in found)])
    days, counts = np.unique(every, return_counts=True)
    shared = days[counts > 1]
    if not len(shared):
        return first_known(found)
    pairs = zip(some, found, strict=True)
    return _latest([_timed(connection, one, own, shared) for one, own in pairs])


def first_known(some: Sequence[Prices]) -> Prices:
    """On each day the price of the first that has one."""
    known = [one for one in some if len(one.days)]
    return _first(known) if len(known) > 1 else next(iter(known), NONE)


def _latest(some: Sequence[Prices]) -> Prices:
    """On each day the price that was known last."""
    days, closes, times = (np.concatenate(column) for column in zip(*some, strict=True))
    order = np.lexsort((-times, days))  # stable: of equal moments the first
    return _first([Prices(days[order], closes[order], times[order])])


def _first(some: Sequence[Prices]) -> Prices:
    """On each day the first price of all."""
    every, closes, times = (np.concatenate(column) for column in zip(*some, strict=True))
    days, places = np.unique(every, return_index=True)  # of equal days the first
    return Prices(days, closes[places], times[places])


def _of_series(connection: Connection, one: Series, first: int, last: int) -> Prices:
    between = Window(DAY, (first - 1) * DAY, (last + 1) * DAY)
    if one.interval == DAY:
        bars = window.read(connection, one, DAY, between.since, between.until)
    else:
        bars = window.made_coarser(connection, one, between)
    return _prices(bars, first, last)


def _prices(bars: Bars, first: int, last: int) -> Prices:
    starts, closes = np.array(bars.time), np.array(bars.close)
    days = np.floor_divide(starts + EARLY, DAY).astype("i8")
    days, places = np.unique(days[::-1], return_index=True)  # of equal days the last
    closes, ends = closes[::-1][places], starts[::-1][places] + DAY
    there = (days >= first) & (days <= last) & (closes > 0)
    return Prices(days[there], closes[there], ends[there])


def _timed(connection: Connection, one: Series, prices: Prices, shared: Integers) -> Prices:
    """With the moments of the closes on these days: when the last bar of each ended."""
    times, wanted = prices.times.copy(), np.isin(prices.days, shared)
    if one.interval < DAY:
        times[wanted] = _last_starts(connection, one, prices.days[wanted]) + one.interval
    newest = times == one.newest + one.interval
    times[newest] = one.closed_at  # a bar that still grows has not ended yet
    return prices._replace(times=times)


def _last_starts(connection: Connection, one: Series, days: Integers) -> Floats:
    """Where the last bar of each day begins. Where retention has removed the bars themselves, a
    coarser one that was made from them says from when on there was one at least."""
    found = np.full(len(days), np.nan)
    for level in levels(one.interval):
        left = np.isnan(found)
        if not left.any():
            break
        found[left] = _last_of_level(connection, one, level, days[left])
    return found


def _last_of_level(connection: Connection, one: Series, level: int, days: Integers) -> Floats:
    if spans(one.interval)[level] < DAY:  # several chunks a day: the last ones are enough
        every = window.last_of_days(connection, one, level, days.tolist())
    else:
        since, until = int(days[0]) * DAY, (int(days[-1]) + 1) * DAY
        every = window.read(connection, one, level, since, until)
    starts = np.concatenate([[-np.inf], every.time])
    last = starts[np.searchsorted(starts, (days + 1) * DAY, side="left") - 1]
    return np.where(last >= days * DAY, last, np.nan)
