"""The orders of a model, merged, newest first by arrival."""

from typing import Any

import msgspec
from sqlalchemy import Connection, Row, select

from tapeline.store.portions import batches
from tapeline.store.tables.tape import orders
from tapeline.tape.orders import OrderState, merged

PATIENCE = 50_000  # orders a filter may look at in one request; the cursor goes on from there
SOUGHT = 10_000  # orders of a time range that are found by their time

_state = msgspec.json.Decoder(OrderState)


class Filter(msgspec.Struct):
    symbol: str | None = None
    side: str | None = None
    since: float | None = None
    until: float | None = None


def listed(
    connection: Connection, tape: int, wanted: Filter, *, before: int | None, limit: int
) -> tuple[list[dict[str, Any]], int | None]:
    """Orders before a number, and the number to go on from."""
    here = [orders.c.tape == tape, orders.c.seq.is_not(None)]
    if before is not None:
        here.append(orders.c.seq < before)
    numbers = _within(connection, tape, wanted, before)
    if numbers is not None:
        return _numbered(connection, tape, wanted, numbers, limit)
    end = None if wanted == Filter() else _end_of_patience(connection, here)
    query = select(orders).where(*here, *_conditions(wanted))
    if end is not None:
        query = query.where(orders.c.seq >= end)
    rows = connection.execute(query.order_by(orders.c.seq.desc()).limit(limit)).all()
    return [_shown(row) for row in rows], rows[-1].seq if len(rows) == limit else end


def following(
    connection: Connection, tape: int, wanted: Filter, *, after: int, limit: int
) -> tuple[list[dict[str, Any]], int | None]:
    """Orders that came after a number, oldest first, and the number to go on from."""
    here = [orders.c.tape == tape, orders.c.seq > after]
    end: int | None = None
    if wanted != Filter():
        ahead = select(orders.c.seq).where(*here).order_by(orders.c.seq)
        end = connection.scalar(ahead.offset(PATIENCE - 1).limit(1))
    query = select(orders).where(*here, *_conditions(wanted))
    if end is not None:
        query = query.where(orders.c.seq <= end)
    rows = connection.execute(query.order_by(orders.c.seq).limit(limit)).all()
    return [_shown(row) for row in rows], rows[-1].seq if len(rows) == limit else end


def _conditions(wanted: Filter) -> list[Any]:
    found: list[Any] = []
    if wanted.symbol is not None:
        found.append(orders.c.symbol == wanted.symbol)
    if wanted.side is not None:
        found.append(orders.c.side == wanted.side)
    # A sum, so that no database takes the index of times where that of numbers is bounded.
    return found + _timed(orders.c.time + 0, wanted)


def _timed(time: Any, wanted: Filter) -> list[Any]:
    found: list[Any] = []
    if wanted.since is not None:
        found.append(time >= wanted.since)
    if wanted.until is not None:
        found.append(time <= wanted.until)
    return found


def _within(
    connection: Connection, tape: int, wanted: Filter, before: int | None
) -> list[int] | None:
    """The numbers of the orders in a time range, newest first; None if there are too many.

    An index finds them by time, however long ago that was.
    """
    if wanted.since is None and wanted.until is None:
        return None
    here = [orders.c.tape == tape, orders.c.seq.is_not(None), *_timed(orders.c.time, wanted)]
    if wanted.side is not None:
        here.append(orders.c.side == wanted.side)
    found = list(connection.scalars(select(orders.c.seq).where(*here).limit(SOUGHT + 1)))
    if len(found) > SOUGHT:
        return None
    return sorted((one for one in found if before is None or one < before), reverse=True)


def _numbered(
    connection: Connection, tape: int, wanted: Filter, numbers: list[int], limit: int
) -> tuple[list[dict[str, Any]], int | None]:
    """A page of the orders with these numbers, some of which may be of other symbols."""
    found: list[Row[*tuple[Any, ...]]] = []
    for some in batches(numbers, limit):
        query = select(orders).where(
            orders.c.tape == tape, orders.c.seq.in_(some), *_conditions(wanted)
        )
        found += connection.execute(query.order_by(orders.c.seq.desc())).all()
        if len(found) >= limit:
            break
    shown = found[:limit]
    is_more = len(shown) == limit and shown[-1].seq != numbers[-1]
    return [_shown(row) for row in shown], shown[-1].seq if is_more else None


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
