"""A model's profit and loss for readers: the books in numbers, the curve, the warnings."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection

from tapeline.results.charts import chart_window, timeline
from tapeline.results.charts.chart_window import Window
from tapeline.results.charts.timeline import Mark
from tapeline.results.pnl import notices
from tapeline.results.pnl.account import Capital, Positions, settings_of
from tapeline.results.pnl.books import Book, Totals, books_of
from tapeline.results.pnl.late_entries import Late
from tapeline.results.pnl.model_currency import own_currency
from tapeline.results.pnl.notices import Check, Unpriced, Warned
from tapeline.results.pnl.together import Together, together
from tapeline.results.rules.position import FLOWS, exact, number
from tapeline.tape.backtest_results.series import Point
from tapeline.tape.reading import channels

Source = Literal["computed", "model", "off"]


class Money(msgspec.Struct):
    """In one currency."""

    realized: float
    unrealized: float
    fees: float
    fills: int
    cash: dict[str, float] = {}
    """What was earned or paid besides orders, by type."""
    flows: dict[str, float] = {}
    """Deposits and withdrawals: capital, no profit and no loss."""
    total: float = 0.0
    """Realized, unrealized and cash."""


class Position(msgspec.Struct, kw_only=True):
    symbol: str
    currency: str
    size: float
    """Negative for a short position."""
    average_price: float | None
    """Null when nothing is held."""
    last_price: float | None
    last_price_time: float | None
    value: float
    """What is held, at the last price; negative for a short position."""
    realized: float
    unrealized: float
    fees: float
    fills: int
    estimated: int
    assumed: int
    multiplier: float = 1.0
    instrument: str = "spot"
    is_declared: bool = False
    """Whether the model declared what it held before its first order."""
    cash: dict[str, float] = {}
    """What was earned or paid for this symbol besides orders, by type, in its currency."""


class NotComputed(msgspec.Struct, kw_only=True):
    """A symbol that counts nowhere, because its numbers would be wrong."""

    symbol: str
    currency: str
    reason: str
    fills: int


class Counts(msgspec.Struct):
    fills: int = 0
    estimated: int = 0
    assumed: int = 0
    oversold: int = 0
    unpriced: int = 0


class Pnl(msgspec.Struct, kw_only=True):
    source: Source
    """Whose series this is: computed from orders, the model's own, or nobody's."""
    currency: str | None
    """The model's quote currency: the one with the most fills. The three below are in it."""
    realized: float | None = None
    unrealized: float | None = None
    fees: float | None = None
    cash: dict[str, float] = {}
    """What was earned or paid besides orders, by type; `realized` does not include it."""
    total: float | None = None
    """Realized, unrealized and cash: where the series ends."""
    by_currency: dict[str, Money] = {}
    together: Together | None = None
    """All currencies in `currency`, by reported rates; null if there is only one."""
    positions: list[Position] = []
    not_computed: list[NotComputed] = []
    """Symbols that no sum here includes, and why."""
    position_mode: Positions = "signed"
    """Whether positions may be negative: the model's setting."""
    capital: Capital | None = None
    """As the owner set it, or else the first deposit."""
    capital_from: Literal["owner", "deposit"] | None = None
    checks: list[Check] = []
    """Positions that the model reported later, beside ours; the newest."""
    series: list[Point]
    series_currency: str | None
    marks: list[Mark]
    warnings: list[Warned] = []
    """The newest; `counts` knows how many there are."""
    unpriced: list[Unpriced] = []
    counts: Counts
    late: Late = msgspec.field(default_factory=Late)
    """What was reported late besides orders; each order has `late_by`."""


class _Said(msgspec.Struct):
    values: list[Point] = []


_said = msgspec.json.Decoder(_Said)


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


def sums_of(every: Iterable[Book], own: str) -> dict[str, Totals]:
    """By currency as books have it, the empty one for the model's own."""
    sums: dict[str, Totals] = {}
    for book in every:
        totals = sums.setdefault(book.currency, Totals())
        if reason_of(book, own) is None:
            totals.add(book.state)
    return sums


def reason_of(book: Book, own: str) -> str | None:
    """Why a book is not computed."""
    wrong = [one for one in book.state.claims if one != own]
    if book.state.reason is None and wrong:
        return f"It is said to be quoted in {wrong[0]}, and this model counts it in {own}."
    return book.state.reason


def doubtful(every: Iterable[Book], own: str) -> set[int]:
    """Books on the curve whose currency turned out to be another one."""
    return {one.book for one in every if one.state.reason is None and reason_of(one, own)}


def own_line(values: list[Point]) -> "tuple[Any, Any] | None":
    import numpy as np  # noqa: PLC0415 - start-up stays light

    if not values:
        return None
    times, said = [one.time for one in values], [one.value for one in values]
    return np.array(times, dtype="f8"), np.array(said, dtype="f8")  # null becomes NaN


def own_of(connection: Connection, tape: int) -> Own:
    enabled = (channels.state(connection, tape, "auto_pnl") or {}).get("enabled", True)
    return Own(enabled, own_values(channels.content_of(connection, tape, "pnl")))


def own_values(content: bytes | None) -> list[Point]:
    """As `set-pnl` stores them, in the order of their times. There may be tens of thousands: they
    are decoded without a dictionary for each."""
    return [] if content is None else _in_order(_said.decode(content).values)


def own_points(values: list[dict[str, float]]) -> list[Point]:
    return _in_order([Point(one["time"], one["value"]) for one in values])


def _in_order(values: list[Point]) -> list[Point]:
    return sorted(values, key=lambda point: point.time)


def in_currencies(totals: dict[str, Totals], own: str) -> dict[str, Totals]:
    """By name; the model's own currency is added to the one of the same name."""
    found: dict[str, Totals] = {}
    for currency, one in totals.items():
        named = found.setdefault(currency or own, Totals())
        named.realized += one.realized
        named.unrealized += one.unrealized
        named.fees += one.fees
        named.fills += one.fills
        named.add_cash(one.cash)
    there = sorted(name for name, one in found.items() if one.fills or one.cash or one.unrealized)
    return {currency: found[currency] for currency in there}


def main_currency(totals: dict[str, Totals]) -> str | None:
    """The one with the most fills; of several, the first by name. None before the first fill."""
    return max(sorted(totals), key=lambda currency: totals[currency].fills, default=None)


def money(one: Totals) -> Money:
    cash = {kind: number(amount) for kind, amount in sorted(one.cash.items())}
    return Money(
        number(one.realized),
        number(one.unrealized),
        number(one.fees),
        one.fills,
        {kind: amount for kind, amount in cash.items() if kind not in FLOWS},
        {kind: amount for kind, amount in cash.items() if kind in FLOWS},
        number(one.total),
    )


def _add_computed(
    connection: Connection,
    tape: int,
    found: Pnl,
    window: Window,
    points: int,
    currency: str | None,
) -> None:
    every, own = books_of(connection, tape), own_currency(connection, tape)
    settings = settings_of(connection, tape)
    found.position_mode, found.capital = settings.positions, settings.capital
    sums = sums_of(every, own)
    found.counts = counted(every)
    totals = in_currencies(sums, own)
    found.currency = main_currency(totals)
    found.by_currency = {name: money(one) for name, one in totals.items()}
    if found.currency is not None:
        main = found.by_currency[found.currency]
        found.realized, found.unrealized, found.fees = main.realized, main.unrealized, main.fees
        found.cash, found.total = main.cash, main.total
        found.together = together(connection, tape, totals, found.currency)
    found.positions = shown_positions(every, own)
    found.not_computed = not_computed(every, own)
    found.warnings = notices.warnings(connection, tape)
    found.unpriced = [
        Unpriced(order_id=one.order_id, symbol=one.symbol, time=one.time)
        for one in found.warnings
        if one.code == "unpriced"
    ]
    found.checks = notices.checks(connection, tape)
    if found.source == "computed":
        wanted = (currency or "").upper() or found.currency
        found.series_currency = wanted
        names = [name for name in sums if (name or own) == wanted]
        without = doubtful(every, own)
        found.series = chart_window.drawn(connection, tape, names, window, points, without=without)
        if found.series and window.until is None and wanted in totals:
            # Doubles were added up for the chart; where it ends we know better.
            found.series[-1].value = number(totals[wanted].total)


def counted(every: Iterable[Book]) -> Counts:
    counts = Counts()
    for book in every:
        for name in Counts.__struct_fields__:
            setattr(counts, name, getattr(counts, name) + getattr(book.state, name))
    return counts


def shown_positions(every: Iterable[Book], own: str) -> list[Position]:
    """By symbol, those that ever held something."""
    every = list(every)
    cash: dict[tuple[str, str], dict[str, Decimal]] = {}
    for book in every:
        if book.is_cash:
            cash[(book.symbol, book.currency or own)] = book.state.cash
    return sorted(
        (
            shown_position(book, own, cash.get((book.symbol, book.currency or own), {}))
            for book in every
            if (book.state.fills or book.state.is_opened) and reason_of(book, own) is None
        ),
        key=lambda one: one.symbol,
    )


def not_computed(every: Iterable[Book], own: str) -> list[NotComputed]:
    found = [
        NotComputed(
            symbol=book.symbol,
            currency=book.currency or own,
            reason=reason,
            fills=book.state.fills,
        )
        for book in every
        if (reason := reason_of(book, own)) is not None
    ]
    return sorted(found, key=lambda one: one.symbol)


def shown_position(book: Book, own: str, cash: dict[str, Decimal]) -> Position:
    state = book.state
    return Position(
        symbol=book.symbol,
        currency=book.currency or own,
        size=number(state.size),
        average_price=number(state.cost / state.size) if state.size else None,
        last_price=None if state.price is None else number(state.price),
        last_price_time=state.priced_at,
        value=number(state.value),
        realized=number(state.realized),
        unrealized=number(state.unrealized),
        fees=number(state.fees),
        fills=state.fills,
        estimated=state.estimated,
        assumed=state.assumed,
        multiplier=number(state.factor),
        instrument=state.instrument or "spot",
        is_declared=state.is_opened,
        cash={kind: number(one) for kind, one in sorted(cash.items()) if kind not in FLOWS},
    )


def _own_series(own: Own, window: Window, points: int) -> list[Point]:
    return chart_window.sketched(own_line(own.values), window, points)
