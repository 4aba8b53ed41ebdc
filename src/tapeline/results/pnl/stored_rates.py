"""Finds rates in the books: of one model at the time of an entry, of a project now."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, ScalarSelect, select, tuple_

from tapeline.results.pnl.books import state_from
from tapeline.results.rules import rates
from tapeline.results.rules.fills import Fill, marks_of
from tapeline.results.rules.position import Spec
from tapeline.results.rules.rates import Found, Key, Marks, Rate
from tapeline.results.rules.symbols import of_rates
from tapeline.store.tables.core import models
from tapeline.store.tables.ledger import books, entries
from tapeline.store.tables.tape import tapes

TOGETHER = 256  # marks that are read at once: fills follow each other in time
LOOKED = 16  # entries without an order are marks but for a few declared positions
END = (float("inf"), 0)
LAST = 2**63 - 1  # of the entries of one moment

_spec = msgspec.json.Decoder(Spec)


class _Window(NamedTuple):
    """All marks of a book from one key to another."""

    start: Key | None
    end: Key
    keys: list[Key]
    prices: list[Decimal]


class Mark(NamedTuple):
    key: Key
    price: Decimal
    source: str | None
    """As of a rate."""


class StoredRates:
    """The rates that one model reported: in its books, and in the portion that is being planned."""

    def __init__(self, connection: Connection, tape: int, fresh: Sequence[Fill]) -> None:
        self._connection = connection
        self._tape = tape
        self._said = fresh
        self._books: dict[tuple[str, str], dict[str, int]] = {}
        self._windows: dict[int, _Window] = {}

    @cached_property
    def _fresh(self) -> Marks:
        """Most portions need no rate, so they sort no marks."""
        return marks_of(self._said)

    def at(self, currency: str, quote: str, before: Key) -> Rate | None:
        """The newest rate between two currencies before an entry."""
        pair = (currency, quote)
        if pair not in self._books:
            self._books[pair] = self._books_of(of_rates(currency, quote))
        stored = (self._stored(*one, before) for one in self._books[pair].items())
        fresh = (self._fresh.newest(symbol, before) for symbol in of_rates(currency, quote))
        return rates.newest([*stored, *fresh])

    def _books_of(self, symbols: tuple[str, ...]) -> dict[str, int]:
        here = (books.c.tape == self._tape, books.c.symbol.in_(symbols), ~books.c.is_cash)
        query = select(books.c.symbol, books.c.book).where(*here)
        return {row.symbol: row.book for row in self._connection.execute(query)}

    def _stored(self, symbol: str, book: int, before: Key) -> Found | None:
        window = self._windows.get(book)
        if window is None or (window.start or before) > before or before > window.end:
            window = self._windows[book] = self._read(book, before)
        at = bisect_left(window.keys, before)
        if not at:
            return None
        key = window.keys[at - 1]
        return Found(key, Rate(symbol, window.prices[at - 1], key[0]))

    def _read(self, book: int, before: Key) -> _Window:
        """The newest mark before a key, and those that follow."""
        first = newest_mark(self._connection, self._tape, book, before)
        start = None if first is None else first.key
        key = tuple_(entries.c.time, entries.c.tie)
        query = _of_no_order(self._tape, book)
        if start is not None:
            query = query.where(key > start)
        in_order = query.order_by(entries.c.time, entries.c.tie).limit(TOGETHER)
        rows = self._connection.execute(in_order).all()
        found = [*([] if first is None else [first]), *_marks(rows)]
        is_whole = len(rows) < TOGETHER
        end = END if is_whole else (rows[-1].time, rows[-1].tie)
        return _Window(start, end, [one.key for one in found], [one.price for one in found])


def newest_mark(connection: Connection, tape: int, book: int, before: Key = END) -> Mark | None:
    key = tuple_(entries.c.time, entries.c.tie)
    while True:
        query = _of_no_order(tape, book).where(key < before)
        backwards = query.order_by(entries.c.time.desc(), entries.c.tie.desc()).limit(LOOKED)
        rows = connection.execute(backwards).all()
        found = next(_marks(rows), None)
        if found is not None or len(rows) < LOOKED:
            return found
        before = (rows[-1].time, rows[-1].tie)


def in_project(
    connection: Connection, tape: int, currency: str, quote: str
) -> tuple[str, Rate] | None:
    """The newest rate that any model of the same project reported, and that model."""
    project = (
        select(models.c.project_id)
        .join(tapes, tapes.c.model_id == models.c.id)
        .where(tapes.c.no == tape)
        .scalar_subquery()
    )
    some = books_with_rates(connection, project, currency, quote)
    at = max((one.marked_at for one in some), default=0.0)
    end = (at, LAST)  # right there: thousands of fills may have followed
    found = [
        (mark.key, one.tape, one, mark)
        for one in some
        if one.marked_at == at
        and (mark := newest_mark(connection, one.tape, one.book, end)) is not None
    ]
    if not found:
        return None
    *_, book, mark = max(found, key=itemgetter(0, 1))
    return book.model_id, Rate(book.symbol, mark.price, mark.key[0], mark.source)


class RateBook(NamedTuple):
    """A book with marks of a pair of currencies."""

    tape: int
    book: int
    symbol: str
    model_id: str
    marked_at: float
    """The time of its newest mark."""


def books_with_rates(
    connection: Connection, project: str | ScalarSelect[str], currency: str, quote: str
) -> list[RateBook]:
    """All of a project's models that have a rate between two currencies."""
    query = (
        select(books.c.tape, books.c.book, books.c.symbol, models.c.id, books.c.state)
        .join(tapes, tapes.c.no == books.c.tape)
        .join(models, models.c.id == tapes.c.model_id)
        .where(
            models.c.project_id == project,
            books.c.symbol.in_(of_rates(currency, quote)),
            ~books.c.is_cash,
        )
        .order_by(books.c.tape, books.c.book)
    )
    rows = connection.execute(query)
    found = ((row, state_from(row.state).marked_at) for row in rows)
    return [
        RateBook(row.tape, row.book, row.symbol, row.id, at) for row, at in found if at is not None
    ]


def _of_no_order(tape: int, book: int) -> Any:
    here = (entries.c.tape == tape, entries.c.book == book, entries.c.order_id.is_(None))
    return select(entries.c.time, entries.c.tie, entries.c.spec).where(*here)


def _marks(rows: Iterable[Any]) -> Iterator[Mark]:
    for row in rows:
        spec = _spec.decode(row.spec)
        if spec.side == "mark" and spec.price is not None:
            yield Mark((row.time, row.tie), spec.price, spec.word)
