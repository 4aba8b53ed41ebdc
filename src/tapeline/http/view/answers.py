"""Shapes of the answers that repeat what models reported.

The server answers with dictionaries that keep every key a model sent; these are the keys that are
always there. Handlers name them as what they return, for the OpenAPI document and the types made
from it. A test holds real answers to them.
"""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from tapeline.results.changes.change import Change
from tapeline.results.metrics.deflated import Deflated
from tapeline.results.metrics.report_fields import Basis, Shown
from tapeline.results.pnl.order_fills import FillShown


class ShownOrder(msgspec.Struct, kw_only=True):
    id: str
    type: str
    """`spot-market`, `spot-limit` or `spot-stop`."""
    symbol: str
    exchange: str
    side: str
    size: float | None
    funds: float | None
    price: float | None
    active: float | None
    annotation: str | None
    status: str | None
    time: float
    received_at: float
    seq: int
    fill: FillShown | None
    """Null if it does not count, for example for a canceled order."""
    late_by: float | None
    """Seconds from the time that it claims to the arrival of whatever changed it last, if they are
    too many."""
    changes: list[Change]
    """What was reported or changed after the fact, in the order of arrival."""


class ShownLine(msgspec.Struct, kw_only=True):
    line: str
    type: str
    time: float
    received_at: float
    seq: int
    run_id: str | UnsetType = UNSET


class ShownEvent(msgspec.Struct, kw_only=True):
    type: str
    time: float
    received_at: float
    seq: int
    run_id: str | UnsetType = UNSET


class ScreenerResult(msgspec.Struct, kw_only=True):
    result: dict[str, dict[str, Any] | None]
    time: float
    received_at: float
    seq: int
    run_id: str | UnsetType = UNSET


class OwnMetric(msgspec.Struct, kw_only=True):
    """One that the model reports itself."""

    value: float | str | None
    display_name: str
    type: str


class BacktestStatus(msgspec.Struct, kw_only=True):
    successful: bool | None
    status_summary: str | None
    status_details: str | None
    time_elapsed: float | None


class BacktestMetrics(msgspec.Struct, kw_only=True):
    computed: dict[str, Shown]
    custom: dict[str, OwnMetric]
    computing: bool
    """Whether they are still being computed."""


class BacktestCounts(msgspec.Struct, kw_only=True):
    account_values: int
    trades: int


class ShownBacktest(msgspec.Struct, kw_only=True):
    backtest_id: str
    created_at: float
    label: str | None
    description: str | None
    status: BacktestStatus | None
    """Null until it was posted."""
    metrics: BacktestMetrics
    counts: BacktestCounts
    arguments: dict[str, Any] | None
    """The arguments of the call; null if the result was pushed."""
    symbols: list[str] | UnsetType = UNSET
    """From here on only once a result has arrived."""
    quote_asset: str | UnsetType = UNSET
    start_time: float | str | UnsetType | None = UNSET
    stop_time: float | str | UnsetType | None = UNSET
    exchange: str | UnsetType | None = UNSET
    indicators: dict[str, Any] | UnsetType = UNSET
    trials: Deflated | UnsetType = UNSET
    """Only of a single backtest, not in a list."""
    basis: Basis | UnsetType | None = UNSET


class BacktestTrade(msgspec.Struct, kw_only=True):
    index: int
    symbol: str
    side: str
    time: float
    price: float | UnsetType | None = UNSET
    size: float | UnsetType | None = UNSET
