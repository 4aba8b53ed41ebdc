"""Counts what was reported late besides orders, which know it of themselves."""

from collections.abc import Mapping

import msgspec
from sqlalchemy import Connection, func, literal, select, union_all

from tapeline.store.tables.ledger import late_events
from tapeline.tape.events import kinds

CHANGED = -1
"""Stands for a kind: cash that replaced other cash of its id."""


class Late(msgspec.Struct, kw_only=True):
    """Entries of the books that arrived long after their own time, so that they changed what was
    shown before."""

    prices: int = 0
    cash: int = 0
    positions: int = 0
    replaced_cash: int = 0
    """Cash that was sent again under its id with other content, whenever that was."""


def counted(found: Mapping[int, int]) -> Late:
    """From counts by kind."""
    return Late(
        prices=found.get(kinds.MARK_PRICE.number, 0),
        cash=found.get(kinds.CASH.number, 0),
        positions=found.get(kinds.POSITION.number, 0),
        replaced_cash=found.get(CHANGED, 0),
    )


def late(connection: Connection, tape: int, late_after: float) -> Late:
    here, kind = late_events.c.tape == tape, late_events.c.kind
    one_of = kind.in_([kinds.MARK_PRICE.number, kinds.CASH.number, kinds.POSITION.number])
    behind = select(kind, func.count().label("count")).where(
        here, one_of, late_events.c.late_by > late_after
    )
    changed = select(literal(CHANGED), func.count()).where(
        here, kind == kinds.CASH.number, late_events.c.is_change
    )
    rows = connection.execute(union_all(behind.group_by(kind), changed.group_by(kind)))
    return counted({row[0]: row[1] for row in rows})
