"""The value of an account over time, and its growth: money that comes or goes is no return.

Pure: steps of profit and loss and flows in, lines out. Each flow ends a period; within one the
growth moves as the value does, so the whole of it is the time-weighted return.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

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
    gained: Floats
    flowed: Floats

    def after(self, place: int) -> "_Moments":
        return _Moments(*(column[place:] for column in self))


@np.errstate(all="ignore")  # sums of huge reports overflow; what uses them gives the reason
def account_line(
    times: Floats,
    gains: Floats,
    capital: float,
    flows: Sequence[Flow],
    since: float | None = None,
) -> AccountLine:
    """One value for each moment, led by the capital right before the first. `since`: when the
    capital came. What was gained before that is in the first value, and in no return."""
    every = _moments(times, gains, flows)
    early = 0 if since is None else int(np.searchsorted(every.times, since))
    first = capital + float(every.gained[:early].sum() + every.flowed[:early].sum())
    start = every.times[early : early + 1] - BEFORE
    if early and since is not None:
        start = np.array([min([since, *start.tolist()])])
    every = every.after(early)
    profit = np.cumsum(every.gained)
    value = first + profit + np.cumsum(every.flowed)
    if flows or early:
        growth = capital * np.append([1.0], np.cumprod(_factors(value, every, first)))
    else:
        growth = np.append([first], np.where(value > 0, value, np.nan))
    growth[np.maximum.accumulate(np.isnan(growth)) | (first <= 0)] = np.nan
    led = len(start)
    return AccountLine(
        np.concatenate([start, every.times]),
        np.concatenate([[first][:led], value]),
        growth[1 - led :],
        np.concatenate([[0.0][:led], profit]),
    )


def _moments(times: Floats, gains: Floats, flows: Sequence[Flow]) -> _Moments:
    at = np.concatenate([times, [one.time for one in flows]])
    amounts = np.concatenate([gains, [one.amount for one in flows]])
    order = np.argsort(at, kind="stable")
    is_first = np.append([True], np.diff(at[order]) > 0)[: len(at)]
    # By amount, so that even the last digit of a sum does not depend on who arrived first.
    tied = np.flatnonzero(~(is_first & np.append(is_first[1:], [True])[: len(at)]))
    order[tied] = order[tied][np.lexsort((amounts[order[tied]], at[order[tied]]))]
    at, amounts, is_flow = at[order], amounts[order], order >= len(times)
    starts = np.flatnonzero(is_first)
    if not len(starts):
        return _Moments(at, amounts, amounts)
    gained = np.add.reduceat(np.where(is_flow, 0.0, amounts), starts)
    flowed = np.add.reduceat(np.where(is_flow, amounts, 0.0), starts)
    return _Moments(at[starts], gained, flowed)


def _factors(value: Floats, every: _Moments, first: float) -> Floats:
    """Only what was gained moves the growth, by the share of what the account had before: a flow
    is worth what it is at the prices of its moment. Where nothing was there, the flow came first.
    """
    before = np.append([first], value[:-1])[: len(value)]
    base = np.where(before > 0, before, before + every.flowed)
    factors = np.where(every.gained != 0, 1.0 + every.gained / base, 1.0)
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
