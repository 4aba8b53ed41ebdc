"""The newest orders of a model: how many, what became of them, which are open, what fills cost.

Read newest first and never more than so many, so a model with millions of orders costs as much as
one with a thousand. An order counts at its own time, so an import of old orders is no flood.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from sqlalchemy import Connection, select

from tapeline.results.pnl import order_fills
from tapeline.results.pnl.books import entries_of
from tapeline.results.rules.fills import POSTED
from tapeline.results.rules.position import exact, number
from tapeline.results.rules.rises import FILLED, FILLED_SIZE, PRICES, TIMES
from tapeline.results.rules.said import Said
from tapeline.results.rules.words import amount, moment, positive, side, text
from tapeline.store.tables.tape import orders
from tapeline.tape.events import kinds
from tapeline.tape.orders import OrderState
from tapeline.watch.facts.fact import Asked, Fact, Gathering

ABOUT_ORDERS = frozenset(one.name for one in kinds.ABOUT_ORDERS)
MOST = 1_000  # orders that are looked at, the newest by arrival

Fate = Literal["open", "filled", "cancelled", "rejected", "expired"]

FATES: dict[str, Fate] = {
    **dict.fromkeys(FILLED, "filled"),
    "canceled": "cancelled",
    "cancelled": "cancelled",
    "rejected": "rejected",
    "expired": "expired",
}

_state = msgspec.json.Decoder(OrderState)


class Placed(NamedTuple):
    order_id: str
    symbol: str
    time: float
    """Its own, unless it is in the future."""
    received_at: float
    fate: Fate
    expected: float | None
    """The price that it was placed at, or expected."""
    is_sell: bool


class Orders(msgspec.Struct, frozen=True):
    items: list[Placed]
    """Newest first by arrival."""
    is_cut: bool
    """Whether there are older ones that were not looked at."""

    def since(self, moment: float) -> list[Placed]:
        return [one for one in self.items if one.time >= moment]


class Filled(NamedTuple):
    """What an order came to."""

    placed: Placed
    value: float
    """Size times price, without a sign."""
    price: float
    fee: float


class Fills(msgspec.Struct, frozen=True):
    items: list[Filled]
    is_cut: bool


def gather(gathering: Gathering) -> Mapping[str, Orders]:
    """Those of the longest window that somebody asks for."""
    connection, now = gathering.connection, gathering.now
    return {
        subject.id: placed(connection, subject.tape, now - longest(asked), MOST)
        for subject, asked in gathering.wanted.items()
        if subject.tape is not None
    }


def gather_newest(gathering: Gathering) -> Mapping[str, Orders]:
    """Whatever their age: an order may be open for months."""
    connection = gathering.connection
    return {
        subject.id: placed(connection, subject.tape, 0.0, MOST)
        for subject in gathering.wanted
        if subject.tape is not None
    }


def gather_fills(gathering: Gathering) -> Mapping[str, Fills]:
    connection, now = gathering.connection, gathering.now
    return {
        subject.id: fills(connection, subject.tape, now - longest(asked), MOST)
        for subject, asked in gathering.wanted.items()
        if subject.tape is not None
    }


def longest(asked: Sequence[Asked]) -> float:
    return max((one.options.get("within", 60.0) for one in asked), default=60.0)


def placed(connection: Connection, tape: int, since: float, most: int) -> Orders:
    """Orders that arrived since a moment. What is dated since then has arrived since then too."""
    query = (
        select(orders.c.id, orders.c.symbol, orders.c.time, orders.c.received_at, orders.c.state)
        .where(orders.c.tape == tape, orders.c.seq.is_not(None))
        .order_by(orders.c.seq.desc())
        .limit(most + 1)
    )
    found: list[Placed] = []
    for row in connection.execute(query):
        if row.received_at is not None and row.received_at < since:
            return Orders(found, False)
        if len(found) == most:
            return Orders(found, True)
        found.append(_placed(row))
    return Orders(found, False)


def fills(connection: Connection, tape: int, since: float, most: int) -> Fills:
    """As the books have them: at the price, size and fee that count there."""
    some = placed(connection, tape, since, most)
    by_id = {one.order_id: one for one in some.items if one.time >= since}
    parts: dict[str, list[order_fills.Booked]] = {}
    for row in entries_of(connection, tape, list(by_id)):
        parts.setdefault(row.place_id, []).append(order_fills.booked(row))
    found = []
    with exact():
        for order_id, booked in parts.items():
            one = order_fills.fill_shown(booked)
            if one.price is not None and one.size and not (one.assumed or one.estimated):
                value = abs(one.price * one.size) * _factor(booked)
                found.append(Filled(by_id[order_id], value, one.price, one.fee))
    return Fills(found, some.is_cut)


def _factor(booked: list[order_fills.Booked]) -> float:
    multiplier = booked[0].spec.multiplier
    return 1.0 if multiplier is None else number(multiplier)


def _placed(row: Any) -> Placed:
    state = _state.decode(row.state)
    said = Said(state)
    base = state.base
    assert base is not None  # it has a number, so it was posted
    expected = positive(base.body.get("price"))
    received = row.received_at or base.time
    return Placed(
        row.id,
        row.symbol or "",
        min(base.time, received),
        received,
        fate_of(base.kind, said),
        None if expected is None else number(expected),
        said.first(("side",), side) == "sell",
    )


def fate_of(kind: str, said: Said) -> Fate:
    """A market order of which nobody says more is filled; a limit or stop order is open until
    somebody says what became of it."""
    status = said.first(("status",), text)
    if status in FATES:
        return FATES[status]
    filled, size = said.first((FILLED_SIZE,), amount), said.first(("size",), positive)
    if filled is not None:
        return "filled" if size is not None and filled >= size else "open"
    if said.first(PRICES, positive) is not None or said.first(TIMES, moment) is not None:
        return "filled"
    return "open" if kind in POSTED or status is not None else "filled"


ORDERS = Fact(name="orders", gather=gather, changed_by=ABOUT_ORDERS)
NEWEST_ORDERS = Fact(name="newest_orders", gather=gather_newest, changed_by=ABOUT_ORDERS)
FILLS = Fact(name="fills", gather=gather_fills, changed_by=frozenset({"books"}))
