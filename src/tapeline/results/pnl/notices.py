"""Entries that somebody should look at: sold without being held, unpriced, checks."""

from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, Row, select

from tapeline.results.pnl.order_fills import FillShown, booked, fill_shown
from tapeline.results.rules.position import CHECK, OVERSOLD, UNPRICED, ZERO, exact, number
from tapeline.store.tables.ledger import books, entries

LISTED = 100  # of each kind: the newest


class Warned(msgspec.Struct, kw_only=True):
    code: Literal["oversold", "unpriced"]
    message: str
    order_id: str
    symbol: str
    time: float
    size: float | None
    """Of an oversold order: how much of it was not held."""


class Unpriced(msgspec.Struct, kw_only=True):
    order_id: str
    symbol: str
    time: float


class Check(msgspec.Struct, kw_only=True):
    """A position that the model reported, beside what the books held at that time."""

    symbol: str
    time: float
    reported: float
    held: float
    difference: float
    """What was reported less what the books held; zero when they agree."""
    average_price: float | None
    """As reported."""


def warnings(connection: Connection, tape: int) -> list[Warned]:
    """The newest of each kind, newest first."""
    found: list[Warned] = []
    for notice in (OVERSOLD, UNPRICED):
        for row in _noticed(connection, tape, notice):
            fill = fill_shown([booked(row)])
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


def checks(connection: Connection, tape: int) -> list[Check]:
    """The newest, newest first."""
    with exact():
        return [_check(row) for row in _noticed(connection, tape, CHECK)]


def _noticed(connection: Connection, tape: int, notice: int) -> list[Row[*tuple[Any, ...]]]:
    query = (
        select(entries, books.c.symbol)
        .join(books, (books.c.tape == entries.c.tape) & (books.c.book == entries.c.book))
        .where(entries.c.tape == tape, entries.c.notice == notice)
        .order_by(entries.c.time.desc())
        .limit(LISTED)
    )
    return list(connection.execute(query))


def _check(row: Row[*tuple[Any, ...]]) -> Check:
    outcome = booked(row).outcome
    size, held = outcome.size or ZERO, outcome.held or ZERO
    return Check(
        symbol=row.symbol,
        time=row.time,
        reported=number(size),
        held=number(held),
        difference=number(size - held),
        average_price=None if outcome.price is None else number(outcome.price),
    )


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
