"""The value of an account over time, and its growth: money that comes or goes is no return.

Pure: steps of profit and loss and flows in, lines out. Each flow ends a period; within one the
growth moves as the value does, so the whole of it is the time-weighted return.
"""

from collections.abc import Sequence

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


@np.errstate(all="ignore")  # sums of huge reports overflow; what uses them gives the reason
def account_line(
    times: Floats, ties: Floats, gains: Floats, capital: float, flows: Sequence[Flow]
) -> AccountLine:
    """One value for each moment, led by the capital right before the first."""
    none = np.zeros(len(flows))
    at = np.concatenate([times, [one.time for one in flows]])
    order = np.lexsort((np.concatenate([ties, [float(one.tie) for one in flows]]), at))
    at = at[order]
    gained = np.concatenate([gains, none])[order]
    flowed = np.concatenate([np.zeros(len(times)), [one.amount for one in flows]])[order]
    profit = np.cumsum(gained)
    value = capital + profit + np.cumsum(flowed)
    growth = _growth(value, gained, capital) if flows else np.where(value > 0, value, np.nan)
    ruined = np.flatnonzero(np.isnan(growth))
    growth[ruined[0] if len(ruined) else len(growth) :] = np.nan
    last = np.append(np.diff(at) > 0, [True])[: len(at)]
    start = at[:1] - BEFORE
    first = np.full(len(start), capital)
    return AccountLine(
        np.concatenate([start, at[last]]),
        np.concatenate([first, value[last]]),
        np.concatenate([first, growth[last]]),
        np.concatenate([np.zeros(len(start)), profit[last]]),
    )


def _growth(value: Floats, gained: Floats, capital: float) -> Floats:
    """Only what was gained moves it, by the share of what the account had before."""
    before = np.concatenate([[capital], value[:-1]])
    moves = gained != 0
    factors = np.ones(len(value))
    with np.errstate(all="ignore"):
        factors[moves] = 1.0 + gained[moves] / before[moves]
    factors[moves & ((before <= 0) | (factors <= 0))] = np.nan
    return np.asarray(capital * np.cumprod(factors))


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
