"""The value of an account over time, and its growth: money that comes or goes is no return.

Pure: profit and loss and flows in, lines out. Each flow ends a period; within one the
growth moves as the value does, so the whole of it is the time-weighted return.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from tapeline.results.charts import running
from tapeline.results.metrics.account import BEFORE, Account, Floats, Lacking, ordered
from tapeline.results.performance.flows import Flow

RUINED = "The account value fell to zero or below, so returns mean nothing."


class AccountLine(msgspec.Struct, frozen=True):
    times: Floats
    value: Floats
    """Capital, flows and profit and loss."""
    growth: Floats
    """What the capital alone would have become; NaN once the value fell to zero or below."""
    profit: Floats
    """Profit and loss alone."""

    @property
    def is_ruined(self) -> bool:
        return bool(np.isnan(self.growth).any())


class _Moments(NamedTuple):
    """All that happened at one time, together: in which order it arrived says nothing."""

    times: Floats
    profit: Floats
    """From the very beginning, as `flows`."""
    gained: Floats
    flows: Floats
    before: Floats
    """Flows before it."""
    flowed: Floats

    def after(self, place: int) -> "_Moments":
        return _Moments(*(column[place:] for column in self))


@np.errstate(all="ignore")  # sums of huge reports overflow; what uses them gives the reason
def account_line(
    times: Floats,
    profits: Floats,
    capital: float,
    flows: Sequence[Flow],
    since: float | None = None,
) -> AccountLine:
    """One value for each moment, led by the capital right before the first. `profits`: after each
    step. `since`: when the capital came. What was gained before that is in the first value, and in
    no return."""
    every = _moments(times, profits, flows)
    early = 0 if since is None else int(np.searchsorted(every.times, since))
    start = every.times[early : early + 1] - BEFORE
    if early and since is not None:
        start = np.array([min([since, *start.tolist()])])
    gained, flowed = (every.profit[early - 1], every.flows[early - 1]) if early else (0.0, 0.0)
    first = float(capital + gained + flowed)
    every = every.after(early)
    value = capital + every.profit + every.flows
    if flows or early:
        growth = capital * np.append([1.0], np.cumprod(_factors(value, every, capital, first)))
    else:
        growth = np.append([first], np.where(value > 0, value, np.nan))
    growth[np.maximum.accumulate(np.isnan(growth)) | (first <= 0)] = np.nan
    led = len(start)
    return AccountLine(
        np.concatenate([start, every.times]),
        np.concatenate([[first][:led], value]),
        growth[1 - led :],
        np.concatenate([[0.0][:led], every.profit - gained]),
    )


def _moments(times: Floats, profits: Floats, flows: Sequence[Flow]) -> _Moments:
    at, amounts = np.array([(one.time, one.amount) for one in flows]).reshape(-1, 2).T
    # By amount, so that even the last digit of a sum does not depend on who arrived first.
    order = np.lexsort((amounts, at))
    at, amounts = at[order], amounts[order]
    moments = np.unique(np.concatenate([times, at]))
    profit = _reached(moments, times, profits)
    flowed = np.zeros(len(moments))
    np.add.at(flowed, np.searchsorted(moments, at), amounts)
    total = running.sums(flowed, np.zeros(len(moments)))
    gained, before = np.diff(profit, prepend=0.0), total.before().rounded
    return _Moments(moments, profit, gained, total.rounded, before, flowed)


def _reached(moments: Floats, times: Floats, values: Floats) -> Floats:
    """The last value until each moment, from zero on."""
    return np.append([0.0], values)[np.searchsorted(times, moments, side="right")]


def _factors(value: Floats, every: _Moments, capital: float, first: float) -> Floats:
    """Only what was gained moves the growth, by the share of what the account had before: a flow
    is worth what it is at the prices of its moment. Where nothing was there, the flow came first.
    """
    before = np.append([first], value[:-1])[: len(value)]
    base = np.where(before > 0, before, before + every.flowed)
    # Not one and a share: after a loss of all but nothing, no digit of the rest would be left.
    reached = np.where(before > 0, capital + every.profit + every.before, value)
    factors = np.where(every.gained != 0, reached / base, 1.0)
    return np.where((every.gained != 0) & ((base <= 0) | (factors <= 0)), np.nan, factors)


class Accounts(msgspec.Struct, frozen=True):
    """One account in three ways, each as the metrics want it."""

    growth: Account
    worth: Account
    money: Account


def accounts(line: AccountLine) -> Accounts:
    if line.is_ruined:
        raise Lacking(RUINED)
    return Accounts(
        Account(ordered(line.times, line.growth), is_live=True),
        Account(ordered(line.times, line.value), is_live=True),
        Account(ordered(line.times, line.profit), is_live=True, is_money=True),
    )
