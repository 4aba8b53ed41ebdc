"""How much the daily returns of each two models have in common. Pure arithmetic.

Each model has a return for each day of its own, from its day before. Two models are compared on the
days that both have, as pandas' `corr` does; all pairs at once.
"""

from collections.abc import Sequence

import numpy as np

from tapeline.results.metrics.account import Floats, Integers
from tapeline.results.portfolio.answers import Correlations
from tapeline.results.portfolio.lines import Line

LEAST_DAYS = 10  # of fewer common days, a correlation says nothing
NOISE = 1e-10  # of the largest return: what rounding leaves of returns that do not vary


def returns(one: Line, growth: Floats) -> Floats:
    """Its daily returns, NaN on days that are not its own."""
    found = np.full(len(growth), np.nan)
    own = np.flatnonzero(one.own & (np.arange(len(growth)) >= one.since))
    reached = growth[own]
    before = np.concatenate([[1.0], reached[:-1]])
    with np.errstate(all="ignore"):
        found[own] = reached / before - 1.0
    return found


def correlations(names: Sequence[str], rows: Sequence[Floats], left_out: int) -> Correlations:
    values, common = matrix(np.array(rows)) if rows else (np.empty((0, 0)), np.empty((0, 0), "i8"))
    return Correlations(
        models=list(names),
        values=[[None if np.isnan(one) else one for one in row] for row in values.tolist()],
        days=common.tolist(),
        least_days=LEAST_DAYS,
        left_out=left_out,
    )


@np.errstate(all="ignore")
def matrix(rows: Floats) -> tuple[Floats, Integers]:
    """The correlation of each two rows where both have a value, and how many those are."""
    there = ~np.isnan(rows)
    mask = there.astype("f8")
    counts = np.maximum(mask.sum(axis=1, keepdims=True), 1.0)
    known = np.where(there, rows, 0.0)
    scale = np.abs(known).max(axis=1, initial=0.0, keepdims=True)
    known = np.divide(known, scale, out=np.zeros(rows.shape), where=scale > 0)
    centred = np.where(there, known - known.sum(axis=1, keepdims=True) / counts, 0.0)
    common = mask @ mask.T
    sums = centred @ mask.T
    squares = (centred**2) @ mask.T - sums**2 / common
    shared = centred @ centred.T - sums * sums.T / common
    flat = squares <= NOISE**2 * common
    found = shared / np.sqrt(squares * squares.T)
    found[(common < LEAST_DAYS) | flat | flat.T] = np.nan
    return np.clip(found, -1.0, 1.0), common.astype("i8")
