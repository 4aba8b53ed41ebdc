"""The two figures of a stored model: only books that a change touched are computed again."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, func, select

from tapeline.results.changes.figures import Assessed, Cuts, Standing, assessed, until_cut
from tapeline.results.changes.folding import Folded, Named
from tapeline.results.pnl.all_books import computed
from tapeline.results.pnl.books import Book, Name, books_of, ledger_of, name_of
from tapeline.results.pnl.model_currency import own_currency
from tapeline.results.rules.fills import Fill, marks_of
from tapeline.results.rules.position import Spec
from tapeline.results.rules.rates import Marks
from tapeline.results.rules.symbols import of_rates
from tapeline.store.portions import batches
from tapeline.store.tables.ledger import entries
from tapeline.tape.events import kinds
from tapeline.tape.reading import channels

TOGETHER = 500  # books in one statement

_spec = msgspec.json.Decoder(Spec)


class Books(NamedTuple):
    """Of a model as it stands, with the currency of its bare tickers."""

    every: list[Book]
    quote: str


def of_tape(
    connection: Connection, tape: int, folded: Folded, known: Books | None = None
) -> Assessed:
    """`known`: books that were read for the same request already."""
    every, quote = known or books_now(connection, tape)
    place = StoredTape(connection, tape, every)

    def entries_of(some: Sequence[Book]) -> tuple[dict[Name, list[Named]], Marks]:
        found = {book.name: [*_entries(connection, tape, book)] for book in some}
        flat = [one for several in found.values() for one in several]
        rates = _rates(connection, tape, every, set(), flat)
        return found, marks_of(fill for _, fill in rates)

    def first(cuts: Cuts) -> list[Book]:
        return _first_books(connection, tape, folded, every, cuts)

    long_only = ledger_of(connection, tape).positions == "long_only"
    return assessed(folded, Standing(every, quote, entries_of, first, long_only), place)


def books_now(connection: Connection, tape: int) -> Books:
    return Books(books_of(connection, tape), own_currency(connection, tape))


class StoredTape:
    """Where the events of a stored tape are found again."""

    def __init__(self, connection: Connection, tape: int, every: Sequence[Book]) -> None:
        self._connection, self._tape = connection, tape
        self._currencies = {one.book: one.currency for one in every if not one.is_cash}

    def arrival(self, seq: int) -> float:
        for kind in (kinds.SPOT_MARKET, kinds.POSITION):
            for one in channels.numbered(self._connection, self._tape, kind.channel, [seq]):
                return one.received_at
        raise LookupError(seq)

    def traded(self, until: int) -> dict[str, int]:
        book = entries.c.book
        query = select(book, func.count().label("fills")).where(
            *self._fills, entries.c.tie <= until
        )
        found: dict[str, int] = {}
        for row in self._connection.execute(query.group_by(book)):
            currency = self._currencies[row.book]
            found[currency] = found.get(currency, 0) + row.fills
        return found

    def first_in(self, currency: str, after: int) -> int | None:
        some = [book for book, name in self._currencies.items() if name == currency]
        first = select(func.min(entries.c.tie)).where(*self._fills, entries.c.tie > after)
        found = [
            self._connection.scalar(first.where(entries.c.book.in_(part)))
            for part in batches(some, TOGETHER)
        ]
        return min((one for one in found if one is not None), default=None)

    @property
    def _fills(self) -> tuple[Any, ...]:
        return entries.c.tape == self._tape, entries.c.order_id.is_not(None)


def _first_books(
    connection: Connection, tape: int, folded: Folded, every: Sequence[Book], cuts: Cuts
) -> list[Book]:
    ledger, by_number = ledger_of(connection, tape), {book.book: book for book in every}
    touched = folded.touched() | cuts.keys()
    was_long_only = folded.start.account.long_only
    if was_long_only != (ledger.positions == "long_only"):
        touched |= {book.name for book in every}
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
    first = until_cut(folded.first(now), cuts)
    found = computed(first, long_only=was_long_only)
    again = [book for book in found.books if book.name in touched]
    return [*(book for book in every if book.name not in touched), *again]


def _rates(
    connection: Connection, tape: int, every: Sequence[Book], touched: set[Name], some: list[Named]
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
