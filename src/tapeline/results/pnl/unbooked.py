"""Finds what is new on a tape for the bookkeeper: the one place where it reads events and
orders."""

from decimal import Decimal
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, exists, func, or_, select

from tapeline.results.pnl.fills import Fill, fill_of
from tapeline.results.pnl.position import Spec
from tapeline.store.portions import batches
from tapeline.store.tables.core import models
from tapeline.store.tables.ledger import ledgers
from tapeline.store.tables.tape import orders, pages, tapes
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.orders import OrderState
from tapeline.tape.reading import channels

TOGETHER = 500  # ids in one statement

_state = msgspec.json.Decoder(OrderState)


class _About(msgspec.Struct):
    """The part of an order event that matters here; the order has the rest."""

    id: str


class _Price(msgspec.Struct):
    symbol: str
    price: float


_about, _price = msgspec.json.Decoder(_About), msgspec.json.Decoder(_Price)


class News(NamedTuple):
    fills: dict[str, Fill | None]
    """By order, for every order with new events."""
    marks: list[Fill]
    cursor: int
    """The last number on the tape that this covers."""
    is_cut: bool
    """Whether there is more after it in a page that it has begun with."""


def news(connection: Connection, tape: int, after: int, limit: int) -> News | None:
    """New events after a place on the tape, about at most so many things; None if there are
    none."""
    said = channels.after(connection, tape, kinds.SPOT_MARKET.channel, after=after, limit=limit)
    marked = channels.after(connection, tape, kinds.MARK_PRICE.channel, after=after, limit=limit)
    # If one of the two channels is cut, the rest of the other comes with the next portion too.
    end = min((one.next for one in (said, marked) if one.next is not None), default=None)
    about, prices = _until(said.records, end), _until(marked.records, end)
    if not about and not prices:
        return None
    ids = sorted({_about.decode(record.body).id for record in about})
    return News(
        dict.fromkeys(ids) | _fills(connection, tape, ids),
        [_mark(record) for record in prices],
        max(record.seq for record in (*about, *prices)),
        is_cut=end is not None,
    )


def behind(connection: Connection, *wanted: Any) -> dict[int, int]:
    """Tapes whose books are behind, and how far each tape goes; one query."""
    cursor = func.coalesce(ledgers.c.cursor, 0)
    more = [
        exists().where(
            pages.c.tape == tapes.c.no, pages.c.channel == channel, pages.c.first > cursor
        )
        for channel in (kinds.SPOT_MARKET.channel, kinds.MARK_PRICE.channel)
    ]
    query = (
        select(tapes.c.no, tapes.c.seq)
        .join(models, models.c.id == tapes.c.model_id)
        .outerjoin(ledgers, ledgers.c.tape == tapes.c.no)
        .where(*wanted, or_(*more, ledgers.c.cut, ledgers.c.pending != b"{}"))
    )
    return {row.no: row.seq for row in connection.execute(query)}


def _until(records: list[StoredEvent], end: int | None) -> list[StoredEvent]:
    return [record for record in records if end is None or record.seq <= end]


def _fills(connection: Connection, tape: int, ids: list[str]) -> dict[str, Fill | None]:
    """From the orders' current state, which may be newer than the event."""
    found: dict[str, Fill | None] = {}
    for some in batches(ids, TOGETHER):
        here = (orders.c.tape == tape, orders.c.id.in_(some))
        query = select(orders.c.id, orders.c.state).where(*here)
        for row in connection.execute(query):
            found[row.id] = fill_of(_state.decode(row.state))
    return found


def _mark(record: StoredEvent) -> Fill:
    said = _price.decode(record.body)
    return Fill(said.symbol, record.time, record.seq, Spec("mark", Decimal(repr(said.price))))
