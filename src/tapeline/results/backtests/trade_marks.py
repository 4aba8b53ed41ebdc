"""A backtest's trades on a price chart: each as a mark, or groups where there are many, with the
average price of what was held, by the books' own rule of closing and opening."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec
from sqlalchemy import Connection, func, select

from tapeline.recently_used import RecentlyUsed
from tapeline.results.metrics.trades import Trade, read
from tapeline.results.prices.fills import FEW, STRETCHES, FillMark, FillMarks, together
from tapeline.results.rules.position import parted
from tapeline.store.tables.tape import pieces
from tapeline.tape.backtest_results import result_pieces
from tapeline.tape.backtest_results.result_format import PIECE

MOST = 100_000  # more would take longer to read than anybody waits
KEPT = 300_000  # trades that are kept in memory, of all backtests together
TOO_MANY = f"There are more than {MOST:,} trades, too many for a price chart."


class AveragePrice(msgspec.Struct):
    """Of what is held from a moment on; null while nothing is."""

    time: float
    price: float | None


class Traded(msgspec.Struct, frozen=True):
    """A backtest's trades by symbol, those of each by time."""

    symbols: dict[str, list[Trade]]
    count: int
    reason: str | None = None
    """Why there are none."""

    def of(self, symbol: str) -> Sequence[Trade]:
        return self.symbols.get(symbol, [])


class TradeMarks:
    """Keeps what was read: a result never changes, and a chart asks for window after window."""

    def __init__(self) -> None:
        self._known = RecentlyUsed[str, Traded](KEPT, lambda one: 1 + one.count)

    def traded(self, connection: Connection, upload: str) -> Traded:
        return self._known.get(upload, lambda: _read(connection, upload))


def marks(trades: Sequence[Trade], since: float, until: float) -> FillMarks:
    """Within a window. The id of a mark is the place of its trade in the list that was sent."""
    shown = [one for one in trades if since <= one.time < until]
    last = trades[-1].time if trades else None
    if len(shown) <= FEW:
        return FillMarks([_mark(one) for one in shown], last=last)
    return FillMarks(list(_grouped(shown, since, until)), grouped=True, last=last)


def averages(
    trades: Sequence[Trade], since: float, until: float, *, long_only: bool
) -> list[AveragePrice]:
    """The average at the start of a window, and after each trade in it that changes it."""
    found = list[AveragePrice]()
    for time, price in _averages(trades, long_only=long_only):
        if time >= until:
            break
        if time <= since:
            found = [AveragePrice(since, price)]
        elif not found or found[-1].price != price:
            found.append(AveragePrice(time, price))
    return found if len(found) <= FEW else found[:: len(found) // FEW + 1]


def _averages(trades: Sequence[Trade], *, long_only: bool) -> Iterator[tuple[float, float | None]]:
    held = cost = 0.0
    for one in trades:
        if one.size is None or one.price is None:
            continue
        is_sell = one.side == "sell"
        closing, opening = parted(held, one.size, is_sell=is_sell)
        if closing:
            left = 0.0 if closing == abs(held) else 1 - closing / abs(held)
            held, cost = held * left, cost * left
        if not (is_sell and long_only):
            signed = -opening if is_sell else opening
            held, cost = held + signed, cost + signed * one.price
        yield one.time, cost / held if held else None


def _read(connection: Connection, upload: str) -> Traded:
    parts = select(func.count()).where(pieces.c.upload == upload, pieces.c.list == "trades")
    if PIECE * int(connection.scalar(parts) or 0) > MOST:
        return Traded({}, 0, TOO_MANY)
    sided = [
        one
        for one in read(result_pieces.contents(connection, upload, "trades"))
        if one.side in {"buy", "sell"}
    ]
    by_symbol: dict[str, list[Trade]] = {}
    for one in sorted(sided, key=lambda trade: trade.time):
        by_symbol.setdefault(one.symbol, []).append(one)
    return Traded(by_symbol, len(sided))


def _grouped(shown: Sequence[Trade], since: float, until: float) -> Iterator[FillMark]:
    width = max((until - since) / STRETCHES, 1e-9)
    for _, some in groupby(shown, key=lambda one: int((one.time - since) / width)):
        yield from together([_mark(one) for one in some])


def _mark(trade: Trade) -> FillMark:
    return FillMark(
        time=trade.time,
        side=trade.side,
        price=trade.price,
        size=trade.size,
        order_id=str(trade.index),
    )
