"""Times under water: from a peak, down to the lowest value, until the peak is reached again."""

import msgspec
import numpy as np

from tapeline.results.metrics.account import Account, Floats, Integers
from tapeline.results.metrics.report_fields import Drawdown

DEEPEST = 10  # drawdowns that a report lists


class Drawdowns(msgspec.Struct, frozen=True):
    """All of them, as columns."""

    depths: Floats
    firsts: Integers
    """Index of the first value under water."""
    afters: Integers
    """Index of the value that ends it; the number of values if none does."""
    seconds: Floats


def find(account: Account) -> Drawdowns:
    under_water = account.money_drawdown if account.is_money else account.drawdown
    below = under_water < 0
    edges = np.diff(np.concatenate([[False], below, [False]]).astype("i1"))
    firsts, afters = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    if not len(firsts):
        return Drawdowns(np.empty(0), firsts, afters, np.empty(0))
    # Between two drawdowns there is no loss, so the lowest up to the next one is this one's.
    depths = np.minimum.reduceat(under_water, firsts)
    times = account.times
    starts = times[np.maximum(firsts - 1, 0)]
    ends = times[np.minimum(afters, len(times) - 1)]
    return Drawdowns(depths, firsts, afters, np.asarray(ends - starts))


def deepest(account: Account, found: Drawdowns, most: int = DEEPEST) -> list[Drawdown]:
    """The deepest, first the worst; those whose depth is a finite number."""
    order = np.argsort(found.depths, kind="stable")
    order = order[np.isfinite(found.depths[order])][:most]
    return [_shown(account, found, int(place)) for place in order]


def _shown(account: Account, found: Drawdowns, place: int) -> Drawdown:
    first, after = int(found.firsts[place]), int(found.afters[place])
    times, values = account.times, account.known[1]
    return Drawdown(
        depth=float(found.depths[place]),
        start=float(times[max(first - 1, 0)]),
        valley=float(times[first + int(np.argmin(values[first:after]))]),
        end=float(times[after]) if after < len(times) else None,
        seconds=float(found.seconds[place]),
    )
