"""Metrics of a live model, from its own series or from its books."""

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, select

from tapeline.recently_used import RecentlyUsed
from tapeline.results.metrics.report_fields import Measured
from tapeline.results.metrics.round_trips import Matched, match
from tapeline.results.metrics.trades import Trade
from tapeline.results.pnl import books, summary
from tapeline.results.pnl.position import Outcome, Spec, number
from tapeline.store.tables.ledger import entries
from tapeline.store.tables.tape import states

REMEMBERED = 500  # models whose metrics are kept in memory
NO_SERIES = "There is no profit and loss yet."
# Matching takes them one by one, again after every new order.
MOST_MATCHED = 50_000

Key = tuple[int, bytes]

_spec, _outcome = msgspec.json.Decoder(Spec), msgspec.json.Decoder(Outcome)


class LiveSeries(msgspec.Struct, frozen=True):
    """Profit and loss in money: times and values as they came."""

    times: Any
    values: Any
    matched: Matched | None = None
    """The round trips; None if the trades are unknown or too many."""


class _Source(NamedTuple):
    """What identifies a state of a model's series, and how to read it."""

    state: bytes
    read: Callable[[], LiveSeries]


class LiveMetrics:
    """Computed once for each state of a model's series."""

    def __init__(self) -> None:
        self._known = RecentlyUsed[Key, dict[str, Measured]](REMEMBERED)

    def of(self, connection: Connection, tape: int) -> dict[str, Measured] | None:
        """None when there is no series."""
        source = _own(connection, tape) or _computed_by_us(connection, tape)
        if source is None:
            return None
        return self._known.get((tape, source.state), lambda: _measured(source.read()))


def _own(connection: Connection, tape: int) -> _Source | None:
    """The series that the model set by `set-pnl`; if it is empty, ours is used."""
    stored = connection.scalar(
        select(states.c.value).where(states.c.tape == tape, states.c.name == "pnl")
    )
    if stored is None:
        return None
    points: list[dict[str, Any]] = msgspec.json.decode(stored)["values"]
    if not points:
        return None

    def read() -> LiveSeries:
        nan = float("nan")
        return LiveSeries(
            [point["time"] for point in points],
            [nan if point["value"] is None else point["value"] for point in points],
        )

    return _Source(hashlib.sha256(stored).digest(), read)


def _computed_by_us(connection: Connection, tape: int) -> _Source | None:
    """The series of the books, in the model's main currency."""
    if not summary.own_of(connection, tape).enabled:
        return None
    ledger, own = books.ledger_of(connection, tape), summary.own_currency(connection, tape)
    main = summary.main_currency(summary.in_currencies(ledger.totals, own))
    if main is None:
        return None
    names = [name for name in ledger.totals if (name or own) == main]

    def read() -> LiveSeries:
        from tapeline.results.charts import chart_window  # noqa: PLC0415 - numpy: start-up stays light

        times, values = chart_window.whole(connection, tape, names)
        # The books know the count: sorting a million entries just to find that they are too many
        # would take longer than all the rest.
        fills = sum(totals.fills for totals in ledger.totals.values())
        matched = None if fills > MOST_MATCHED else _matched(connection, tape, names)
        return LiveSeries(times, values, matched)

    return _Source(f"{ledger.version}:{own}".encode(), read)


def _matched(connection: Connection, tape: int, currencies: list[str]) -> Matched | None:
    symbols = {
        one.book: one.symbol
        for one in books.books_of(connection, tape)
        if one.currency in currencies
    }
    query = (
        select(entries.c.book, entries.c.time, entries.c.spec, entries.c.outcome)
        .where(entries.c.tape == tape, entries.c.order_id.is_not(None))
        .order_by(entries.c.time, entries.c.tie)
        .limit(MOST_MATCHED + 1)
    )
    rows = connection.execute(query).all()
    if len(rows) > MOST_MATCHED:
        return None
    return match(
        _trade(place, row, symbols[row.book])
        for place, row in enumerate(rows)
        if row.book in symbols and row.outcome is not None
    )


def _trade(place: int, row: Any, symbol: str) -> Trade:
    spec, outcome = _spec.decode(row.spec), _outcome.decode(row.outcome)
    return Trade(
        place,
        row.time,
        symbol,
        spec.side,
        None if outcome.size is None else number(outcome.size),
        None if outcome.price is None else number(outcome.price),
        number(spec.fee),
    )


def _measured(series: LiveSeries) -> dict[str, Measured]:
    from tapeline.results.metrics import all_metrics  # noqa: PLC0415 - start-up stays light
    from tapeline.results.metrics.account import Account, ordered  # noqa: PLC0415
    from tapeline.results.metrics.metric import Subject  # noqa: PLC0415

    account = Account(ordered(series.times, series.values), is_money=True)
    return all_metrics.compute(Subject(account, series.matched))
