"""A model's profit and loss for readers: the books in numbers, the curve, the warnings."""

from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, select

from tapeline.results.charts import chart_window, timeline
from tapeline.results.charts.chart_window import Window
from tapeline.results.charts.timeline import Mark
from tapeline.results.pnl.books import Book, Totals, books_of
from tapeline.results.pnl.order_fills import FillShown, fill_from
from tapeline.results.pnl.position import OVERSOLD, UNPRICED, exact, number
from tapeline.store.tables.ledger import books, entries
from tapeline.store.tables.tape import backtests
from tapeline.tape.backtest_results.series import Point
from tapeline.tape.reading import channels

LISTED = 100  # warnings, and orders without a price: the newest
DEFAULT_CURRENCY = "USD"

Source = Literal["computed", "model", "off"]


class Money(msgspec.Struct):
    """In one currency."""

    realized: float
    unrealized: float
    fees: float
    fills: int


class Position(msgspec.Struct, kw_only=True):
    symbol: str
    currency: str
    size: float
    average_price: float | None
    """Null when nothing is held."""
    last_price: float | None
    last_price_time: float | None
    value: float
    """What is held, at the last price."""
    realized: float
    unrealized: float
    fees: float
    fills: int
    estimated: int
    assumed: int


class Warned(msgspec.Struct, kw_only=True):
    code: Literal["oversold", "unpriced"]
    message: str
    order_id: str
    symbol: str
    time: float
    size: float | None
    """Of an oversold order: how much of it was not held."""


class Counts(msgspec.Struct):
    fills: int = 0
    estimated: int = 0
    assumed: int = 0
    oversold: int = 0
    unpriced: int = 0


class Unpriced(msgspec.Struct, kw_only=True):
    order_id: str
    symbol: str
    time: float


class Pnl(msgspec.Struct, kw_only=True):
    source: Source
    """Whose series this is: computed from orders, the model's own, or nobody's."""
    currency: str | None
    """The model's quote currency: the one with the most fills. The three below are in it."""
    realized: float | None = None
    unrealized: float | None = None
    fees: float | None = None
    by_currency: dict[str, Money] = {}
    positions: list[Position] = []
    series: list[Point]
    series_currency: str | None
    marks: list[Mark]
    warnings: list[Warned] = []
    """The newest; `counts` knows how many there are."""
    unpriced: list[Unpriced] = []
    counts: Counts


class Own(msgspec.Struct):
    """The profit and loss that a model set itself."""

    enabled: bool
    values: list[Point]


def shown(
    connection: Connection,
    tape: int,
    model_id: str,
    *,
    window: Window,
    points: int,
    currency: str | None,
) -> Pnl:
    own = own_of(connection, tape)
    marks = timeline.marks(connection, model_id, window)
    found = Pnl(
        source="model" if own.values else "computed" if own.enabled else "off",
        currency=None,
        series=_own_series(own, window, points) if own.values else [],
        series_currency=None,
        marks=marks,
        counts=Counts(),
    )
    if own.enabled:
        with exact():
            _add_computed(connection, tape, found, window, points, currency)
    return found


def line(connection: Connection, tape: int) -> "tuple[Any, Any] | None":
    """Times and values of the whole series in the model's quote currency, the model's own first."""
    own = own_of(connection, tape)
    if own.values or not own.enabled:
        return own_line(own.values)
    every, named = books_of(connection, tape), own_currency(connection, tape)
    sums: dict[str, Totals] = {}
    for book in every:
        sums.setdefault(book.currency, Totals()).add(book.state)
    wanted = main_currency(in_currencies(sums, named))
    return chart_window.whole(
        connection, tape, [name for name in sums if (name or named) == wanted]
    )


def own_line(values: list[Point]) -> "tuple[Any, Any] | None":
    import numpy as np  # noqa: PLC0415 - start-up stays light

    if not values:
        return None
    times, said = [one.time for one in values], [one.value for one in values]
    return np.array(times, dtype="f8"), np.array(said, dtype="f8")  # null becomes NaN


def own_of(connection: Connection, tape: int) -> Own:
    enabled = (channels.state(connection, tape, "auto_pnl") or {}).get("enabled", True)
    values = (channels.state(connection, tape, "pnl") or {}).get("values", [])
    return Own(enabled, own_points(values))


def own_points(values: list[dict[str, float]]) -> list[Point]:
    return sorted(
        (Point(one["time"], one["value"]) for one in values), key=lambda point: point.time
    )


def own_currency(connection: Connection, tape: int) -> str:
    """The currency of bare tickers of this model, from its newest backtest."""
    result = connection.scalar(
        select(backtests.c.result)
        .where(backtests.c.tape == tape, backtests.c.result.is_not(None))
        .order_by(backtests.c.no.desc())
        .limit(1)
    )
    return currency_in(result)


def currency_in(result: bytes | None) -> str:
    said = {} if result is None else msgspec.json.decode(result, type=dict[str, Any])
    asset = said.get("quote_asset")
    return asset.strip().upper() if isinstance(asset, str) and asset.strip() else DEFAULT_CURRENCY


def in_currencies(totals: dict[str, Totals], own: str) -> dict[str, Totals]:
    """By name; the model's own currency is added to the one of the same name."""
    found: dict[str, Totals] = {}
    for currency, one in totals.items():
        named = found.setdefault(currency or own, Totals())
        named.realized += one.realized
        named.unrealized += one.unrealized
        named.fees += one.fees
        named.fills += one.fills
    return {currency: found[currency] for currency in sorted(found) if found[currency].fills}


def main_currency(totals: dict[str, Totals]) -> str | None:
    """The one with the most fills; of several, the first by name. None before the first fill."""
    return max(sorted(totals), key=lambda currency: totals[currency].fills, default=None)


def money(one: Totals) -> Money:
    return Money(number(one.realized), number(one.unrealized), number(one.fees), one.fills)


def _add_computed(
    connection: Connection,
    tape: int,
    found: Pnl,
    window: Window,
    points: int,
    currency: str | None,
) -> None:
    every, own = books_of(connection, tape), own_currency(connection, tape)
    sums: dict[str, Totals] = {}
    for book in every:
        sums.setdefault(book.currency, Totals()).add(book.state)
        for name in Counts.__struct_fields__:
            more = getattr(found.counts, name) + getattr(book.state, name)
            setattr(found.counts, name, more)
    totals = in_currencies(sums, own)
    found.currency = main_currency(totals)
    found.by_currency = {name: money(one) for name, one in totals.items()}
    if found.currency is not None:
        main = found.by_currency[found.currency]
        found.realized, found.unrealized, found.fees = main.realized, main.unrealized, main.fees
    found.positions = [shown_position(book, own) for book in every if book.state.fills]
    found.positions.sort(key=lambda one: one.symbol)
    found.warnings = _warnings(connection, tape)
    found.unpriced = [
        Unpriced(order_id=one.order_id, symbol=one.symbol, time=one.time)
        for one in found.warnings
        if one.code == "unpriced"
    ]
    if found.source == "computed":
        wanted = (currency or "").upper() or found.currency
        found.series_currency = wanted
        names = [name for name in sums if (name or own) == wanted]
        found.series = chart_window.drawn(connection, tape, names, window, points)
        if found.series and window.until is None and wanted in totals:
            # The chart adds up doubles; its last value is known exactly.
            exactly = totals[wanted].realized + totals[wanted].unrealized
            found.series[-1].value = number(exactly)


def shown_position(book: Book, own: str) -> Position:
    state = book.state
    return Position(
        symbol=book.symbol,
        currency=book.currency or own,
        size=number(state.size),
        average_price=number(state.cost / state.size) if state.size else None,
        last_price=None if state.price is None else number(state.price),
        last_price_time=state.priced_at,
        value=number(state.size * state.price) if state.price is not None else 0.0,
        realized=number(state.realized),
        unrealized=number(state.unrealized),
        fees=number(state.fees),
        fills=state.fills,
        estimated=state.estimated,
        assumed=state.assumed,
    )


def _warnings(connection: Connection, tape: int) -> list[Warned]:
    """The newest of each kind, newest first."""
    found: list[Warned] = []
    for notice in (OVERSOLD, UNPRICED):
        query = (
            select(entries, books.c.symbol)
            .join(books, (books.c.tape == entries.c.tape) & (books.c.book == entries.c.book))
            .where(entries.c.tape == tape, entries.c.notice == notice)
            .order_by(entries.c.time.desc())
            .limit(LISTED)
        )
        for row in connection.execute(query):
            fill = fill_from(row)
            found.append(
                Warned(
                    code="oversold" if notice == OVERSOLD else "unpriced",
                    message=_message(row.order_id, row.symbol, fill),
                    order_id=row.order_id,
                    symbol=row.symbol,
                    time=row.time,
                    size=fill.oversold or None,
                )
            )
    return sorted(found, key=lambda one: one.time, reverse=True)


def _message(order_id: str, symbol: str, fill: FillShown) -> str:
    if fill.unpriced:
        return (
            f"Order {order_id} has no price, and none of {symbol} was known at its time: it counts"
            " nowhere. Send its executionPrice with update-trade, or mark-price."
        )
    return (
        f"Order {order_id} sold {fill.oversold:g} {symbol} more than was held: that part is not"
        " counted, and no short position was opened."
    )


def _own_series(own: Own, window: Window, points: int) -> list[Point]:
    return chart_window.sketched(own_line(own.values), window, points)
