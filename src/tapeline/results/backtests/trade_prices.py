"""A backtest beside a benchmark, by bars, by the prices at which it traded, or by those of live
models."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from tapeline.results.charts.daily_prices import NONE, Prices
from tapeline.results.metrics.account import DAY, Account, Lacking, from_pieces, ordered
from tapeline.results.metrics.trades import Trade, read
from tapeline.results.performance import buy_and_hold
from tapeline.results.performance.answers import BUY_AND_HOLD, ShownBenchmark
from tapeline.results.performance.buy_and_hold import MOST_SYMBOLS
from tapeline.results.performance.symbol_prices import SymbolPrices
from tapeline.store.tables.tape import pieces
from tapeline.tape.backtest_results import result_pieces
from tapeline.tape.backtest_results.result_format import PIECE
from tapeline.tape.tapes import Reading

MOST_TRADES = 100_000  # more would take longer to read than anybody waits
TOO_MANY = f"There are more than {MOST_TRADES:,} trades, too many to find prices in."


def of_backtest(
    connection: Connection, model: Reading, upload: str, name: str, points: int, exchange: str
) -> ShownBenchmark:
    """`exchange`: the price source; empty: none."""
    contents = list(result_pieces.contents(connection, upload, "equity"))
    account = Account(ordered(*from_pieces(contents)))
    try:
        days = account.days
    except Lacking as lacking:
        return ShownBenchmark(name=name, reason=lacking.reason)
    if _count(connection, upload) > MOST_TRADES:
        return ShownBenchmark(name=name, reason=TOO_MANY)
    traded = by_symbol(read(result_pieces.contents(connection, upload, "trades")))
    span, names = (int(days[0]), int(days[-1])), [name]
    if name == BUY_AND_HOLD:
        names = sorted(traded, key=lambda one: (-len(traded[one].days), one))
    found = SymbolPrices(connection, model, span, exchange)
    known = {one: found.of(one, traded.get(one, NONE)) for one in names[:MOST_SYMBOLS]}
    return buy_and_hold.beside(account, name, known, points)


def by_symbol(trades: Iterable[Trade]) -> dict[str, Prices]:
    """The price of the last trade of each day."""
    found: dict[str, dict[int, tuple[float, float]]] = {}
    for one in trades:
        if one.price is not None:
            days = found.setdefault(one.symbol, {})
            day = int(one.time // DAY)
            if day not in days or days[day][0] <= one.time:
                days[day] = (one.time, one.price)
    return {symbol: _prices(days) for symbol, days in found.items()}


def _prices(days: dict[int, tuple[float, float]]) -> Prices:
    rows: Any = np.array([(day, *days[day]) for day in sorted(days)])
    return Prices(rows[:, 0].astype("i8"), rows[:, 2], rows[:, 1])


def _count(connection: Connection, upload: str) -> int:
    """At most; the last piece may be shorter."""
    query = select(func.count()).where(pieces.c.upload == upload, pieces.c.list == "trades")
    return PIECE * int(connection.scalar(query) or 0)
