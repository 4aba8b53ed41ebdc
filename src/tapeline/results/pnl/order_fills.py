"""Shows the fill of each order, and which orders were reported late."""

from typing import Any

import msgspec
from sqlalchemy import Connection, Row

from tapeline.results.pnl.books import entries_of_orders
from tapeline.results.pnl.position import Outcome, Spec, number

_spec, _outcome = msgspec.json.Decoder(Spec), msgspec.json.Decoder(Outcome)
_NOTHING = Outcome()


class FillShown(msgspec.Struct, kw_only=True):
    """How an order counts in profit and loss."""

    price: float | None
    """Null when none is known: then the order counts nowhere."""
    size: float | None
    time: float
    fee: float
    realized: float | None
    """What this fill added to the realized profit, net of its fee."""
    estimated: bool
    """The price is the symbol's last known one."""
    assumed: bool
    """A limit or stop order of which nobody said yet that it was filled."""
    unpriced: bool
    oversold: float
    """How much was sold without being held."""


def with_fills(
    connection: Connection, tape: int, items: list[dict[str, Any]], late_after: float
) -> list[dict[str, Any]]:
    """Orders as they are listed, each with its `fill` and `late_by`."""
    ids = [item["id"] for item in items]
    rows = entries_of_orders(connection, tape, ids)
    fills = {row.order_id: fill_from(row) for row in rows}
    return [
        {**item, "fill": fills.get(item["id"]), "late_by": late_by(item, late_after)}
        for item in items
    ]


def late_by(item: dict[str, Any], late_after: float) -> float | None:
    """Seconds between an order's own time and its arrival, if they are too many."""
    if item["time"] is None or item["received_at"] is None:
        return None
    behind: float = item["received_at"] - item["time"]
    return behind if behind > late_after else None


def fill_from(row: Row[*tuple[Any, ...]]) -> FillShown:
    spec = _spec.decode(row.spec)
    outcome = _NOTHING if row.outcome is None else _outcome.decode(row.outcome)
    size = outcome.size if outcome.size is not None else spec.size
    return FillShown(
        price=None if outcome.price is None else number(outcome.price),
        size=None if size is None else number(size),
        time=row.time,
        fee=number(spec.fee),
        realized=None if outcome.realized is None else number(outcome.realized),
        estimated=outcome.estimated,
        assumed=spec.assumed,
        unpriced=outcome.price is None,
        oversold=number(outcome.oversold),
    )
