"""The table of metrics that say what was risked for it."""

from tapeline.results.metrics import formulas, metric
from tapeline.results.metrics.account import DAY, Lacking
from tapeline.results.metrics.metric import NO_DRAWDOWN, Metric, Subject


def _average_drawdown(subject: Subject) -> float:
    _ = subject.account.values
    subject.account.require_account()
    if not len(subject.drawdowns.depths):
        raise Lacking(NO_DRAWDOWN)
    return float(subject.drawdowns.depths.mean())


def _longest(subject: Subject) -> float:
    _ = subject.account.values
    return float(subject.drawdowns.seconds.max() / DAY) if len(subject.drawdowns.seconds) else 0.0


def _average_days(subject: Subject) -> float:
    _ = subject.account.values
    if not len(subject.drawdowns.seconds):
        raise Lacking(NO_DRAWDOWN)
    return float(subject.drawdowns.seconds.mean() / DAY)


def _recovery(subject: Subject) -> float:
    end: float | None = subject.deepest.end
    if end is None:
        raise Lacking("It has not been recovered.")
    return end


def _max_drawdown_money(subject: Subject) -> float:
    _ = subject.account.values
    return float(subject.money.money_drawdown.min())


RISK: tuple[Metric[Subject], ...] = (
    Metric(
        "sharpe",
        "Sharpe ratio",
        "number",
        "The mean return for each unit of its variation, annualised, above a rate of zero.",
        "mean / standard deviation of the daily returns * √periods a year",
        formulas.sharpe,
    ),
    Metric(
        "smart_sharpe",
        "Smart Sharpe ratio",
        "number",
        "The Sharpe ratio, lowered where one day's return foretells the next one's.",
        "Sharpe / √(1 + 2 Σ (n - k)/n * |r|^k), r the correlation of neighbouring days "
        "(0 where they do not vary)",
        formulas.smart_sharpe,
    ),
    Metric(
        "probabilistic_sharpe",
        "Probabilistic Sharpe ratio",
        "percent",
        "The probability that the true Sharpe ratio is above zero, given length, skew and tails.",
        "Φ(SR √(n - 1) / √(1 - skew * SR + (kurtosis - 1)/4 * SR²)), SR per period",
        formulas.probabilistic_sharpe,
    ),
    Metric(
        "sortino",
        "Sortino ratio",
        "number",
        "The mean return for each unit of variation downwards, annualised.",
        "mean / √(Σ losing returns² / number of returns) * √periods a year",
        formulas.sortino,
    ),
    Metric(
        "smart_sortino",
        "Smart Sortino ratio",
        "number",
        "The Sortino ratio, lowered where one day's return foretells the next one's.",
        "Sortino / the penalty of the smart Sharpe ratio",
        formulas.smart_sortino,
    ),
    Metric(
        "adjusted_sortino",
        "Sortino ratio / √2",
        "number",
        "The Sortino ratio on the Sharpe ratio's scale, so that the two can be compared.",
        "Sortino / √2",
        formulas.adjusted_sortino,
    ),
    Metric(
        "calmar",
        "Calmar ratio",
        "number",
        "The yearly growth for each unit of the deepest loss.",
        "CAGR / |max drawdown|",
        formulas.calmar,
    ),
    Metric(
        "omega",
        "Omega ratio",
        "number",
        "All that days gained for each unit of what days lost.",
        "Σ daily returns above zero / |Σ daily returns below zero|",
        formulas.omega,
    ),
    Metric(
        "volatility",
        "Volatility",
        "percent",
        "How much the daily return varies, annualised.",
        "standard deviation of the daily returns (n - 1) * √periods a year",
        formulas.volatility,
    ),
    Metric(
        "max_drawdown",
        "Max drawdown",
        "percent",
        "The deepest fall from a peak, of all account values and not only of the days' last.",
        "min(value / highest value so far - 1)",
        lambda s: s.max_drawdown,
    ),
    Metric(
        "max_drawdown_money",
        "Max drawdown in money",
        "money",
        "The deepest fall from a peak in money.",
        "min(value - highest value so far); profit and loss starts from zero",
        _max_drawdown_money,
    ),
    Metric(
        "max_drawdown_start",
        "Max drawdown from",
        "time",
        "When the peak before the deepest fall was.",
        "time of the last value at the peak",
        lambda s: s.deepest.start,
    ),
    Metric(
        "max_drawdown_valley",
        "Max drawdown lowest",
        "time",
        "When the deepest fall reached its lowest value.",
        "time of that value",
        lambda s: s.deepest.valley,
    ),
    Metric(
        "max_drawdown_end",
        "Max drawdown recovered",
        "time",
        "When the peak before the deepest fall was reached again.",
        "time of the first value at or above the peak",
        _recovery,
    ),
    Metric(
        "max_drawdown_days",
        "Max drawdown duration",
        "days",
        "How long the deepest fall lasted, from its peak until that was reached again.",
        "from peak to recovery, or to the last value",
        lambda s: s.deepest.seconds / DAY,
    ),
    Metric(
        "longest_drawdown_days",
        "Longest drawdown",
        "days",
        "The longest time from a peak until it was reached again.",
        "max of all drawdowns' durations",
        _longest,
    ),
    Metric(
        "average_drawdown",
        "Average drawdown",
        "percent",
        "How deep a fall from a peak was on average.",
        "mean of all drawdowns' depths",
        _average_drawdown,
    ),
    Metric(
        "average_drawdown_days",
        "Average drawdown duration",
        "days",
        "How long it took on average to reach a peak again.",
        "mean of all drawdowns' durations",
        _average_days,
    ),
    Metric(
        "recovery_factor",
        "Recovery factor",
        "number",
        "The whole return for each unit of the deepest loss.",
        "return / |max drawdown|",
        formulas.recovery_factor,
    ),
    Metric(
        "ulcer_index",
        "Ulcer index",
        "percent",
        "How deep and how long the account was under water.",
        "√(Σ drawdown at the days' closes² / (n - 1))",
        formulas.ulcer_index,
    ),
    Metric(
        "martin_ratio",
        "Ulcer performance index",
        "number",
        "The return for each unit of the ulcer index.",
        "return / ulcer index",
        formulas.martin_ratio,
    ),
    Metric(
        "serenity_index",
        "Serenity index",
        "number",
        "The return for each unit of depth, length and suddenness of its falls.",
        "Σ returns / (ulcer index * (-expected shortfall of the drawdown / deviation))",
        formulas.serenity_index,
    ),
    Metric(
        "var",
        "Value at risk, 95 %",
        "percent",
        "The daily return that a normal distribution undercuts on one day of twenty.",
        "mean + deviation * Φ⁻¹(0.05)",
        formulas.value_at_risk,
    ),
    Metric(
        "cvar",
        "Expected shortfall, 95 %",
        "percent",
        "The mean of the worst twentieth of days of a normal distribution.",
        "mean - deviation * φ(Φ⁻¹(0.05)) / 0.05",
        formulas.cvar,
    ),
    Metric(
        "historical_var",
        "Value at risk, 95 %, historical",
        "percent",
        "The return that one day of twenty undercut.",
        "5th percentile of the daily returns",
        formulas.historical_var,
    ),
    Metric(
        "historical_cvar",
        "Expected shortfall, 95 %, historical",
        "percent",
        "The mean return of the worst twentieth of days.",
        "mean of the daily returns up to the 5th percentile",
        formulas.historical_cvar,
    ),
    Metric(
        "skew",
        "Skew",
        "number",
        "Whether the long tail of the daily returns is of gains, above zero, or of losses.",
        "third standardised moment, adjusted for the sample",
        lambda s: metric.skew(s.account.several_returns),
    ),
    Metric(
        "kurtosis",
        "Kurtosis",
        "number",
        "How heavy the tails of the daily returns are; zero for a normal distribution.",
        "fourth standardised moment - 3, adjusted for the sample",
        lambda s: metric.excess_kurtosis(s.account.several_returns),
    ),
    Metric(
        "tail_ratio",
        "Tail ratio",
        "number",
        "How large the good days are beside the bad ones.",
        "|95th / 5th percentile of the daily returns|",
        formulas.tail_ratio,
    ),
    Metric(
        "gain_to_pain",
        "Gain to pain",
        "number",
        "The sum of all days for each unit of what days lost.",
        "Σ daily returns / |Σ daily returns below zero|",
        formulas.gain_to_pain,
    ),
    Metric(
        "profit_factor_days",
        "Profit factor by day",
        "number",
        "What winning days gained for each unit that losing days lost.",
        "Σ changes above zero / |Σ changes below zero|; returns, or money where none are known",
        lambda s: metric.profit_factor(formulas.moves(s)),
    ),
    Metric(
        "payoff_days",
        "Payoff by day",
        "number",
        "The mean winning day beside the mean losing day.",
        "mean change above zero / |mean change below zero|",
        lambda s: metric.payoff(formulas.moves(s)),
    ),
    Metric(
        "kelly",
        "Kelly criterion",
        "percent",
        "The share of the account that would have grown it fastest, by winning and losing days.",
        "(payoff * win rate - (1 - win rate)) / payoff",
        lambda s: metric.kelly(formulas.moves(s)),
    ),
    Metric(
        "cpc_index",
        "CPC index",
        "number",
        "Profit factor, win rate and payoff in one number.",
        "profit factor * win rate * payoff, by day",
        formulas.cpc_index,
    ),
    Metric(
        "common_sense_ratio",
        "Common sense ratio",
        "number",
        "The profit factor, raised or lowered by the tails.",
        "profit factor by day * tail ratio",
        formulas.common_sense_ratio,
    ),
    Metric(
        "outlier_win_ratio",
        "Outlier win ratio",
        "number",
        "The best hundredth of days beside the mean day that did not lose.",
        "99th percentile / mean of the daily returns not below zero",
        formulas.outlier_win_ratio,
    ),
    Metric(
        "outlier_loss_ratio",
        "Outlier loss ratio",
        "number",
        "The worst hundredth of days beside the mean losing day.",
        "1st percentile / mean of the daily returns below zero",
        formulas.outlier_loss_ratio,
    ),
    Metric(
        "exposure_days",
        "Exposure by day",
        "percent",
        "The share of days on which the account value moved.",
        "days with a return that is not zero / days",
        formulas.exposure_days,
    ),
)
