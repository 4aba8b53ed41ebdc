"""The orders of a model, merged, newest first by arrival."""

from typing import Any

import msgspec
from sqlalchemy import Connection, Row, select

from tapeline.store.tape_tables import orders
from tapeline.tape.orders import OrderState, merged

PATIENCE = 50_000  # orders a filter may look at in one request; the cursor goes on from there

_state = msgspec.json.Decoder(OrderState)


class Filter(msgspec.Struct):
    symbol: str | None = None
    side: str | None = None
    since: float | None = None
    until: float | None = None


def listed(
    connection: Connection, tape: int, wanted: Filter, *, before: int | None, limit: int
) -> tuple[list[dict[str, Any]], int | None]:
    here = [orders.c.tape == tape, orders.c.seq.is_not(None)]
    if before is not None:
        here.append(orders.c.seq < before)
    end = None if wanted == Filter() else _end_of_patience(connection, here)
    query = select(orders).where(*here)
    if end is not None:
        query = query.where(orders.c.seq >= end)
    for column, value in ((orders.c.symbol, wanted.symbol), (orders.c.side, wanted.side)):
        if value is not None:
            query = query.where(column == value)
    if wanted.since is not None:
        query = query.where(orders.c.time >= wanted.since)
    if wanted.until is not None:
        query = query.where(orders.c.time <= wanted.until)
    rows = connection.execute(query.order_by(orders.c.seq.desc()).limit(limit)).all()
    return [_shown(row) for row in rows], rows[-1].seq if len(rows) == limit else end


def _end_of_patience(connection: Connection, here: list[Any]) -> int | None:
    """How far back a filter may look in one request; None when that is everything."""
    newest = select(orders.c.seq).where(*here).order_by(orders.c.seq.desc())
    end: int | None = connection.scalar(newest.offset(PATIENCE - 1).limit(1))
    return end


def _shown(row: Row[*tuple[Any, ...]]) -> dict[str, Any]:
    order = merged(_state.decode(row.state)) or {}
    plain = dict.fromkeys(("size", "funds", "price", "active", "annotation", "status"))
    return {
        **plain,
        **order,
        "id": row.id,
        "time": row.time,
        "received_at": row.received_at,
        "seq": row.seq,
    }
