"""Trades matched into round trips: what was opened first is closed first, symbol by symbol.

How a trade divides into closing and opening is the books' own rule. Where positions are never
negative, a sell of more than is held closes what is held, and the rest is a warning.
"""

from collections import deque
from collections.abc import Iterable
from typing import Literal

import msgspec

from tapeline.results.metrics import not_computed
from tapeline.results.metrics.trades import Trade
from tapeline.results.rules.position import parted

DUST = 1e-9  # of a lot: what floating point leaves of it when all of it is sold
NO_PRICE = "A trade came without its price."
# It names no symbol, currency or kind of contract: links that hide those show it too.
LEFT_OUT = (
    "count in no sum of money: their currency, that of their fees, or their contracts do not allow "
    "it"
)

Way = Literal["long", "short"]


class RoundTrip(msgspec.Struct, gc=False, kw_only=True):
    symbol: str
    size: float
    entry_time: float
    exit_time: float
    entry_price: float | None
    exit_price: float | None
    fees: float | None
    profit: float | None
    """In money, net of the fees of both sides."""
    profit_percent: float | None
    """A share of what the entry cost."""
    entry_index: int
    """The places of both trades in the list that was sent."""
    exit_index: int
    reason: str | None = None
    """Why there is no profit, and where the symbol is not computed no fee either."""
    side: Way = "long"


class Open(msgspec.Struct, gc=False, kw_only=True):
    """Opened and not closed by the end."""

    symbol: str
    size: float
    entry_time: float
    entry_price: float | None
    side: Way = "long"
    fees: float | None = 0.0
    """What opening it cost; no round trip has them. Null where the symbol is not computed."""


class Matched(msgspec.Struct, kw_only=True):
    trips: list[RoundTrip]
    """In the order of their exits."""
    open: list[Open]
    trades: int
    traded: float | None
    """The value of all trades; null when a price or a size is missing, or a symbol is left out."""
    fees: float | None
    """Of all trades, whether they are matched or not; null when one of a symbol is left out."""
    first: float | None = None
    last: float | None = None
    oversold: int = 0
    """Sells of more than was held."""
    unsized: int = 0
    """Trades without a size; they are matched with nothing."""
    unpriced: int = 0
    sideless: int = 0
    """Trades that neither buy nor sell."""
    left_out: int = 0
    """Trades of symbols that are not computed."""
    not_computed: dict[str, str] = {}
    """Symbols that count in no sum of money, and why."""


class _Lot(msgspec.Struct, gc=False):
    left: float
    size: float
    price: float | None
    fee: float  # per unit
    time: float
    index: int
    sign: int


class _Lots(msgspec.Struct):
    """What is open of one symbol, all of it in one direction."""

    lots: deque[_Lot]
    held: float = 0.0


def match(trades: Iterable[Trade], *, long_only: bool = False, quote_asset: str = "") -> Matched:
    """First in, first out. Trades count in the order of their times, ties as they were sent.
    `quote_asset`: that amounts are in; empty where all trades are known to count in one."""
    ordered = sorted(trades, key=lambda trade: trade.time)
    lots: dict[str, _Lots] = {}
    found = Matched(trips=[], open=[], trades=0, traded=0.0, fees=0.0)
    found.not_computed = not_computed.reasons(ordered, quote_asset)
    if ordered:
        found.first, found.last = ordered[0].time, ordered[-1].time
    for trade in ordered:
        if not trade.is_declared:
            _count(found, trade)
        if trade.side in {"buy", "sell"} and trade.size is not None:
            _trade(
                found, lots.setdefault(trade.symbol, _Lots(deque())), trade, trade.size, long_only
            )
    for symbol, of_symbol in lots.items():
        found.open += [
            Open(
                symbol=symbol,
                size=lot.left,
                entry_time=lot.time,
                entry_price=lot.price,
                side=_way(lot),
                fees=None if symbol in found.not_computed else lot.left * lot.fee,
            )
            for lot in of_symbol.lots
        ]
    return found


def left_out(found: Matched) -> str:
    return f"{found.left_out:,} of {found.trades:,} trades {LEFT_OUT}."


def _count(found: Matched, trade: Trade) -> None:
    found.trades += 1
    is_left_out = trade.symbol in found.not_computed
    found.left_out += is_left_out
    if is_left_out and trade.fee:
        found.fees = None
    elif found.fees is not None:
        found.fees += trade.fee
    if trade.side not in {"buy", "sell"}:
        found.sideless += 1
        return
    if trade.size is None:
        found.unsized += 1
    elif trade.price is None:
        found.unpriced += 1
    if trade.size is None or trade.price is None or is_left_out:
        found.traded = None
    elif found.traded is not None:
        found.traded += trade.size * trade.price * trade.multiplier


def _trade(found: Matched, of_symbol: _Lots, trade: Trade, size: float, long_only: bool) -> None:
    is_sell = trade.side == "sell"
    closing, opening = parted(of_symbol.held, size, is_sell=is_sell)
    is_oversold = bool(opening) and is_sell and long_only and not trade.is_declared
    # Nothing else has the fee of what is sold without being held.
    fee = trade.fee / (closing if is_oversold and closing else size)
    if closing:
        _close(found, of_symbol, trade, closing, fee)
    if is_oversold:
        found.oversold += 1
    elif opening:
        sign = -1 if is_sell else 1
        of_symbol.held += sign * opening
        lot = _Lot(opening, opening, trade.price, fee, trade.time, trade.index, sign)
        of_symbol.lots.append(lot)


def _close(found: Matched, of_symbol: _Lots, trade: Trade, closing: float, fee: float) -> None:
    lots, left = of_symbol.lots, closing
    while lots and left > DUST * closing:
        lot = lots[0]
        taken = min(lot.left, left)
        found.trips.append(_trip(lot, trade, taken, fee, found.not_computed.get(trade.symbol)))
        left -= taken
        lot.left -= taken
        of_symbol.held -= lot.sign * taken
        if lot.left <= DUST * lot.size:
            lots.popleft()
    if not lots:
        of_symbol.held = 0.0  # whatever floating point has left of it


def _trip(lot: _Lot, exit_: Trade, size: float, fee: float, problem: str | None) -> RoundTrip:
    """`problem`: why the symbol is not computed."""
    fees = size * (lot.fee + fee)
    profit = share = None
    if problem is None and lot.price is not None and exit_.price is not None:
        worth = size * exit_.multiplier
        profit = lot.sign * worth * (exit_.price - lot.price) - fees
        share = profit / (worth * lot.price) if worth * lot.price > 0 else None
    return RoundTrip(
        symbol=exit_.symbol,
        size=size,
        entry_time=lot.time,
        exit_time=exit_.time,
        entry_price=lot.price,
        exit_price=exit_.price,
        fees=None if problem else fees,
        profit=profit,
        profit_percent=share,
        entry_index=lot.index,
        exit_index=exit_.index,
        reason=problem or (None if profit is not None else NO_PRICE),
        side=_way(lot),
    )


def _way(lot: _Lot) -> Way:
    return "long" if lot.sign > 0 else "short"
