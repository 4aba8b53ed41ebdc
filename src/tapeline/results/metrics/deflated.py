"""How much of a Sharpe ratio is left once one knows how many backtests were tried.

After Bailey and López de Prado, "The Deflated Sharpe Ratio" (2014). Ratios here are per period,
not annualised; kurtosis is 3 for a normal distribution.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist

import msgspec

EULER = 0.5772156649015329
NORMAL = NormalDist()
EXPLANATION = (
    "The probability that the Sharpe ratio is above what the best of as many worthless backtests"
    " would show by luck."
)


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """What one backtest says about the search it was part of."""

    sharpe: float
    """Per period."""
    periods_per_year: int
    returns: int
    skew: float
    kurtosis: float


class Deflated(msgspec.Struct, frozen=True, kw_only=True):
    count: int
    """Backtests tried on this model, those deleted since included."""
    sharpe: float | None = None
    """As it is, annualised."""
    expected_best: float | None = None
    """The Sharpe ratio, annualised, that luck alone would make the best of so many show."""
    deflated_sharpe: float | None = None
    explanation: str = EXPLANATION
    reason: str | None = None


def probabilistic(
    sharpe: float, benchmark: float, returns: int, skew: float, kurtosis: float
) -> float:
    """The probability that the true ratio is above the benchmark."""
    spread = 1.0 - skew * sharpe + (kurtosis - 1.0) / 4.0 * sharpe**2
    if spread <= 0:
        return math.nan
    return NORMAL.cdf((sharpe - benchmark) * math.sqrt(returns - 1) / math.sqrt(spread))


def expected_best(count: int, variance: float) -> float:
    """The largest ratio to expect of so many trials whose true ratio is zero."""
    if count < 2:
        return 0.0
    best = (1.0 - EULER) * NORMAL.inv_cdf(1.0 - 1.0 / count)
    best += EULER * NORMAL.inv_cdf(1.0 - 1.0 / (count * math.e))
    return math.sqrt(variance) * best


def deflate(trial: Trial | None, others: Sequence[tuple[float, int]], count: int) -> Deflated:
    """`others` are the ratios of all trials with their periods a year, this one's included.

    Each is brought to this trial's period first: a search may mix daily and weekly backtests.
    """
    if trial is None:
        return Deflated(count=count, reason="This backtest has no Sharpe ratio.")
    ratios = [ratio * math.sqrt(periods / trial.periods_per_year) for ratio, periods in others]
    variance = 0.0
    if len(ratios) > 1:
        middle = sum(ratios) / len(ratios)
        variance = sum((ratio - middle) ** 2 for ratio in ratios) / (len(ratios) - 1)
    best = expected_best(count, variance)
    found = probabilistic(trial.sharpe, best, trial.returns, trial.skew, trial.kurtosis)
    yearly = math.sqrt(trial.periods_per_year)
    if not math.isfinite(found):
        return Deflated(
            count=count,
            sharpe=trial.sharpe * yearly,
            reason="The returns are too skewed for the formula.",
        )
    return Deflated(
        count=count,
        sharpe=trial.sharpe * yearly,
        expected_best=best * yearly,
        deflated_sharpe=found,
    )
