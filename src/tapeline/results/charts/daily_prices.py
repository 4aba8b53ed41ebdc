"""The last price of a symbol on each day, from the marks and fills of a model's books.

All that benchmarks and rates over time know of prices comes through here.
"""

import math
from typing import Any, NamedTuple

import msgspec
import numpy as np
from sqlalchemy import Connection, Integer, cast, func, literal, select

from tapeline.results.metrics.account import DAY, Floats, Integers
from tapeline.results.rules.days import Closes
from tapeline.results.rules.position import UNPRICED, Outcome, Spec, number
from tapeline.store.tables.ledger import entries

MOST_DAYS = 10_000  # that are looked at: each costs one look into an index

_spec, _outcome = msgspec.json.Decoder(Spec), msgspec.json.Decoder(Outcome)


class Prices(NamedTuple):
    """One for each day that has any."""

    days: Integers
    """Since 1970, rising."""
    closes: Floats
    times: Floats
    """When each was known."""


NONE = Prices(np.empty(0, dtype="i8"), np.empty(0), np.empty(0))


def of_closes(closes: Closes, first: float = -math.inf, last: float = math.inf) -> Prices:
    """From one day to another, both included."""
    rows = [(day, *closes[day]) for day in sorted(closes) if first <= day <= last]
    if not rows:
        return NONE
    days, times, prices = np.array(rows).T
    return Prices(days.astype("i8"), prices, times)


def daily_prices(
    connection: Connection, tape: int, book: int, first: int, last: int, *, is_rate: bool = False
) -> Prices:
    """From one day to another, both included; the last ones of too many. `is_rate`: of marks alone,
    because what one order was filled at is no rate."""
    query = _query(tape, book, max(first, last - MOST_DAYS + 1), last, is_rate=is_rate)
    days, closes, times = [], [], []
    for row in connection.execute(query):
        if row.time is not None:
            days.append(row.day)
            closes.append(_price(row))
            times.append(row.time)
    return Prices(np.array(days, dtype="i8"), np.array(closes), np.array(times))


def _query(tape: int, book: int, first: int, last: int, *, is_rate: bool) -> Any:
    days = select(cast(literal(first), Integer).label("day")).cte("days", recursive=True)
    days = days.union_all(select(days.c.day + 1).where(days.c.day < last))
    # Marks have no outcome. Declared positions have one and no order: they give no price.
    is_mark = entries.c.outcome.is_(None)
    is_fill = entries.c.order_id.is_not(None) & (func.coalesce(entries.c.notice, 0) != UNPRICED)
    newest = (
        entries.c.tape == tape,
        entries.c.book == book,
        entries.c.time >= days.c.day * DAY,
        entries.c.time < (days.c.day + 1) * DAY,
        is_mark if is_rate else is_mark | is_fill,
    )
    in_order = (entries.c.time.desc(), entries.c.tie.desc())
    columns = [
        select(column).where(*newest).order_by(*in_order).limit(1).scalar_subquery().label(name)
        for name, column in (
            ("time", entries.c.time), ("spec", entries.c.spec), ("outcome", entries.c.outcome),
        )
    ]  # fmt: skip
    return select(days.c.day, *columns).where(days.c.day <= last).order_by(days.c.day)


def _price(row: Any) -> float:
    price = (_spec.decode(row.spec) if row.outcome is None else _outcome.decode(row.outcome)).price
    assert price is not None  # of those that have none, the query finds none
    return number(price)
