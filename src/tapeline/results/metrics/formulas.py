"""The formulas over daily returns, equal to quantstats' unless docs/metrics.md says otherwise.

Each takes the subject and gives a number, or says what it lacks.
"""

import math
from statistics import NormalDist

import numpy as np

from tapeline.results.metrics import deflated
from tapeline.results.metrics.account import Floats, Lacking
from tapeline.results.metrics.metric import (
    NO_DRAWDOWN,
    Subject,
    deviation,
    excess_kurtosis,
    losses,
    payoff,
    profit_factor,
    skew,
    win_rate,
)

NORMAL = NormalDist()
CONFIDENCE = 0.95


def _several(subject: Subject) -> Floats:
    return subject.account.several_returns


def total_return(subject: Subject) -> float:
    subject.account.require_account()
    values = subject.account.values
    if values[0] <= 0:
        raise Lacking("The first account value is not positive, so a share of it means nothing.")
    return float(values[-1] / values[0]) - 1.0


def cagr(subject: Subject) -> float:
    years = len(_several(subject)) / subject.account.periods_per_year
    worth = 1.0 + total_return(subject)
    if worth < 0:
        raise Lacking("More than everything was lost.")
    return float(worth ** (1.0 / years)) - 1.0


def volatility(subject: Subject) -> float:
    returns = _several(subject)
    return float(returns.std(ddof=1)) * math.sqrt(subject.account.periods_per_year)


def sharpe_per_period(subject: Subject) -> float:
    returns = _several(subject)
    return float(returns.mean()) / deviation(returns)


def sharpe(subject: Subject) -> float:
    return sharpe_per_period(subject) * math.sqrt(subject.account.periods_per_year)


def _autocorrelation_penalty(returns: Floats) -> float:
    n = len(returns)
    strength = _correlation_of_neighbours(returns)
    lags = np.arange(1, n)
    return math.sqrt(1.0 + 2.0 * float((((n - lags) / n) * strength**lags).sum()))


def _correlation_of_neighbours(returns: Floats) -> float:
    """Without its sign. Days that do not vary foretell nothing, so it is none, not unknown."""
    if len(returns) < 3:
        return 0.0
    try:
        deviation(returns[:-1])
        deviation(returns[1:])
    except Lacking:
        return 0.0
    return abs(float(np.corrcoef(returns[:-1], returns[1:])[0, 1]))


def smart_sharpe(subject: Subject) -> float:
    return sharpe(subject) / _autocorrelation_penalty(_several(subject))


def sortino(subject: Subject) -> float:
    returns = _several(subject)
    downside = math.sqrt(float((losses(returns) ** 2).sum()) / len(returns))
    return float(returns.mean()) / downside * math.sqrt(subject.account.periods_per_year)


def smart_sortino(subject: Subject) -> float:
    return sortino(subject) / _autocorrelation_penalty(_several(subject))


def adjusted_sortino(subject: Subject) -> float:
    return sortino(subject) / math.sqrt(2.0)


def probabilistic_sharpe(subject: Subject) -> float:
    returns = _several(subject)
    return deflated.probabilistic(
        sharpe_per_period(subject),
        0.0,
        len(returns),
        skew(returns),
        excess_kurtosis(returns) + 3.0,
    )


def _depth(subject: Subject) -> float:
    depth = -subject.max_drawdown
    if depth == 0:
        raise Lacking(NO_DRAWDOWN)
    return depth


def calmar(subject: Subject) -> float:
    return cagr(subject) / _depth(subject)


def recovery_factor(subject: Subject) -> float:
    return total_return(subject) / _depth(subject)


def ulcer_index(subject: Subject) -> float:
    under_water = subject.daily_drawdown
    return math.sqrt(float((under_water**2).sum()) / (len(under_water) - 1))


def martin_ratio(subject: Subject) -> float:
    ulcer = ulcer_index(subject)
    if ulcer == 0:
        raise Lacking(NO_DRAWDOWN)
    return total_return(subject) / ulcer


def _expected_shortfall(sample: Floats) -> float:
    tail = 1.0 - CONFIDENCE
    spread = float(sample.std(ddof=1))
    return float(sample.mean()) - spread * NORMAL.pdf(NORMAL.inv_cdf(tail)) / tail


def serenity_index(subject: Subject) -> float:
    returns, ulcer = _several(subject), ulcer_index(subject)
    if ulcer == 0:
        raise Lacking(NO_DRAWDOWN)
    pitfall = -_expected_shortfall(subject.daily_drawdown) / deviation(returns)
    return float(returns.sum()) / (ulcer * pitfall)


def value_at_risk(subject: Subject) -> float:
    returns = _several(subject)
    return float(returns.mean()) + deviation(returns) * NORMAL.inv_cdf(1.0 - CONFIDENCE)


def cvar(subject: Subject) -> float:
    deviation(_several(subject))
    return _expected_shortfall(_several(subject))


def historical_var(subject: Subject) -> float:
    return float(np.quantile(_several(subject), 1.0 - CONFIDENCE))


def historical_cvar(subject: Subject) -> float:
    returns = _several(subject)
    # Between equal returns a quantile is rounded, also to below all of them.
    worst = returns[returns <= max(historical_var(subject), float(returns.min()))]
    # None where returns are beyond what doubles can tell apart.
    return float(worst.mean()) if len(worst) else math.nan


def omega(subject: Subject) -> float:
    return profit_factor(_several(subject))


def gain_to_pain(subject: Subject) -> float:
    returns = _several(subject)
    return float(returns.sum() / -losses(returns).sum())


def tail_ratio(subject: Subject) -> float:
    returns = _several(subject)
    low = float(np.quantile(returns, 0.05))
    if low == 0:
        raise Lacking("The twentieth worst of a hundred days lost nothing.")
    return abs(float(np.quantile(returns, 0.95)) / low)


def common_sense_ratio(subject: Subject) -> float:
    return profit_factor(_several(subject)) * tail_ratio(subject)


def cpc_index(subject: Subject) -> float:
    returns = _several(subject)
    return profit_factor(returns) * win_rate(returns) * payoff(returns)


def outlier_win_ratio(subject: Subject) -> float:
    returns = _several(subject)
    gains = returns[returns >= 0]
    if not len(gains) or gains.mean() == 0:
        raise Lacking("There was no gain.")
    return float(np.quantile(returns, 0.99) / gains.mean())


def outlier_loss_ratio(subject: Subject) -> float:
    returns = _several(subject)
    return float(np.quantile(returns, 0.01) / losses(returns).mean())


def exposure_days(subject: Subject) -> float:
    return float((_several(subject) != 0).mean())


def return_on_exposure(subject: Subject) -> float:
    exposed = exposure_days(subject)
    if exposed == 0:
        raise Lacking("The account value never moved.")
    return cagr(subject) / exposed


def geometric_mean(returns: Floats) -> float:
    worth = float(np.prod(1.0 + returns))
    if worth < 0:
        raise Lacking("More than everything was lost.")
    return float(worth ** (1.0 / len(returns))) - 1.0


def mean_of_moves(returns: Floats) -> float:
    moved = returns[returns != 0]
    if not len(moved):
        raise Lacking("The account value never moved.")
    return float(moved.mean())


def moves(subject: Subject) -> Floats:
    """The daily returns; where no account value is known, the daily changes in money."""
    if subject.account.is_money:
        return subject.account.changes[1]
    return _several(subject)
