"""Finds what is new on a tape for the bookkeeper: the one place where it reads events and
orders."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, exists, func, or_, select

from tapeline.results.pnl.books import statements_of
from tapeline.results.rules import fills
from tapeline.results.rules.fills import Fill, fills_of
from tapeline.results.rules.rises import Statement, statement
from tapeline.store.portions import batches
from tapeline.store.tables.core import models
from tapeline.store.tables.ledger import ledgers
from tapeline.store.tables.tape import cash, orders, pages, tapes
from tapeline.tape import lateness
from tapeline.tape.cash import CashState
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.orders import OrderState
from tapeline.tape.reading import channels

TOGETHER = 500  # ids in one statement
CHANNELS = (kinds.SPOT_MARKET.channel, kinds.MARK_PRICE.channel, kinds.CASH.channel)
"""Orders, prices, and whatever else changes the books."""

_state = msgspec.json.Decoder(OrderState)
_cash = msgspec.json.Decoder(CashState)
_body = msgspec.json.Decoder(dict[str, Any])


class _About(msgspec.Struct):
    """All that matters here of most events about an order: the order has the rest."""

    id: str
    filled_size: Any = None


class _Price(msgspec.Struct):
    symbol: str
    price: float
    source: str | None = None


_about, _price = msgspec.json.Decoder(_About), msgspec.json.Decoder(_Price)

Told = list[tuple[str, Statement]]


class Dated(NamedTuple):
    """A price, cash or a position, and how long after its own time it arrived."""

    kind: int
    late_by: float
    seq: int
    cash_id: str | None = None


class News(NamedTuple):
    orders: dict[str, list[Fill]]
    """By order, for every order that something was said about."""
    cash: dict[str, list[Fill]]
    """The same for cash that has an id."""
    rest: list[Fill]
    """What can neither be changed nor taken back: marks, positions, cash without an id."""
    told: Told
    """What updates said of the fills of orders."""
    dated: list[Dated]
    """Those that arrived after their own time, and all cash that has an id."""
    cursor: int
    """The last number on the tape that this covers."""
    is_set: bool
    """Whether the owner changed the account's settings."""
    is_cut: bool
    """Whether there is more after it in a page that it has begun with."""


_NONE = channels.Portion([], None)
NOTHING = News({}, {}, [], [], [], 0, is_set=False, is_cut=False)


def news(
    connection: Connection, tape: int, after: int, limit: int, *, is_told: bool, is_cut: bool
) -> News | None:
    """What was said after a place on the tape, about at most so many things; None if nothing.
    `is_told`: whether statements about fills were kept before. `is_cut`: whether the place can be
    inside a page."""
    fresh = CHANNELS if is_cut else _fresh(connection, tape, after)
    some = [
        channels.after(connection, tape, one, after=after, limit=limit) if one in fresh else _NONE
        for one in CHANNELS
    ]
    # Where one of them goes on, what the others have from there on comes with the next portion.
    end = min((one.next for one in some if one.next is not None), default=None)
    about, prices, others = (_until(one.records, end) for one in some)
    if not about and not prices and not others:
        return None
    ids, told = _told(about)
    earlier = statements_of(connection, tape, ids) if is_told else {}
    for order_id, one in told:
        earlier.setdefault(order_id, []).append(one)
    by_id, rest = _others(connection, tape, others)
    return News(
        {one: [] for one in ids} | _fills(connection, tape, ids, earlier),
        by_id,
        [*map(_mark, prices), *rest],
        told,
        [*_dated(prices), *_dated(others)],
        max(record.seq for record in (*about, *prices, *others)),
        is_set=any(record.kind == kinds.ACCOUNT_SETTINGS.number for record in others),
        is_cut=end is not None and _goes_on(connection, tape, end),
    )


def _goes_on(connection: Connection, tape: int, after: int) -> bool:
    """Whether anything is there: a full portion may also have been the last."""
    looks = (channels.after(connection, tape, one, after=after, limit=1) for one in CHANNELS)
    return any(one.records for one in looks)


def _fresh(connection: Connection, tape: int, after: int) -> list[int]:
    """The channels with pages after a place: one look instead of one for each."""
    there = [
        exists().where(pages.c.tape == tape, pages.c.channel == one, pages.c.first > after)
        for one in CHANNELS
    ]
    row = connection.execute(select(*(one.label(f"c{n}") for n, one in enumerate(there)))).one()
    return [channel for channel, is_there in zip(CHANNELS, row, strict=True) if is_there]


def behind(connection: Connection, *wanted: Any) -> dict[int, int]:
    """Tapes whose books are behind, and how far each tape goes; one query."""
    cursor = func.coalesce(ledgers.c.cursor, 0)
    more = [
        exists().where(
            pages.c.tape == tapes.c.no, pages.c.channel == channel, pages.c.first > cursor
        )
        for channel in CHANNELS
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


def _told(about: list[StoredEvent]) -> tuple[list[str], Told]:
    """The orders that something was said about, and what was said of their fills."""
    ids: set[str] = set()
    told: Told = []
    for record in about:
        said = _about.decode(record.body)
        ids.add(said.id)
        if record.kind == kinds.UPDATE_TRADE.number or said.filled_size is not None:
            one = statement(_body.decode(record.body), record.time, record.seq)
            if one is not None:
                told.append((said.id, one))
    return sorted(ids), told


def _fills(
    connection: Connection, tape: int, ids: list[str], told: dict[str, list[Statement]]
) -> dict[str, list[Fill]]:
    """As the orders stand now, which may be later than the event that made us look."""
    found: dict[str, list[Fill]] = {}
    for some in batches(ids, TOGETHER):
        here = (orders.c.tape == tape, orders.c.id.in_(some))
        query = select(orders.c.id, orders.c.state).where(*here)
        for row in connection.execute(query):
            found[row.id] = fills_of(_state.decode(row.state), told.get(row.id, []))
    return found


def _others(
    connection: Connection, tape: int, records: list[StoredEvent]
) -> tuple[dict[str, list[Fill]], list[Fill]]:
    ids: set[str] = set()
    rest: list[Fill] = []
    for record in records:
        body = _body.decode(record.body)
        if record.kind == kinds.POSITION.number:
            rest.append(fills.opening(body, record.time, record.seq))
        elif record.kind == kinds.CASH.number and "id" in body:
            ids.add(body["id"])
        elif record.kind == kinds.CASH.number:
            rest.append(fills.cash(body, record.time, record.seq))
    return _counting(connection, tape, sorted(ids)), rest


def _dated(records: list[StoredEvent]) -> Iterator[Dated]:
    for record in records:
        behind, cash_id = record.received_at - record.time, None
        if record.kind == kinds.CASH.number:
            cash_id = _body.decode(record.body).get("id")
        if cash_id is not None or (behind > lateness.LEAST and record.kind in lateness.DATED):
            yield Dated(record.kind, behind, record.seq, cash_id)


def _counting(connection: Connection, tape: int, ids: list[str]) -> dict[str, list[Fill]]:
    found: dict[str, list[Fill]] = {}
    for some in batches(ids, TOGETHER):
        here = (cash.c.tape == tape, cash.c.id.in_(some))
        query = select(cash.c.id, cash.c.state).where(*here)
        for row in connection.execute(query):
            state = _cash.decode(row.state)
            found[row.id] = [fills.cash(state.body, state.time, state.seq)]
    return found


def _mark(record: StoredEvent) -> Fill:
    said = _price.decode(record.body)
    return fills.mark(said.symbol, said.price, record.time, record.seq, said.source)
