"""What is answered about a live model's performance. Without numpy: start-up stays light."""

from typing import Literal

import msgspec

from tapeline.results.metrics.report_fields import Basis, Drawdown, Period, Shown
from tapeline.results.performance.flows import Flow, Source
from tapeline.results.performance.trip_answers import TripGroups
from tapeline.results.pnl.account import Capital
from tapeline.results.pnl.summary import NotComputed
from tapeline.tape.backtest_results.series import Point


class Exposure(msgspec.Struct, kw_only=True):
    """What was held over time, at the last known prices."""

    gross: list[Point]
    """Long and short positions added up without their signs."""
    net: list[Point]
    """Long positions less short ones."""
    symbols: dict[str, list[Point]]
    """Signed, of the symbols with the largest positions."""


class Unexplained(msgspec.Struct, kw_only=True):
    """The newest account value that the exchange said, beside ours at that time."""

    time: float
    reported: float
    computed: float
    difference: float
    """Not explained by reported orders and cash."""


class OfDrawdown(msgspec.Struct, kw_only=True):
    unit: Literal["percent", "money"] | None = None
    """`percent`: a share of the highest value so far, 0.1 is 10 %."""
    items: list[Point] = []
    deepest: list[Drawdown] = []
    reason: str | None = None


class Rolled(msgspec.Struct, kw_only=True):
    window: int | None = None
    """Days."""
    sharpe: list[Point] = []
    volatility: list[Point] = []
    reason: str | None = None


BUY_AND_HOLD = "buy-and-hold"
"""The benchmark that buys a model's own symbols once and holds them."""


class ShownBenchmark(msgspec.Struct, kw_only=True):
    """A benchmark, and the account beside it."""

    name: str
    """A symbol, or `buy-and-hold`."""
    symbols: list[str] = []
    """Those whose prices it is made of."""
    without_price: list[str] = []
    """Traded symbols that no price is known of; they are not in it."""
    sources: dict[str, list[str]] = {}
    """Of each of these symbols, where its prices come from: `bars`, the exchange of the price
    source, `trades`, `marks and fills`. On each day the first that has a price counts."""
    items: list[Point] = []
    """Its return at the close of each day on which both have a value, from the first of them on."""
    account: list[Point] = []
    """The account's return on the same days."""
    metrics: dict[str, Shown] = {}
    reason: str | None = None
    """Why there is nothing to compare."""


class Performance(msgspec.Struct, kw_only=True):
    currency: str | None
    """Of every amount here: the capital's, or without one that of most fills; of one symbol by
    itself, that it trades in."""
    capital: Capital | None
    capital_from: Source | None
    reason: str | None
    """Why `account`, `returns` and metrics in percent are missing; null when they are there."""
    account_value: float | None = None
    """Capital, flows and profit and loss: what the account is worth now."""
    account: list[Point] = []
    """The same over time."""
    returns: list[Point] = []
    """Time-weighted, as a share: each deposit or withdrawal ends a period."""
    flows: list[Flow]
    """Deposits and withdrawals but for the one that is the capital: the newest 10,000."""
    profit: list[Point]
    """Profit and loss over time, cash included."""
    drawdown: OfDrawdown
    exposure: Exposure
    months: list[Period] = []
    years: list[Period] = []
    periods_reason: str | None = None
    rolling: Rolled
    reported: list[Point]
    """The account's value as the exchange said."""
    unexplained: Unexplained | None
    differences: list[Point] = []
    """The same over time: each value that the exchange said, less ours at that time."""
    basis: Basis
    metrics: dict[str, Shown]
    round_trips: TripGroups
    not_computed: list[NotComputed]
    benchmark: ShownBenchmark | None = None
    """Null unless one was asked for."""
