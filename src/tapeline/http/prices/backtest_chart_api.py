"""The view API for the price chart of a backtest: the model's bars or those of an exchange over its
period, with the backtest's own trades."""

import math
from typing import Any

from sqlalchemy import Connection

from tapeline.http import settling
from tapeline.http.core.endpoint import QueryCall
from tapeline.http.prices import chart_api
from tapeline.http.prices.chart_answers import PricePoint, Prices, SymbolBars
from tapeline.http.prices.chart_api import LISTED, PriceWindow
from tapeline.prices import series
from tapeline.prices.window import Asked, Window
from tapeline.results.backtests import trade_marks
from tapeline.results.backtests.trade_marks import AveragePrice, Traded
from tapeline.results.prices.fills import FillMarks
from tapeline.tape import tapes
from tapeline.tape.reading import backtests
from tapeline.tape.tapes import Reading


class BacktestPrices(Prices, kw_only=True):
    average: list[AveragePrice]
    """The average price of what the backtest held, from each moment on."""
    reason: str | None
    """Why there are no trades in it, although the backtest has some."""


async def catch_up(call: QueryCall[PriceWindow]) -> None:
    """Bars that were acknowledged before are shown."""
    await settling.catch_up(call)


def show_backtest_prices(connection: Connection, call: QueryCall[PriceWindow]) -> BacktestPrices:
    """A symbol's prices during a backtest, with its trades; by default over its whole period."""
    model = tapes.reading(connection, call.actor, call.path("model"))
    row = backtests.find(connection, model.tape, call.path("backtest"))
    traded = Traded({}, 0)
    if row.upload is not None:
        traded = call.services.reporter.trades.traded(connection, row.upload)
    header = backtests.header(row)
    names = _symbols(header, traded)
    symbol = call.query.symbol or next(iter(names), None)
    known = series.symbols_of(connection, model.tape, LISTED)
    listed = [SymbolBars(name, known.get(name, [])) for name in names]
    if symbol is None:
        return _with_trades(chart_api.prices(None, listed), header, traded)
    asked = _within(chart_api.asked(call.query), header, traded)
    exchange = call.services.settings.price_source
    return _with_trades(
        _bars_or_line(connection, model, symbol, asked, listed, traded, exchange), header, traded
    )


def _bars_or_line(
    connection: Connection,
    model: Reading,
    symbol: str,
    asked: Asked,
    listed: list[SymbolBars],
    traded: Traded,
    exchange: str,
) -> Prices:
    found = chart_api.bars(connection, model, symbol, asked, exchange)
    if found.shown is not None:
        return chart_api.as_bars(symbol, listed, found)
    between = Window(0, asked.since or 0.0, asked.until or 0.0)
    points = [
        PricePoint(one.time, one.price)
        for one in traded.of(symbol)
        if one.price is not None and between.since <= one.time < between.until
    ]
    return chart_api.prices(
        symbol,
        listed,
        between,
        source="trades" if points else "nothing",
        price_source=chart_api.source(found.there),
        line=points[:: len(points) // asked.points + 1],
    )


def _with_trades(found: Prices, header: dict[str, Any], traded: Traded) -> BacktestPrices:
    trades = traded.of(found.symbol or "")
    since, until = found.since or 0.0, found.until or 0.0
    long_only = header.get("positions") == "long_only"
    fields = {name: getattr(found, name) for name in found.__struct_fields__}
    fields["fills"] = trade_marks.marks(trades, since, until) if trades else FillMarks([])
    return BacktestPrices(
        **fields,
        average=trade_marks.averages(trades, since, until, long_only=long_only),
        reason=traded.reason,
    )


def _symbols(header: dict[str, Any], traded: Traded) -> list[str]:
    """The most traded first, then those that the result names without a trade."""
    by_trades = sorted(traded.symbols, key=lambda name: (-len(traded.symbols[name]), name))
    return list(dict.fromkeys([*by_trades, *header.get("symbols", [])]))[:LISTED]


def _within(asked: Asked, header: dict[str, Any], traded: Traded) -> Asked:
    """The period of the backtest, unless another is asked for; no trade lies outside of it."""
    if asked.since is not None and asked.until is not None:
        return asked
    times = [trades[place].time for trades in traded.symbols.values() for place in (0, -1)]
    said = (header.get(name) for name in ("start_time", "stop_time"))
    times += [one for one in said if isinstance(one, int | float)]
    first, last = min(times, default=0.0), max(times, default=0.0)
    until = math.nextafter(last, math.inf) if asked.until is None else asked.until
    since = min(first, until) if asked.since is None else asked.since
    return asked._replace(since=min(since, until), until=until)
