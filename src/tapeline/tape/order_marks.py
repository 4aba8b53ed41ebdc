"""Orders as a chart marks them: one by one where they are few, else counted per stretch of time.

However many there are, a look costs about the same: no stretch is counted further than `MOST`.
"""

from collections.abc import Iterator

import msgspec
from sqlalchemy import Connection, func, select

from tapeline.store.tape_tables import orders

FEW = 1_000  # orders that are told one by one
MOST = 2_000  # orders of one stretch that are counted


class OrderMark(msgspec.Struct, kw_only=True):
    time: float
    """Of the last order in it."""
    side: str
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
    """Those of a span of time in the order of their times."""
    here = [orders.c.tape == tape, orders.c.time.is_not(None)]
    if since is not None:
        here.append(orders.c.time >= since)
    if until is not None:
        here.append(orders.c.time <= until)
    query = select(orders.c.time, orders.c.side, orders.c.id).where(*here)
    rows = connection.execute(query.order_by(orders.c.time).limit(FEW + 1)).all()
    if len(rows) <= FEW:
        return OrderMarks(
            [
                OrderMark(time=row.time, side=row.side or "", count=1, order_id=row.id)
                for row in rows
            ],
            grouped=False,
        )
    last: float = connection.execute(
        select(orders.c.time).where(*here).order_by(orders.c.time.desc()).limit(1)
    ).scalar_one()
    found = _counted(connection, tape, rows[0].time, last, stretches)
    return OrderMarks(list(found), grouped=True)


def _counted(
    connection: Connection, tape: int, first: float, last: float, stretches: int
) -> Iterator[OrderMark]:
    """From the first order to the last: nothing is counted where nothing is."""
    step = (last - first) / stretches
    for number in range(stretches):
        start, end = first + number * step, first + (number + 1) * step
        within = orders.c.time <= last if number == stretches - 1 else orders.c.time < end
        some = (
            select(orders.c.side, orders.c.time)
            .where(orders.c.tape == tape, orders.c.time >= start, within)
            .order_by(orders.c.time)
            .limit(MOST)
            .subquery()
        )
        query = select(some.c.side, func.count(), func.max(some.c.time)).group_by(some.c.side)
        rows = connection.execute(query).all()
        is_full = sum(count for _, count, _ in rows) == MOST
        for side, count, time in sorted(rows, key=lambda row: row[2]):
            yield OrderMark(time=time, side=side or "", count=count, more=is_full)
