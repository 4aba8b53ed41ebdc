"""Round trips of a live model: from its books, with what they were worth while they lasted."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from sqlalchemy import Connection, select

from tapeline.results.metrics import metric
from tapeline.results.metrics.account import Floats, Lacking
from tapeline.results.metrics.round_trips import Matched, RoundTrip, match
from tapeline.results.metrics.trades import Trade
from tapeline.results.performance.distribution import distribution
from tapeline.results.performance.trip_answers import Group, LiveTrip, TripGroups
from tapeline.results.pnl.books import Book
from tapeline.results.rules.position import ZERO, Outcome, Spec, number
from tapeline.store.tables.ledger import entries
from tapeline.store.tables.runs import runs, versions

MOST = 50_000  # fills: matching goes through all of them one by one
MOST_PRICES = 200_000  # entries, marks too, that are looked through for a best and a worst price
TOO_MANY = f"There are more than {MOST:,} fills, too many to match."
HOUR, DAY = 3_600.0, 86_400.0
THURSDAY = 3  # 1970-01-01, counted from Monday
WEEK = 7 * 24  # hours
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

K = TypeVar("K", int, str)

_spec, _outcome = msgspec.json.Decoder(Spec), msgspec.json.Decoder(Outcome)


class Trips(NamedTuple):
    matched: Matched
    orders: list[str | None]
    """Of each trade, by its index."""


def of_books(
    connection: Connection, tape: int, books: Iterable[Book], *, long_only: bool
) -> Trips | None:
    """Of some books; None when there are too many fills."""
    some = {one.book: one.symbol for one in books if not one.is_cash}
    query = (
        select(
            entries.c.book, entries.c.time, entries.c.order_id, entries.c.spec, entries.c.outcome
        )
        .where(entries.c.tape == tape, entries.c.outcome.is_not(None))
        .order_by(entries.c.time, entries.c.tie)
        .limit(MOST + 1)
    )
    rows = connection.execute(query).all()
    if len(rows) > MOST:
        return None
    trades: list[Trade] = []
    orders: list[str | None] = []
    declared: set[int] = set()
    for row in rows:
        trade = None
        if row.book in some:
            trade = _trade(len(orders), row, some[row.book], declared)
        if trade is not None:
            trades.append(trade)
            orders.append(row.order_id)
    return Trips(match(trades, long_only=long_only), orders)


def shown(
    connection: Connection, tape: int, trips: Trips, some: Sequence[RoundTrip], books: list[Book],
    version_at: Callable[[float], int | None], own: str,
) -> list[LiveTrip]:  # fmt: skip
    """Some of the trips, with all that is known about them. `own`: of bare tickers."""
    by_symbol = {one.symbol: one for one in books if not one.is_cash}
    prices: dict[str, tuple[Floats, Floats] | None] = {}
    found = []
    for one in some:
        book = by_symbol[one.symbol]
        if one.symbol not in prices:
            prices[one.symbol] = _prices(connection, tape, book.book)
        version = version_at(one.entry_time)
        found.append(_shown(one, trips, prices[one.symbol], version, book.currency or own))
    return found


def counted(
    connection: Connection, tape: int, books: dict[str, list[Book]], *, long_only: bool
) -> dict[str, int]:
    """How many trips the books of each currency have."""
    currencies = {
        one.symbol: currency
        for currency, some in books.items()
        for one in some
        if one.state.fills and not one.is_cash
    }
    if not currencies:
        return {}  # most models trade in one: nothing is read twice for them
    every = [one for some in books.values() for one in some]
    trips = of_books(connection, tape, every, long_only=long_only)
    return Counter(currencies[one.symbol] for one in trips.matched.trips) if trips else {}


def groups(trips: Trips, version_at: Callable[[float], int | None]) -> TripGroups:
    every = trips.matched.trips

    def by(key: Callable[[RoundTrip], K], name: Callable[[K], str]) -> list[Group]:
        parts: dict[K, list[RoundTrip]] = {}
        for one in every:
            parts.setdefault(key(one), []).append(one)
        return [_group(name(one), parts[one]) for one in sorted(parts)]

    return TripGroups(
        count=len(every),
        profit=_profit(every),
        open=trips.matched.open[-1_000:],
        symbols=by(lambda one: one.symbol, str),
        sides=by(lambda one: str(one.side), str),
        hours=by(lambda one: int(one.entry_time // HOUR % 24), "{:02}".format),
        weekdays=by(lambda one: int((one.entry_time // DAY + THURSDAY) % 7), WEEKDAYS.__getitem__),
        slots=by(
            lambda one: int((one.entry_time // HOUR + THURSDAY * 24) % WEEK),
            lambda one: f"{WEEKDAYS[one // 24]} {one % 24:02}",
        ),
        days=by(lambda one: int(one.exit_time // DAY), _date),
        results=distribution(_profits(every)),
        versions=by(lambda one: version_at(one.entry_time) or 0, lambda one: str(one or "")),
    )


def versions_of(connection: Connection, model_id: str) -> Callable[[float], int | None]:
    """Which version ran live at a moment; None before the first did."""
    query = (
        select(runs.c.started_at, versions.c.number)
        .join(versions, versions.c.id == runs.c.version_id)
        .where(runs.c.model_id == model_id, runs.c.kind == "live", runs.c.started_at.is_not(None))
        .order_by(runs.c.started_at)
    )
    rows = connection.execute(query).all()
    starts = np.array([row.started_at for row in rows])

    def version_at(moment: float) -> int | None:
        place = int(np.searchsorted(starts, moment, side="right"))
        return rows[place - 1].number if place else None

    return version_at


def _trade(index: int, row: Any, symbol: str, declared: set[int]) -> Trade | None:
    spec, outcome = _spec.decode(row.spec), _outcome.decode(row.outcome)
    multiplier = number(spec.multiplier) if spec.multiplier is not None else 1.0
    price = None if outcome.price is None else number(outcome.price)
    if spec.side == "position":
        size = outcome.size or ZERO
        if outcome.held is not None or not size or row.book in declared:
            return None
        declared.add(row.book)
        side = "buy" if size > 0 else "sell"
        return Trade(index, row.time, symbol, side, number(abs(size)), price, 0.0, multiplier, True)
    if spec.side not in {"buy", "sell"} or price is None or outcome.size is None:
        return None  # without a price it counts nowhere in the books either
    return Trade(
        index, row.time, symbol, spec.side, number(outcome.size), price, number(outcome.fee),
        multiplier,
    )  # fmt: skip


def _prices(connection: Connection, tape: int, book: int) -> tuple[Floats, Floats] | None:
    """Every known price of a symbol; None when there are too many."""
    query = (
        select(entries.c.time, entries.c.spec, entries.c.outcome)
        .where(entries.c.tape == tape, entries.c.book == book)
        .order_by(entries.c.time, entries.c.tie)
        .limit(MOST_PRICES + 1)
    )
    times, prices = [], []
    for row in connection.execute(query):
        spec = _spec.decode(row.spec)
        price = spec.price
        if spec.side in {"buy", "sell"} and row.outcome is not None:
            price = _outcome.decode(row.outcome).price
        if price is not None and spec.side != "position":
            times.append(row.time)
            prices.append(number(price))
    return None if len(times) > MOST_PRICES else (np.array(times), np.array(prices))


def _shown(
    one: RoundTrip, trips: Trips, prices: tuple[Floats, Floats] | None, version: int | None,
    currency: str,
) -> LiveTrip:  # fmt: skip
    low = high = None
    if prices is not None:
        first = np.searchsorted(prices[0], one.entry_time, "left")
        last = np.searchsorted(prices[0], one.exit_time, "right")
        within = prices[1][first:last]
        if len(within):
            low, high = float(within.min()), float(within.max())
    is_long = one.side == "long"
    return LiveTrip(
        symbol=one.symbol,
        side=one.side,
        size=one.size,
        entry_time=one.entry_time,
        exit_time=one.exit_time,
        seconds=one.exit_time - one.entry_time,
        entry_price=one.entry_price,
        exit_price=one.exit_price,
        fees=one.fees or 0.0,
        profit=one.profit,
        profit_percent=one.profit_percent,
        currency=currency,
        best_price=high if is_long else low,
        worst_price=low if is_long else high,
        entry_order=trips.orders[one.entry_index],
        exit_order=trips.orders[one.exit_index],
        version=version,
    )


def _date(day: int) -> str:
    return str(np.datetime64(day, "D"))


def _profits(trips: list[RoundTrip]) -> Floats:
    return np.array([one.profit for one in trips if one.profit is not None])


def _group(key: str, trips: list[RoundTrip]) -> Group:
    profits = _profits(trips)
    try:
        rate: float | None = metric.win_rate(profits)
    except Lacking:
        rate = None
    return Group(
        key=key,
        round_trips=len(trips),
        profit=_profit(trips),
        fees=sum(one.fees or 0.0 for one in trips),
        win_rate=rate,
        average_seconds=sum(one.exit_time - one.entry_time for one in trips) / len(trips),
    )


def _profit(trips: list[RoundTrip]) -> float | None:
    profits = [one.profit for one in trips if one.profit is not None]
    return sum(profits) if len(profits) == len(trips) else None
