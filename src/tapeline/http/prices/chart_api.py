"""The view API for price charts: bars or a line, indicators and fills, in one answer."""

import math
from array import array
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import msgspec
from sqlalchemy import Connection, select

from tapeline.errors import Invalid
from tapeline.http import settling
from tapeline.http.core.endpoint import Call, QueryCall
from tapeline.http.prices.chart_answers import (
    BarColumns,
    IndicatorLine,
    PricePoint,
    Prices,
    ShownSource,
    Source,
    SymbolBars,
)
from tapeline.http.view import results_api
from tapeline.http.view.results_api import Moment
from tapeline.prices import indicators, series, window
from tapeline.prices.columns import Bars
from tapeline.prices.indicators import Line
from tapeline.prices.series import Series
from tapeline.prices.source import markets
from tapeline.prices.source.markets import MarketBars
from tapeline.prices.window import Asked, Shown, Window
from tapeline.results.prices import fills, line, stretches
from tapeline.results.prices.fills import FillMarks
from tapeline.store.tables.tape import orders
from tapeline.tape import tapes
from tapeline.tape.events.price_bodies import interval_of, name_of
from tapeline.tape.tapes import Reading

LISTED = 1_000
"""Series that are listed."""
DAY = 86_400.0
LINE_DAYS = 30
"""Of a line, by default: marks have no interval."""


SOURCES: dict[tuple[bool, bool], Source] = {
    (True, True): "bars",
    (True, False): "coarser bars",
    (False, True): "exchange bars",
    (False, False): "coarser exchange bars",
}
"""By whether they are the model's own, and as they were reported."""


class Found(NamedTuple):
    """The bars of a window, and what the price source knows of the symbol."""

    shown: Shown | None
    is_own: bool
    """Whether they are the model's."""
    there: MarketBars | None


class PriceWindow(msgspec.Struct):
    symbol: str | None = None
    """By default the one with the newest bar, else the one of the newest order."""
    interval: str | None = None
    """`1m`, `5m`, `15m`, `1h`, `4h`, `1d` or seconds; by default the finest that most of the window
    has. A coarser one is shown where this would be more than `points` bars."""
    since: Moment | None = msgspec.field(name="from", default=None)
    """Epoch seconds, as `to`; by default so that `points` bars fit."""
    until: Moment | None = msgspec.field(name="to", default=None)
    """By default the end of the newest bar."""
    points: Annotated[int, msgspec.Meta(ge=2, le=5000)] = 1000


async def catch_up(call: Call) -> None:
    """Fills come from the books, bars from their chunks."""
    await results_api.catch_up(call)
    await settling.catch_up(call)


def show_prices(connection: Connection, call: QueryCall[PriceWindow]) -> Prices:
    """A symbol's prices within a window, with indicators and fills."""
    asked_for = asked(call.query)
    model = tapes.reading(connection, call.actor, call.path("model"))
    tape = model.tape
    known = series.symbols_of(connection, tape, LISTED)
    others = (name for name in stretches.symbols_of(connection, tape, LISTED) if name not in known)
    listed = [SymbolBars(name, known.get(name, [])) for name in (*known, *others)]
    symbol = call.query.symbol or next(iter(known), None) or _traded(connection, tape)
    if symbol is None:
        return prices(None, listed)
    exchange = call.services.settings.price_source
    found = bars(connection, model, symbol, asked_for, exchange)
    if found.shown is None:
        return _as_line(connection, tape, symbol, asked_for, listed, found.there)
    answer = as_bars(symbol, listed, found)
    between = found.shown.window
    answer.indicators = _indicators(connection, tape, symbol, between, asked_for.points)
    answer.fills = _fills(connection, tape, symbol, between)
    return answer


def bars(connection: Connection, model: Reading, symbol: str, asked: Asked, exchange: str) -> Found:
    """The model's own bars in a window, or those of the exchange where they are finer."""
    there = markets.bars_of(connection, exchange, model.project_id, symbol)
    reported = series.bars_of(connection, model.tape, symbol)
    own = shown = window.bars(connection, reported, asked)
    if there is not None and not _is_enough(own, reported, asked):
        shown = _finer(own, window.bars(connection, there.series, asked))
    return Found(shown, shown is own, there)


def as_bars(symbol: str, listed: list[SymbolBars], found: Found) -> Prices:
    """Without indicators and fills."""
    shown = found.shown
    assert shown is not None
    return prices(
        symbol,
        listed,
        shown.window,
        source=SOURCES[found.is_own, shown.made_from is None],
        price_source=source(found.there),
        made_from=shown.made_from,
        bars=_columns(shown.bars, shown.widths),
    )


def _is_enough(own: Shown | None, reported: list[Series], asked: Asked) -> bool:
    """Whether they are as fine as the window can have them: where finer ones are missing, a window
    has coarse ones that hold it."""
    if own is None:
        return False
    return own.window.interval <= window.resolved(reported, asked).interval


def _finer(own: Shown | None, other: Shown | None) -> Shown | None:
    if own is None or (other is not None and other.window.interval < own.window.interval):
        return other
    return own


def _as_line(
    connection: Connection,
    tape: int,
    symbol: str,
    asked: Asked,
    listed: list[SymbolBars],
    there: MarketBars | None,
) -> Prices:
    until, since = asked.until, asked.since
    if until is None:
        until = math.nextafter(line.newest(connection, tape, symbol) or 0.0, math.inf)
    if since is None:
        since = until - LINE_DAYS * DAY
    between = Window(0, min(since, until), until)
    points = line.line(connection, tape, symbol, between.since, until, asked.points)
    return prices(
        symbol,
        listed,
        between,
        source="marks and fills" if points else "nothing",
        price_source=source(there),
        line=[PricePoint(*point) for point in points],
        indicators=_indicators(connection, tape, symbol, between, asked.points),
        fills=_fills(connection, tape, symbol, between),
    )


def source(there: MarketBars | None) -> ShownSource | None:
    if there is None:
        return None
    return ShownSource(
        exchange=there.exchange,
        market=there.market,
        answered_at=there.answered_at,
        problem=there.problem or None,
    )


def asked(query: PriceWindow) -> Asked:
    if query.since is not None and query.until is not None and query.since > query.until:
        raise Invalid("`from` must not be after `to`.", field="from")
    interval = interval_of(query.interval) if query.interval else None
    return Asked(interval, query.since, query.until, query.points)


def _traded(connection: Connection, tape: int) -> str | None:
    """The symbol of the newest order."""
    here = (orders.c.tape == tape, orders.c.symbol.is_not(None))
    newest = select(orders.c.symbol).where(*here).order_by(orders.c.seq.desc()).limit(1)
    found: str | None = connection.scalar(newest)
    return found


def prices(
    symbol: str | None,
    symbols: list[SymbolBars],
    between: Window | None = None,
    *,
    source: Source = "nothing",
    price_source: ShownSource | None = None,
    made_from: int | None = None,
    bars: BarColumns | None = None,
    line: list[PricePoint] | None = None,
    indicators: Sequence[IndicatorLine] = (),
    fills: FillMarks | None = None,
) -> Prices:
    interval = between.interval if between and bars else None
    return Prices(
        symbol=symbol,
        source=source,
        price_source=price_source,
        interval=interval,
        interval_name=name_of(interval) if interval else None,
        made_from=made_from,
        since=between.since if between else None,
        until=between.until if between else None,
        bars=bars,
        line=line,
        indicators=list(indicators),
        fills=fills or FillMarks([]),
        symbols=symbols,
    )


def _columns(bars: Bars, widths: list[int] | None) -> BarColumns:
    return BarColumns(
        bars.time.tolist(),
        bars.open.tolist(),
        bars.high.tolist(),
        bars.low.tolist(),
        bars.close.tolist(),
        _or_null(bars.volume),
        widths,
    )


def _indicators(
    connection: Connection, tape: int, symbol: str, between: Window, points: int
) -> list[IndicatorLine]:
    every = series.indicators_of(connection, tape, symbol, indicators.MOST)
    return [_drawn(one) for one in indicators.lines(connection, every, between, points)]


def _drawn(one: Line) -> IndicatorLine:
    drawn = IndicatorLine(
        one.series.name,
        one.series.symbol or None,
        one.series.pane,
        one.interval,
        one.points.time.tolist(),
        _or_null(one.points.close),
    )
    if one.interval is not None:
        drawn.low, drawn.high = _or_null(one.points.low), _or_null(one.points.high)
    return drawn


def _fills(connection: Connection, tape: int, symbol: str, between: Window) -> FillMarks:
    return fills.fills(connection, tape, symbol, between.since, between.until)


def _or_null(column: "array[float]") -> list[float | None]:
    return [None if math.isnan(one) else one for one in column]
