"""The table of metrics that say how it was traded, by trade and by round trip."""

import numpy as np

from tapeline.results.metrics import metric
from tapeline.results.metrics.account import DAY, Lacking
from tapeline.results.metrics.metric import NO_TRIPS, Metric, Subject
from tapeline.results.metrics.round_trips import left_out


def _span(subject: Subject) -> tuple[float, float]:
    """From the first value to the last, or what the trades say where those say more."""
    times = subject.account.times
    return float(times[0]), float(times[-1])


def _days(subject: Subject) -> float:
    start, end = _span(subject)
    if end <= start:
        raise Lacking("All values are of one moment.")
    return (end - start) / DAY


def _holdings(subject: Subject) -> "np.typing.NDArray[np.float64]":
    trips = subject.trades.trips
    if not trips:
        raise Lacking(NO_TRIPS)
    return np.array([trip.exit_time - trip.entry_time for trip in trips])


def _time_in_market(subject: Subject) -> float:
    """The share of time in which anything was held: the union of all holdings."""
    trades, (start, end) = subject.trades, _span(subject)
    if end <= start:
        raise Lacking("All values are of one moment.")
    if trades.unsized:
        raise Lacking(f"{trades.unsized} trades came without their size.")
    held = [(trip.entry_time, trip.exit_time) for trip in trades.trips]
    held += [(one.entry_time, end) for one in trades.open]
    if not held:
        return 0.0
    spans = np.clip(np.array(sorted(held)), start, end)
    latest = np.maximum.accumulate(spans[:, 1])
    # What of each holding is not covered by those that began before it.
    covered = np.append([start], latest[:-1])
    fresh = np.clip(latest - np.maximum(spans[:, 0], covered), 0.0, None)
    return float(fresh.sum()) / (end - start)


def _turnover(subject: Subject) -> float:
    subject.account.require_account()
    traded, average = subject.trades.traded, float(subject.worth.closes.mean())
    if subject.trades.left_out:
        raise Lacking(left_out(subject.trades))
    if traded is None:
        raise Lacking("A trade came without its price or its size.")
    if average <= 0:
        raise Lacking("The account value is not positive on average.")
    return traded / average


def _fees(subject: Subject) -> float:
    if subject.trades.fees is None:
        raise Lacking(left_out(subject.trades))
    return subject.trades.fees


TRADING: tuple[Metric[Subject], ...] = (
    Metric(
        "trades",
        "Trades",
        "count",
        "How many trades were made, buys and sells.",
        "number of trades that were filled at least in part",
        lambda s: 0.0 if s.matched is not None and not s.matched.trades else s.trades.trades,
    ),
    Metric(
        "trades_per_day",
        "Trades per day",
        "number",
        "How many trades were made on an average day, weekends included.",
        "trades / days from the first value to the last",
        lambda s: s.trades.trades / _days(s),
    ),
    Metric(
        "round_trips",
        "Round trips",
        "count",
        "How often a position, or a part of it, was closed again, first in, first out.",
        "matched pairs of an opening and a closing trade",
        lambda s: len(s.trades.trips),
    ),
    Metric(
        "win_rate_trades",
        "Winning trades",
        "percent",
        "The share of round trips that gained, of all that gained or lost.",
        "round trips above zero / round trips not zero, net of fees",
        lambda s: metric.win_rate(s.profits),
    ),
    Metric(
        "profit_factor",
        "Profit factor",
        "number",
        "What winning round trips gained for each unit that losing ones lost.",
        "Σ profits / |Σ losses| of the round trips",
        lambda s: metric.profit_factor(s.profits),
    ),
    Metric(
        "payoff",
        "Payoff",
        "number",
        "The mean winning round trip beside the mean losing one.",
        "mean profit / |mean loss| of the round trips",
        lambda s: metric.payoff(s.profits),
    ),
    Metric(
        "expectancy",
        "Expectancy",
        "money",
        "What a round trip brought on average, net of fees.",
        "mean profit of the round trips",
        lambda s: float(s.profits.mean()),
    ),
    Metric(
        "expectancy_percent",
        "Expectancy in percent",
        "percent",
        "What a round trip brought on average for what its entry cost.",
        "mean of profit / cost of the entry",
        lambda s: float(s.shares.mean()),
    ),
    Metric(
        "kelly_trades",
        "Kelly criterion by trade",
        "percent",
        "The share of the account that would have grown it fastest, by winning and losing trades.",
        "(payoff * win rate - (1 - win rate)) / payoff, of the round trips",
        lambda s: metric.kelly(s.profits),
    ),
    Metric(
        "best_trade",
        "Best trade",
        "money",
        "The largest profit of a round trip.",
        "max profit of the round trips",
        lambda s: float(s.profits.max()),
    ),
    Metric(
        "worst_trade",
        "Worst trade",
        "money",
        "The largest loss of a round trip.",
        "min profit of the round trips",
        lambda s: float(s.profits.min()),
    ),
    Metric(
        "longest_winning_trades",
        "Longest run of winning trades",
        "count",
        "The most round trips in a row that gained, in the order of their exits.",
        "longest run of profits above zero",
        lambda s: metric.longest_run(s.profits > 0),
    ),
    Metric(
        "longest_losing_trades",
        "Longest run of losing trades",
        "count",
        "The most round trips in a row that lost, in the order of their exits.",
        "longest run of profits below zero",
        lambda s: metric.longest_run(s.profits < 0),
    ),
    Metric(
        "average_holding_days",
        "Average holding",
        "days",
        "How long a round trip lasted on average.",
        "mean time from entry to exit",
        lambda s: float(_holdings(s).mean()) / DAY,
    ),
    Metric(
        "exposure",
        "Exposure",
        "percent",
        "The share of time in which anything was held.",
        "union of all times from entry to exit / time from the first value to the last",
        _time_in_market,
    ),
    Metric(
        "turnover",
        "Turnover",
        "number",
        "How many times the account was traded over.",
        "Σ size * price of all trades / mean of the days' closes",
        _turnover,
    ),
    Metric(
        "turnover_yearly",
        "Turnover a year",
        "number",
        "How many times the account was traded over in a year.",
        "turnover * 365.25 / days",
        lambda s: _turnover(s) * 365.25 / _days(s),
    ),
    Metric(
        "fees",
        "Fees",
        "money",
        "What all trades cost in fees.",
        "Σ fees of the trades",
        _fees,
    ),
)
