"""The close of a symbol on each day, from its bars of a day or less."""

from collections.abc import Iterable, Sequence

import numpy as np
from sqlalchemy import Connection

from tapeline.prices import window
from tapeline.prices.columns import Bars
from tapeline.prices.intervals import DAY, HOUR
from tapeline.prices.series import Series
from tapeline.prices.window import Window
from tapeline.results.charts.daily_prices import MOST_DAYS, NONE, Prices

EARLY = 9 * HOUR
"""By how much a day may begin before 0:00 UTC: at midnight in Tokyo."""


def daily_bars(connection: Connection, every: Iterable[Series], first: int, last: int) -> Prices:
    """From one day to another, both included; the last ones of too many. Of several intervals the
    finest counts on each day: its last bar is the newest."""
    first = max(first, last - MOST_DAYS + 1)
    found = [_of_series(connection, one, first, last) for one in every if one.interval <= DAY]
    return first_known(found)


def first_known(some: Sequence[Prices]) -> Prices:
    """On each day the price of the first that has one."""
    known = [one for one in some if len(one.days)]
    if len(known) < 2:
        return known[0] if known else NONE
    every, closes, times = (np.concatenate(column) for column in zip(*known, strict=True))
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
