"""What is answered about a portfolio. Without numpy: start-up stays light."""

from typing import Literal

import msgspec

from tapeline.results.metrics.report_fields import Shown
from tapeline.results.performance.answers import ShownBenchmark
from tapeline.results.pnl.account import Capital
from tapeline.results.pnl.together import UsedRate
from tapeline.tape.backtest_results.series import Point

Code = Literal[
    "crashed", "silent", "no_capital", "not_computed", "off", "no_rate", "unpriced", "ruined",
    "stopped_holding", "stale_price",
]  # fmt: skip


class PortfolioModel(msgspec.Struct, kw_only=True):
    """One model of a portfolio. Amounts are in the portfolio's currency."""

    model_id: str
    project_id: str
    name: str
    in_account: bool
    """Whether account value, return and drawdown of the portfolio include it."""
    reason: str | None = None
    """Why they do not."""
    capital: Capital | None = None
    """In the currency that it was given in."""
    profit: float | None = None
    """Profit and loss at the newest rates; null where a rate is missing."""
    profits: dict[str, float] = {}
    """The same by the currency in which it was made."""
    account_value: float | None = None
    since: float | None = None
    """The day from which on it counts."""
    gain: float | None = None
    """What it added to the portfolio since then, changes of rates included."""
    contribution: float | None = None
    """Its part of the portfolio's return; those of all models add up to it."""
    total_return: float | None = None
    """Its own, time-weighted by days."""


class SymbolExposure(msgspec.Struct, kw_only=True):
    """One symbol over all models, at its last known prices."""

    symbol: str
    currency: str
    """What it is quoted in; `gross` and `net` are in it."""
    gross: float
    """Positions of all models without their signs."""
    net: float
    """Long positions less short ones."""
    gross_converted: float | None
    """In the portfolio's currency; null without a rate."""
    net_converted: float | None
    models: list[str]
    """Those that hold it."""


class Exposures(msgspec.Struct, kw_only=True):
    gross: float
    """Of the symbols that have a rate, in the portfolio's currency."""
    net: float
    symbols: list[SymbolExposure]
    """The largest first."""
    without_rate: list[str]
    """Currencies that no rate converts; no sum includes them."""


class Correlations(msgspec.Struct, kw_only=True):
    """Of the daily returns of each two models, on the days on which both have a value."""

    models: list[str]
    values: list[list[float | None]]
    """Null where fewer than `least_days` are common, or a model's returns do not vary."""
    days: list[list[int]]
    """How many days each two have in common."""
    least_days: int
    left_out: int = 0
    """Models with smaller accounts that are not listed."""


class Attention(msgspec.Struct, kw_only=True):
    """Something about a model that somebody should look at."""

    model_id: str
    code: Code
    message: str


class Portfolio(msgspec.Struct, kw_only=True):
    currency: str
    """Of every amount here that names no other."""
    account_value: float | None = None
    """Of the models that have an account, at the newest rates."""
    invested: float | None = None
    """The capital and deposits of these models less what was withdrawn, at the rates of their
    days."""
    gain: float | None = None
    """Account value less what was invested."""
    total_return: float | None = None
    """Time-weighted by days."""
    max_drawdown: float | None = None
    reason: str | None = None
    """Why there is no account value or no return."""
    account: list[Point] = []
    """The value at the close of each UTC day; `time` is the day's beginning."""
    returns: list[Point] = []
    drawdown: list[Point] = []
    flows: list[Point] = []
    """What came in or went out on a day: capital of models that began, deposits, withdrawals."""
    profit: float
    """Of all models, with an account or without, in currencies that have a rate."""
    models: list[PortfolioModel]
    """The largest contribution first."""
    exposure: Exposures
    correlation: Correlations
    attention: list[Attention]
    rates: list[UsedRate]
    """The newest, as account value, profit and exposure use them."""
    without_rate: list[str]
    """Currencies that no rate converts: nothing in them is added up."""
    metrics: dict[str, Shown] = {}
    benchmark: ShownBenchmark | None = None
    """Null unless one was asked for."""
    left_out_days: int = 0
    """Days before the first that is shown, where there are too many."""
