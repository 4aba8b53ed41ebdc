"""What is answered about round trips of a live model. Without numpy: start-up stays light."""

import msgspec

from tapeline.results.metrics.round_trips import Open, Way


class LiveTrip(msgspec.Struct, kw_only=True):
    symbol: str
    side: Way
    size: float
    entry_time: float
    exit_time: float
    seconds: float
    """How long it was held."""
    entry_price: float | None
    exit_price: float | None
    fees: float
    profit: float | None
    """In money, net of the fees of both sides; first in, first out."""
    profit_percent: float | None
    currency: str
    """That the symbol is quoted in: of prices, fees and profit."""
    best_price: float | None
    """The best price of the symbol that is known from while it was held; null if too many are."""
    worst_price: float | None
    entry_order: str | None
    """Null for what was held before the first order."""
    exit_order: str | None
    version: int | None
    """That ran live when it was entered."""


class Group(msgspec.Struct, kw_only=True):
    """Round trips that have something in common."""

    key: str
    round_trips: int
    profit: float | None
    fees: float
    win_rate: float | None
    average_seconds: float


class Bin(msgspec.Struct, kw_only=True):
    """How many round trips had a result from `low` to below `high`."""

    low: float
    high: float
    round_trips: int


class TripGroups(msgspec.Struct, kw_only=True):
    """Hours and weekdays are those of the entry, in UTC; days those of the exit."""

    count: int = 0
    profit: float | None = None
    open: list[Open] = []
    symbols: list[Group] = []
    sides: list[Group] = []
    hours: list[Group] = []
    weekdays: list[Group] = []
    slots: list[Group] = []
    """By weekday and hour together: `Monday 14`."""
    days: list[Group] = []
    """By date: `2024-01-31`."""
    results: list[Bin] = []
    """How the profits are distributed; empty ranges between them are included."""
    versions: list[Group] = []
    by_currency: dict[str, int] = {}
    """How many round trips there are in each currency. All else here counts those in `currency` of
    the answer alone: amounts in different ones are never added up."""
    reason: str | None = None
    """Why there are none."""
