"""The fields of a report, and their form for readers. Without numpy, to keep start-up fast."""

from typing import Any, Literal, NamedTuple

import msgspec

from tapeline.results.metrics.deflated import Trial
from tapeline.results.metrics.round_trips import Open

VERSION = 4
"""Of the formulas. A report of an earlier one is made anew."""
ROUND_TRIPS = "round_trips"
TRIPS_IN_PIECE = 1_000
INDEX = -1  # the level under which a series says what its levels are

KEY = ("total_return", "sharpe", "max_drawdown", "trades")
"""Those that a list of backtests shows."""

Type = Literal["percent", "number", "money", "count", "days", "time"]
"""A percent is a share: 0.05 is 5 %. Money is in the quote asset, a time in epoch seconds."""


class Measured(NamedTuple):
    value: float | None
    reason: str | None


class Shown(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A metric as readers get it."""

    value: float | None
    display_name: str
    type: Type
    explanation: str
    reason: str | None = None
    """Why there is no value."""


class Notes(msgspec.Struct, frozen=True):
    """What was wrong with a series before it was put in order."""

    sent: int = 0
    missing: int = 0
    """Values that are null."""
    duplicates: int = 0
    """Values with the time of a later one in the list; the later one counts."""
    impossible: int = 0
    """Values whose time is not within the years 1 to 9999."""
    unsorted: bool = False


class Drawdown(msgspec.Struct, frozen=True, kw_only=True):
    depth: float
    """Negative: a share of the peak, or money where no account value is known."""
    start: float
    """When the peak was."""
    valley: float
    """When the value was lowest."""
    end: float | None
    """When the peak was reached again; null if it never was."""
    seconds: float
    """From the peak to its recovery, or to the last value."""


class Basis(msgspec.Struct, kw_only=True):
    """What the metrics are computed from."""

    first: float | None = None
    last: float | None = None
    first_value: float | None = None
    last_value: float | None = None
    notes: Notes
    days: int = 0
    periods_per_year: int | None = None
    reason: str | None = None
    """Why there is no number of periods a year, so that nothing is annualised."""


class Period(msgspec.Struct):
    period: str
    """`2024` or `2024-03`."""
    value: float | None
    """Null where it is not a finite number."""


class OfSymbol(msgspec.Struct):
    symbol: str
    round_trips: int
    profit: float | None
    win_rate: float | None


class Trips(msgspec.Struct, kw_only=True):
    """The round trips in short."""

    count: int
    fees: float | None
    """Of the round trips: `profit` is net of them. Both are null where a symbol is not computed."""
    profit: float | None
    open: list[Open]
    open_count: int
    symbols: list[OfSymbol]
    warnings: list[str]
    open_fees: float | None = 0.0
    """What opening the positions cost that are still open at the end."""


class Rolled(msgspec.Struct):
    window: int | None
    reason: str | None = None


class Report(msgspec.Struct, kw_only=True):
    basis: Basis
    computed: dict[str, Measured]
    drawdowns: list[Drawdown]
    months: list[Period]
    years: list[Period]
    periods_reason: str | None
    rolling: Rolled
    trips: Trips
    trial: Trial | None


Align = Literal["time", "start"]
"""By the calendar, or each from its own first value."""
Base = Literal["window", "start"]
"""Where each is 100: at its first value that is shown, or at its first of all."""


class Compared(msgspec.Struct, kw_only=True):
    backtest_id: str
    label: str | None
    first: float | None
    last: float | None
    values: list[float | None]
    """At the times of the axis, rebased to 100; null before and after its own time."""
    reason: str | None = None
    arguments: dict[str, Any] | None = None
    """What it was called with; null where the result was pushed."""


class ComparedMetric(msgspec.Struct, kw_only=True):
    name: str
    display_name: str
    type: Type
    explanation: str
    values: list[float | None]
    """In the order of the backtests."""
    best: list[int]
    """The places of the best; empty where more is neither better nor worse."""


class Comparison(msgspec.Struct, kw_only=True):
    align: Align
    times: list[float]
    """Epoch seconds, or seconds since each one's own start."""
    items: list[Compared]
    metrics: list[ComparedMetric]


class Row(msgspec.Struct, frozen=True):
    """A row of a report's pieces."""

    name: str
    level: int
    piece: int
    content: bytes
