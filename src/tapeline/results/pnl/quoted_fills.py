"""Orders with their fills, each in the currency of its book, without numbers of symbols that are
not computed."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection

from tapeline.results.pnl.books import Book, books_numbered, entries_of
from tapeline.results.pnl.model_currency import own_currency
from tapeline.results.pnl.order_fills import Booked, FillShown, booked, fill_shown
from tapeline.results.pnl.summary import reason_of


class Quote(NamedTuple):
    """What a book is quoted in."""

    currency: str
    reason: str | None
    """Why it is not computed."""


def with_fills(
    connection: Connection, tape: int, items: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Orders as they are listed, each with its `fill`."""
    rows: dict[str, list[Booked]] = {}
    for row in entries_of(connection, tape, [item["id"] for item in items]):
        rows.setdefault(row.place_id, []).append(booked(row))
    numbers = {one.book for some in rows.values() for one in some}
    found = books_numbered(connection, tape, numbers)
    known = quotes(found, own_currency(connection, tape)) if found else {}
    fills = {order_id: quoted(some, known) for order_id, some in rows.items()}
    return [{**item, "fill": fills.get(item["id"])} for item in items]


def quotes(every: Iterable[Book], own: str) -> dict[int, Quote]:
    """By the number of the book."""
    return {one.book: Quote(one.currency or own, reason_of(one, own)) for one in every}


def quoted(some: list[Booked], known: dict[int, Quote]) -> FillShown:
    """All entries of one order together. A number that would be wrong is not shown."""
    found = [known[one.book] for one in some if one.book in known]
    reason = next((one.reason for one in found if one.reason), None)
    fill = fill_shown(some)
    return msgspec.structs.replace(
        fill,
        realized=fill.realized if reason is None else None,
        currency=found[-1].currency if found else None,
        not_computed=reason,
    )
