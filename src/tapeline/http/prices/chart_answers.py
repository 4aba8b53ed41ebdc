"""What a price chart gets: bars or a line, indicators and fills."""

from typing import Literal

import msgspec

from tapeline.results.prices.fills import FillMarks

Source = Literal[
    "bars",
    "coarser bars",
    "exchange bars",
    "coarser exchange bars",
    "marks and fills",
    "trades",
    "nothing",
]


class BarColumns(msgspec.Struct):
    """One value per bar in each column. A gap in `time` is a gap in the reports."""

    time: list[float]
    open: list[float]
    high: list[float]
    low: list[float]
    close: list[float]
    volume: list[float | None]
    intervals: list[int] | None = None
    """Seconds of each bar, where some are coarser than `interval` of the answer because finer ones
    are missing there. Null: all are the same."""


class PricePoint(msgspec.Struct):
    time: float
    price: float


class IndicatorLine(msgspec.Struct):
    name: str
    symbol: str | None
    pane: str
    """`price`, or the name of another pane."""
    interval: int | None
    """Seconds per value where there are too many to show each; then `value` is the last of each
    stretch, and `low` and `high` are its extremes."""
    time: list[float]
    value: list[float | None]
    """Null is a gap in the line."""
    low: list[float | None] | None = None
    high: list[float | None] | None = None


class SymbolBars(msgspec.Struct):
    symbol: str
    intervals: list[int]
    """In seconds, as they were reported; none where the chart is a line of marks and fills."""


class ShownSource(msgspec.Struct, kw_only=True):
    """The exchange from which this server gets prices, and the market that a symbol is there."""

    exchange: str
    market: str
    answered_at: float | None
    """When it last had prices of this market; null: not yet."""
    problem: str | None
    """Why there are no prices, or why some are missing."""


class Prices(msgspec.Struct, kw_only=True):
    symbol: str | None
    """Null for a model without any."""
    source: Source
    """What the prices are: bars as the model reported them, or made from those; bars from an
    exchange, or made from those; a line of marks and fills, or of a backtest's trades, where there
    are no bars; or nothing."""
    price_source: ShownSource | None
    """Null if this server has no price source, or if it has none for this symbol."""
    interval: int | None
    """Seconds of each bar, or of the finest of them; it may be coarser than the one asked for."""
    interval_name: str | None
    made_from: int | None
    """The interval in seconds that most of the coarser bars were made from."""
    since: float | None = msgspec.field(name="from")
    until: float | None = msgspec.field(name="to")
    bars: BarColumns | None
    line: list[PricePoint] | None
    indicators: list[IndicatorLine]
    fills: FillMarks
    symbols: list[SymbolBars]
    """Those that have bars, the one with the newest first, then all others that the model traded
    or marked, by name."""
