"""The two figures of a stored model: only books that a change touched are computed again."""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection, select

from tapeline.results.changes.figures import Figures, figures
from tapeline.results.changes.folding import Folded, Named
from tapeline.results.pnl.all_books import computed
from tapeline.results.pnl.books import Book, Name, books_of, ledger_of, name_of
from tapeline.results.pnl.model_currency import own_currency
from tapeline.results.rules.fills import Fill
from tapeline.results.rules.position import Spec
from tapeline.results.rules.symbols import of_rates
from tapeline.store.tables.ledger import entries

_spec = msgspec.json.Decoder(Spec)


class Books(NamedTuple):
    """Of a model as it stands, with the currency of its bare tickers."""

    every: list[Book]
    quote: str


def of_tape(
    connection: Connection,
    tape: int,
    folded: Folded,
    known: Books | None = None,
) -> Figures:
    """`known`: books that were read for the same request already."""
    if known is None:
        known = Books(books_of(connection, tape), own_currency(connection, tape))
    every, quote = known
    first = _first_books(connection, tape, folded, every) if folded.is_changed else every
    return figures(folded, every, first, quote)


def _first_books(
    connection: Connection, tape: int, folded: Folded, every: list[Book]
) -> list[Book]:
    ledger, by_number = ledger_of(connection, tape), {book.book: book for book in every}
    touched = folded.touched()
    for symbol in folded.rates:  # a price may have been the rate of fees in other books
        some = ledger.rated.get(symbol, ())
        touched |= {by_number[number].name for number in some if number in by_number}
    now = [
        named
        for book in every
        if book.name in touched
        for named in _entries(connection, tape, book)
    ]
    now += _rates(connection, tape, every, touched, [*now, *folded.only_first()])
    found = computed(folded.first(now), long_only=ledger.positions == "long_only")
    again = [book for book in found.books if book.name in touched]
    return [*(book for book in every if book.name not in touched), *again]


def _rates(
    connection: Connection, tape: int, every: list[Book], touched: set[Name], some: list[Named]
) -> list[Named]:
    """The entries of other books that convert fees of these."""
    symbols = {
        symbol
        for _, fill in some
        if fill.spec.paid_in is not None
        for symbol in of_rates(fill.spec.paid_in, name_of(fill)[2])
    }
    return [
        named
        for book in every
        if book.symbol in symbols and not book.is_cash and book.name not in touched
        for named in _entries(connection, tape, book)
    ]


def _entries(connection: Connection, tape: int, book: Book) -> Iterator[Named]:
    query = select(entries.c.time, entries.c.tie, entries.c.order_id, entries.c.spec).where(
        entries.c.tape == tape, entries.c.book == book.book
    )
    cash = book.currency if book.is_cash else None
    for row in connection.execute(query):
        yield row.order_id, Fill(book.symbol, row.time, row.tie, _spec.decode(row.spec), cash)
