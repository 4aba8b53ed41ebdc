"""Orders as a chart marks them: individually if there are few, else counted per slice of time.

However many there are, a request costs about the same: in a crowded slice only so many are counted,
and all of it comes from an index.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, bindparam, case, func, select

from tapeline.store.tables.tape import orders

FEW = 1_000  # orders that are listed individually
MANY = 10_000  # orders that are read to be counted; more are counted slice by slice
MOST = 1_000  # orders of one slice that are counted then


class OrderMark(msgspec.Struct, kw_only=True):
    time: float
    """Of the last order in it."""
    side: str
    """`buy` or `sell`."""
    count: int
    more: bool = False
    """Whether there are more than were counted."""
    order_id: str | None = None
    """Where the mark is one order."""


class OrderMarks(msgspec.Struct):
    items: list[OrderMark]
    grouped: bool
    """Whether a mark may stand for several orders. A closer look tells them apart."""


def marks(
    connection: Connection, tape: int, since: float | None, until: float | None, stretches: int
) -> OrderMarks:
    """The marks of a time range, by time."""
    here = [orders.c.tape == tape, orders.c.time.is_not(None)]
    if since is not None:
        here.append(orders.c.time >= since)
    if until is not None:
        here.append(orders.c.time <= until)
    query = select(orders.c.time, orders.c.side, orders.c.id).where(*here)
    rows = connection.execute(query.order_by(orders.c.time).limit(MANY + 1)).all()
    if len(rows) <= FEW:
        single = [
            OrderMark(time=row.time, side=_side(row.side), count=1, order_id=row.id) for row in rows
        ]
        return OrderMarks(single, grouped=False)
    if len(rows) <= MANY:
        return OrderMarks(list(_together(rows, stretches)), grouped=True)
    last: float = connection.execute(
        select(orders.c.time).where(*here).order_by(orders.c.time.desc()).limit(1)
    ).scalar_one()
    return OrderMarks(list(_counted(connection, tape, rows[0].time, last, stretches)), grouped=True)


def _together(rows: Sequence[Row[*tuple[Any, ...]]], stretches: int) -> Iterator[OrderMark]:
    first = rows[0].time
    step = (rows[-1].time - first) / stretches or 1.0
    found: dict[tuple[int, str], OrderMark] = {}
    for time, side, _ in rows:
        key = min(stretches - 1, int((time - first) / step)), _side(side)
        mark = found.setdefault(key, OrderMark(time=time, side=key[1], count=0))
        mark.time, mark.count = time, mark.count + 1
    return iter(sorted(found.values(), key=lambda mark: mark.time))


def _counting() -> Any:
    """How many orders of a slice bought and sold. Without grouping, which would mean sorting."""
    some = (
        select(orders.c.time, case((orders.c.side == "sell", 1), else_=0).label("sold"))
        .where(
            orders.c.tape == bindparam("tape"),
            orders.c.time >= bindparam("start"),
            orders.c.time < bindparam("end"),
        )
        .order_by(orders.c.time)
        .limit(bindparam("most"))
        .subquery()
    )
    return select(
        func.sum(1 - some.c.sold).label("buys"),
        func.sum(some.c.sold).label("sells"),
        func.max(case((some.c.sold == 0, some.c.time))).label("bought_at"),
        func.max(case((some.c.sold == 1, some.c.time))).label("sold_at"),
    )


# Built once: building it for each slice would take longer than the query.
_COUNTING = _counting()


def _counted(
    connection: Connection, tape: int, first: float, last: float, stretches: int
) -> Iterator[OrderMark]:
    """From the first order to the last."""
    end = math.nextafter(last, math.inf)
    step = (end - first) / stretches
    for number in range(stretches):
        stretch = {
            "start": first + number * step,
            "end": end if number == stretches - 1 else first + (number + 1) * step,
        }
        row = connection.execute(_COUNTING, {"tape": tape, "most": MOST, **stretch}).one()
        more = (row.buys or 0) + (row.sells or 0) == MOST
        both = [("buy", row.buys, row.bought_at), ("sell", row.sells, row.sold_at)]
        for side, count, time in sorted((one for one in both if one[1]), key=lambda one: one[2]):
            yield OrderMark(time=time, side=side, count=count, more=more)


def _side(said: str | None) -> str:
    """An update may say anything of an order's side; a chart has two."""
    return "sell" if said == "sell" else "buy"
