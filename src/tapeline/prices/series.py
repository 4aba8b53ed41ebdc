"""The series of a model: each symbol in each interval that it reports, and each indicator."""

from typing import NamedTuple

from sqlalchemy import Connection, func, select

from tapeline.store import bulk
from tapeline.store.tables.prices import price_series

COLUMNS = tuple(column.name for column in price_series.columns)
CHANGING = COLUMNS[5:]
INTERVALS = 30
"""Of one symbol, that a window looks at."""
ROW = 200
"""Bytes that a series takes besides its chunks, about; they count toward its model's quota."""
_FIND = """
select * from price_series where tape = ? and symbol = ? and name = ? and "interval" = ?
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


def found_or_new(
    connection: Connection, tape: int, symbol: str, name: str, interval: int
) -> tuple[Series, bool]:
    """A series and whether it is new. The tape is locked, so that numbers are given once."""
    rows = bulk.fetch(connection, _FIND, (tape, symbol, name, interval))
    if rows:
        return Series(*rows[0]), False
    highest = select(func.max(price_series.c.series)).where(price_series.c.tape == tape)
    return Series(tape, (connection.scalar(highest) or 0) + 1, symbol, name, interval), True


def write(connection: Connection, one: Series) -> None:
    bulk.insert(connection, price_series, COLUMNS, [one], replace=CHANGING)


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
