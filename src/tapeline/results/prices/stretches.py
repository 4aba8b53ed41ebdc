"""Entries of a symbol's book within a window: all of them if they are few, else some per stretch.

However many entries a book has, a window reads a bounded number of them.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection, select

from tapeline.results.pnl.books import Book, books_of
from tapeline.results.rules.position import Outcome, Spec
from tapeline.store import bulk
from tapeline.store.tables.ledger import books

_SELECT = "select time, order_id, spec, outcome from entries"
_HERE = "where tape = ? and book = ? and time >= ? and time < ?"
_EARLIEST = f"{_SELECT} {_HERE} order by time, tie limit ?"
_LATEST = f"{_SELECT} {_HERE} order by time desc, tie desc limit ?"
_LATEST_FILL = f"{_SELECT} {{}} {_HERE} and order_id is not null order by time desc limit ?"
_FILLS = f"{_SELECT} {{}} {_HERE} and order_id is not null order by time, tie limit ?"
# By itself SQLite would rather read all entries, marks too, in the order of the primary key.
_BY_INDEX = "indexed by ix_entries_fills"

_spec, _outcome = msgspec.json.Decoder(Spec), msgspec.json.Decoder(Outcome)
_NOTHING = Outcome()


class Window(NamedTuple):
    """A stretch of time of a book. `until` is excluded."""

    tape: int
    book: int
    since: float
    until: float


class Entry(NamedTuple):
    time: float
    order_id: str | None
    """None for marks and other entries that are no fill."""
    spec: Spec
    outcome: Outcome


def symbols_of(connection: Connection, tape: int, most: int) -> list[str]:
    """All that have a fill, an order that waits or a mark, by name."""
    here = (books.c.tape == tape, books.c.is_cash.is_(False))
    query = select(books.c.symbol).where(*here).distinct().order_by(books.c.symbol).limit(most)
    return list(connection.scalars(query))


def book_of(connection: Connection, tape: int, symbol: str) -> Book | None:
    """The book of what is held of a symbol."""
    here = (books.c.symbol == symbol, books.c.is_cash.is_(False))
    return next(iter(books_of(connection, tape, *here)), None)


def entries(connection: Connection, window: Window, most: int) -> list[Entry]:
    """The earliest."""
    return _read(connection, _EARLIEST, window, most)


def fills(connection: Connection, window: Window, most: int) -> list[Entry]:
    """The earliest."""
    return _read(connection, _FILLS.format(_hint(connection)), window, most)


def last_fill(connection: Connection, tape: int, book: int) -> Entry | None:
    query = _LATEST_FILL.format(_hint(connection))
    return next(iter(_read(connection, query, Window(tape, book, -math.inf, math.inf), 1)), None)


def last(connection: Connection, window: Window) -> Entry | None:
    """The latest."""
    return next(iter(_read(connection, _LATEST, window, 1)), None)


def parts(connection: Connection, window: Window, count: int) -> Iterator[Window]:
    """The window from its first entry to its last, in parts of the same length."""
    first, newest = entries(connection, window, 1), last(connection, window)
    if not first or newest is None:
        return
    since, until = first[0].time, math.nextafter(newest.time, math.inf)
    step = (until - since) / count
    for number in range(count):
        end = until if number == count - 1 else since + (number + 1) * step
        yield window._replace(since=since + number * step, until=end)


def _hint(connection: Connection) -> str:
    return _BY_INDEX if connection.dialect.name == "sqlite" else ""


def _read(connection: Connection, query: str, window: Window, most: int) -> list[Entry]:
    return [
        Entry(
            time,
            order_id,
            _spec.decode(spec),
            _NOTHING if outcome is None else _outcome.decode(outcome),
        )
        for time, order_id, spec, outcome in bulk.fetch(connection, query, (*window, most))
    ]
