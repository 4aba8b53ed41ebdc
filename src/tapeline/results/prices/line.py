"""The price of a symbol as marks and fills tell it, for charts of symbols without bars."""

from typing import NamedTuple

from sqlalchemy import Connection

from tapeline.results.prices import stretches
from tapeline.results.prices.stretches import Entry, Window
from tapeline.results.rules.position import number


class Point(NamedTuple):
    time: float
    price: float


def line(
    connection: Connection, tape: int, symbol: str, since: float, until: float, points: int
) -> list[Point]:
    """In order; where there are more than `points`, the last one of each stretch of time."""
    known = stretches.book_of(connection, tape, symbol)
    if known is None:
        return []
    window = Window(tape, known.book, since, until)
    found = stretches.entries(connection, window, points + 1)
    if len(found) > points:
        parts = list(stretches.parts(connection, window, points))
        newest = [stretches.last(connection, part) for part in parts]
        found = [one for one in newest if one is not None]
    return [point for one in found if (point := _point(one)) is not None]


def newest(connection: Connection, tape: int, symbol: str) -> float | None:
    """When the price of a symbol was last known."""
    known = stretches.book_of(connection, tape, symbol)
    return None if known is None else known.state.priced_at


def _point(entry: Entry) -> Point | None:
    """An order that counts nowhere has no price, and nor has a declared position."""
    side, price = entry.spec.side, entry.outcome.price
    if side == "mark":
        price = entry.spec.price
    elif side not in ("buy", "sell"):
        price = None
    return None if price is None else Point(entry.time, number(price))
