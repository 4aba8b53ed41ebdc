"""A backtest beside a benchmark, by bars, by the prices at which it traded, or by those of live
models."""

from collections.abc import Iterable

from sqlalchemy import Connection, func, select

from tapeline.results.charts.daily_prices import NONE, Prices, of_closes
from tapeline.results.metrics.account import Account, Lacking, from_pieces, ordered
from tapeline.results.metrics.trades import Trade, read
from tapeline.results.performance import buy_and_hold
from tapeline.results.performance.answers import BUY_AND_HOLD, ShownBenchmark
from tapeline.results.performance.buy_and_hold import MOST_SYMBOLS
from tapeline.results.performance.symbol_prices import SymbolPrices
from tapeline.results.rules.days import Closes, day_of
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
    account = account_of(connection, upload)
    try:
        days, traded = account.days, traded_prices(connection, upload)
    except Lacking as lacking:
        return ShownBenchmark(name=name, reason=lacking.reason)
    names = most_traded(traded) if name == BUY_AND_HOLD else [name]
    found = SymbolPrices(connection, model, (int(days[0]), int(days[-1])), exchange)
    known = {one: found.of(one, traded.get(one, NONE)) for one in names}
    return buy_and_hold.beside(account, name, known, points)


def account_of(connection: Connection, upload: str) -> Account:
    contents = list(result_pieces.contents(connection, upload, "equity"))
    return Account(ordered(*from_pieces(contents)))


def traded_prices(connection: Connection, upload: str) -> dict[str, Prices]:
    """By symbol; of no more trades than can be read."""
    if _count(connection, upload) > MOST_TRADES:
        raise Lacking(TOO_MANY)
    return by_symbol(read(result_pieces.contents(connection, upload, "trades")))


def most_traded(traded: dict[str, Prices]) -> list[str]:
    return sorted(traded, key=lambda one: (-len(traded[one].days), one))[:MOST_SYMBOLS]


def by_symbol(trades: Iterable[Trade]) -> dict[str, Prices]:
    """The price of the last trade of each day."""
    found: dict[str, Closes] = {}
    for one in trades:
        if one.price is not None:
            days = found.setdefault(one.symbol, {})
            day = day_of(one.time)
            if day not in days or days[day][0] <= one.time:
                days[day] = (one.time, one.price)
    return {symbol: of_closes(days) for symbol, days in found.items()}


def _count(connection: Connection, upload: str) -> int:
    """At most; the last piece may be shorter."""
    query = select(func.count()).where(pieces.c.upload == upload, pieces.c.list == "trades")
    return PIECE * int(connection.scalar(query) or 0)
