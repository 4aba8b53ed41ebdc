"""Trades matched into round trips: what was bought first is sold first, symbol by symbol.

Spot only: a sell of more than is held closes what is held, and the rest is a warning.
"""

from collections import deque
from collections.abc import Iterable

import msgspec

from tapeline.results.metrics.trades import Trade

DUST = 1e-9  # of a lot: what floating point leaves of it when all of it is sold
NO_PRICE = "A trade came without its price."


class RoundTrip(msgspec.Struct, gc=False, kw_only=True):
    symbol: str
    size: float
    entry_time: float
    exit_time: float
    entry_price: float | None
    exit_price: float | None
    fees: float
    profit: float | None
    """In money, net of the fees of both sides."""
    profit_percent: float | None
    """A share of what the entry cost."""
    entry_index: int
    """The places of both trades in the list that was sent."""
    exit_index: int
    reason: str | None = None
    """Why there is no profit."""


class Open(msgspec.Struct, gc=False, kw_only=True):
    """Bought and not sold by the end."""

    symbol: str
    size: float
    entry_time: float
    entry_price: float | None


class Matched(msgspec.Struct, kw_only=True):
    trips: list[RoundTrip]
    """In the order of their exits."""
    open: list[Open]
    trades: int
    traded: float | None
    """The value of all trades; null when a price or a size is missing."""
    fees: float
    first: float | None = None
    last: float | None = None
    oversold: int = 0
    """Sells of more than was held."""
    unsized: int = 0
    """Trades without a size; they are matched with nothing."""
    unpriced: int = 0
    sideless: int = 0
    """Trades that neither buy nor sell."""


class _Lot(msgspec.Struct, gc=False):
    left: float
    size: float
    price: float | None
    fee: float  # per unit
    time: float
    index: int


def match(trades: Iterable[Trade]) -> Matched:
    """First in, first out. Trades count in the order of their times, ties as they were sent."""
    ordered = sorted(trades, key=lambda trade: trade.time)
    lots: dict[str, deque[_Lot]] = {}
    found = Matched(trips=[], open=[], trades=len(ordered), traded=0.0, fees=0.0)
    if ordered:
        found.first, found.last = ordered[0].time, ordered[-1].time
    for trade in ordered:
        _count(found, trade)
        if trade.side not in {"buy", "sell"} or trade.size is None:
            continue
        of_symbol = lots.setdefault(trade.symbol, deque())
        if trade.side == "buy":
            of_symbol.append(
                _Lot(trade.size, trade.size, trade.price, trade.fee / trade.size, trade.time,
                     trade.index)
            )  # fmt: skip
        else:
            _sell(found, of_symbol, trade, trade.size)
    for symbol, of_symbol in lots.items():
        found.open += [
            Open(symbol=symbol, size=lot.left, entry_time=lot.time, entry_price=lot.price)
            for lot in of_symbol
        ]
    return found


def _count(found: Matched, trade: Trade) -> None:
    found.fees += trade.fee
    if trade.side not in {"buy", "sell"}:
        found.sideless += 1
        return
    if trade.size is None:
        found.unsized += 1
    elif trade.price is None:
        found.unpriced += 1
    if trade.size is None or trade.price is None:
        found.traded = None
    elif found.traded is not None:
        found.traded += trade.size * trade.price


def _sell(found: Matched, lots: deque[_Lot], trade: Trade, size: float) -> None:
    left = size
    while lots and left > DUST * size:
        lot = lots[0]
        taken = min(lot.left, left)
        found.trips.append(_trip(lot, trade, taken, trade.fee / size))
        left -= taken
        lot.left -= taken
        if lot.left <= DUST * lot.size:
            lots.popleft()
    if left > DUST * size:
        found.oversold += 1


def _trip(lot: _Lot, sell: Trade, size: float, fee: float) -> RoundTrip:
    fees = size * (lot.fee + fee)
    profit = share = None
    if lot.price is not None and sell.price is not None:
        profit = size * (sell.price - lot.price) - fees
        share = profit / (size * lot.price) if size * lot.price > 0 else None
    return RoundTrip(
        symbol=sell.symbol,
        size=size,
        entry_time=lot.time,
        exit_time=sell.time,
        entry_price=lot.price,
        exit_price=sell.price,
        fees=fees,
        profit=profit,
        profit_percent=share,
        entry_index=lot.index,
        exit_index=sell.index,
        reason=None if profit is not None else NO_PRICE,
    )
