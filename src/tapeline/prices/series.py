"""The series of a model: each symbol in each interval that it reports, and each indicator."""

import math
from collections.abc import Sequence
from itertools import chain, starmap
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from tapeline.store import bulk
from tapeline.store.tables.prices import price_series

Key = tuple[str, str, int]
"""Symbol, name and interval: what tells the series of a model apart."""
COLUMNS = tuple(column.name for column in price_series.columns)
CHANGING = ("pane", "newest", "close", "closed_at", "due")
"""What a new bar changes; `marked_at` belongs to `results/prices/closes.py`."""
INTERVALS = 30
"""Of one symbol, that a window looks at."""
ROW = 200
"""Bytes that a series takes besides its chunks, about; they count toward its model's quota."""
# A join, because SQLite would compare every series of the tape with a list of rows.
_FIND = """
with wanted(symbol, name, seconds) as (values {})
select one.* from wanted cross join price_series one
where one.tape = ? and one.symbol = wanted.symbol and one.name = wanted.name
and one."interval" = wanted.seconds
"""


class Series(NamedTuple):
    tape: int
    series: int
    symbol: str
    name: str
    """Of an indicator, or of the exchange that bars come from; empty for a model's own bars."""
    interval: int
    """Seconds; zero for an indicator."""
    pane: str = ""
    newest: float = float("-inf")
    """Start of the newest bar."""
    close: float = 0.0
    closed_at: float = 0.0
    """When that was the price: the bar's end, or when it arrived before that."""
    marked_at: float = 0.0
    due: bool = False
    """Whether its close is news for the books."""

    @property
    def is_new(self) -> bool:
        """Whether it has no bar yet."""
        return math.isinf(self.newest)


def of_keys(connection: Connection, tape: int, keys: Sequence[Key]) -> dict[Key, Series]:
    """The series of each; those that do not exist yet have new numbers."""
    query = _FIND.format(", ".join(["(?, ?, ?)"] * len(keys)))
    rows = bulk.fetch(connection, query, (*chain.from_iterable(keys), tape))
    found = {(one.symbol, one.name, one.interval): one for one in starmap(Series, rows)}
    new = [key for key in keys if key not in found]
    if new:
        highest = select(func.max(price_series.c.series)).where(price_series.c.tape == tape)
        for number, key in enumerate(new, (connection.scalar(highest) or 0) + 1):
            found[key] = Series(tape, number, *key)
    return found


def write(connection: Connection, some: Sequence[Series]) -> None:
    bulk.insert(connection, price_series, COLUMNS, some, replace=CHANGING)


def bars_of(connection: Connection, tape: int, symbol: str) -> list[Series]:
    """The intervals in which a symbol is reported, the finest first."""
    here = (price_series.c.tape == tape, price_series.c.symbol == symbol)
    query = select(price_series).where(*here, price_series.c.name == "")
    rows = connection.execute(query.order_by(price_series.c.interval).limit(INTERVALS))
    return [Series(*row) for row in rows]


def indicators_of(connection: Connection, tape: int, symbol: str, most: int) -> list[Series]:
    """Those of a symbol and those of none, in the order in which they first came."""
    here = (price_series.c.tape == tape, price_series.c.symbol.in_([symbol, ""]))
    query = select(price_series).where(*here, price_series.c.name != "")
    rows = connection.execute(query.order_by(price_series.c.series).limit(most))
    return [Series(*row) for row in rows]


def symbols_of(connection: Connection, tape: int, most: int) -> dict[str, list[int]]:
    """The intervals of each symbol that has bars; the one with the newest bar first."""
    here = (price_series.c.tape == tape, price_series.c.name == "")
    columns = (price_series.c.symbol, price_series.c.interval)
    query = select(*columns).where(*here).order_by(price_series.c.newest.desc()).limit(most)
    found: dict[str, list[int]] = {}
    for row in connection.execute(query):
        found.setdefault(row.symbol, []).append(row.interval)
    return {symbol: sorted(intervals) for symbol, intervals in found.items()}
