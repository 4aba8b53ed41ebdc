"""A model in the portfolio's currency, day by day. Pure: a holding, days and rates in, lines out.

A model counts from the first day on which its capital is there and every rate that it needs is
known. What it brings on that day is a flow and no gain.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tapeline.results.metrics.account import Flags, Floats, Integers
from tapeline.results.portfolio.holding import Holding


class Line(NamedTuple):
    """One row of each matrix of a portfolio: an amount for every day."""

    values: Floats
    """At the close; zero before it counts."""
    flows: Floats
    """What came in, or went out, on the day."""
    inflows: Floats
    """What came in and could earn on that day: capital and deposits."""
    own: Flags
    """The days that have a return of its own: something changed, and the day before counts."""
    since: int
    """The place of the day from which on it counts; after the last if it never does."""


def own_days(found: Holding) -> Integers:
    """The days on which something changed it."""
    deposited = [] if found.deposited is None else [found.deposited]
    return np.unique(np.concatenate([np.array(deposited, dtype="i8"), *found.days]))


def line(found: Holding, own: Integers, days: Integers, rates: Mapping[str, Floats]) -> Line:
    """`own`: the days on which something changed it. `rates` turn an amount of a currency into the
    portfolio's, NaN where none is known."""
    joined = _joined(found, own)
    begun = days >= joined
    known = begun.copy()
    values, inflows, flows = (np.zeros(len(days)) for _ in range(3))
    start = int(np.argmax(begun)) if begun.any() else len(days)
    capital = found.capital
    for currency in sorted(found.currencies):
        rate = rates[currency]
        known &= ~np.isnan(rate)
        balance = _profit(found, currency, days)
        came, went = _flowed(found, currency, days)
        if capital is not None and capital.currency == currency and start < len(days):
            came[start] += capital.amount
        balance += np.cumsum(came + went)
        if 0 < start < len(days) and own[0] < days[start]:
            came[start] += balance[start - 1]  # gained before the capital was there
        values += balance * rate
        flows += (came + went) * rate
        inflows += came * rate
    since = int(np.argmax(known)) if known.any() else len(days)
    for amounts in (values, flows, inflows):
        amounts[:since] = 0.0
    changed = np.zeros(len(days), dtype=bool)
    changed[np.searchsorted(days, own[own >= days[0]])] = True
    if since < len(days) and (since > start or joined < days[0]):
        # It had begun before: what it is worth at this close comes in, and earned nothing here.
        flows[since], inflows[since] = values[since], 0.0
        changed[since] = False
    return Line(values, flows, inflows, changed, since)


def _joined(found: Holding, own: Integers) -> float:
    """The day of its first entry, or a later one of the deposit that is its capital."""
    if not len(own):
        return math.inf
    return float(max(own[0], own[0] if found.deposited is None else found.deposited))


def _profit(found: Holding, currency: str, days: Integers) -> Floats:
    daily = found.profits.get(currency)
    if daily is None:
        return np.zeros(len(days))
    places = np.searchsorted(daily.days, days, side="right")
    return np.concatenate([[0.0], daily.profits])[places]


def _flowed(found: Holding, currency: str, days: Integers) -> tuple[Floats, Floats]:
    """What came and what went on each day. Flows before the first day count on it."""
    came, went = np.zeros(len(days)), np.zeros(len(days))
    flowed = found.flows.get(currency)
    if flowed is not None:
        places = np.searchsorted(days, flowed.days)
        np.add.at(came, places, flowed.came)
        np.add.at(went, places, flowed.went)
    return came, went
