"""Plans one portion: new entries go to their place in their book, and the book goes on from there.

Entries in order continue from the end of the book, whatever its length. Late entries and
corrections continue from the last copy of the position before them.
"""

from collections import defaultdict
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, select, tuple_

from tapeline.results.charts import curve
from tapeline.results.charts.curve import Change, Key
from tapeline.results.pnl import unbooked
from tapeline.results.pnl.books import (
    Book,
    Ledger,
    Plan,
    Totals,
    books_of,
    entries_of_orders,
    ledger_of,
    state_from,
)
from tapeline.results.pnl.fills import Fill, currency_of
from tapeline.results.pnl.position import Spec, State, exact, take
from tapeline.store.tables.ledger import books, entries

PORTION = 1_000  # events in one portion
AGAIN = 5_000  # entries that one portion computes again; the next portion goes on
COPIED_EVERY = 64  # entries

_encode = msgspec.json.encode
_spec = msgspec.json.Decoder(Spec)


class Entry(msgspec.Struct):
    key: Key
    order_id: str | None
    spec: bytes
    outcome: bytes | None = None
    notice: int | None = None
    state: bytes | None = None
    stored: bool = False


class Place(NamedTuple):
    """Where an order is entered now."""

    book: int
    key: Key
    spec: bytes


class Start(NamedTuple):
    """Where to start computing a book."""

    state: State
    key: Key | None
    """Of the entry that led to this position."""
    stream: list[Entry]
    """What is stored after it."""
    end: Key | None
    """Where this portion ends if there is more; another one goes on."""


class Edit(msgspec.Struct):
    """What changes in one book."""

    added: dict[Key, Entry] = {}
    removed: set[Key] = set()


def plan(connection: Connection, tape: int, until: int) -> Plan | None:
    """The next portion of a tape's bookkeeping; None when nothing is left to do up to a place."""
    ledger = ledger_of(connection, tape)
    if ledger.cursor >= until and not ledger.pending:
        return None
    news = unbooked.news(connection, tape, ledger.cursor, PORTION)
    if news is None and not ledger.pending:
        return None
    with exact():
        return _Portion(connection, tape, ledger).plan(news)


class _Portion:
    def __init__(self, connection: Connection, tape: int, ledger: Ledger) -> None:
        self._connection = connection
        self._tape = tape
        ledger.version += 1
        self._ledger = ledger
        self._plan = Plan(tape, ledger)
        self._budget = AGAIN
        self._changes: dict[str, list[Change]] = defaultdict(list)

    def plan(self, news: unbooked.News | None) -> Plan:
        # One unfinished book makes progress in every portion, however much else is new.
        some, known = self._edits(news, set(sorted(self._ledger.pending)[:1]))
        for number, edit in some.items():
            self._go_through(known[number], edit)
        for currency, changes in self._changes.items():
            rewriting = curve.rewriting(self._connection, self._tape, currency, changes)
            self._plan.curves.extend(rewriting.rows)
            self._plan.sketches.extend(rewriting.sketches)
            self._plan.gone_curves.extend(rewriting.gone)
        return self._plan

    def _edits(
        self, news: unbooked.News | None, unfinished: set[int]
    ) -> tuple[dict[int, Edit], dict[int, Book]]:
        news = news or unbooked.News({}, [], self._ledger.cursor, is_cut=False)
        self._ledger.cursor, self._ledger.is_cut = news.cursor, news.is_cut
        places = self._places(list(news.fills))
        fills = [(order_id, fill) for order_id, fill in news.fills.items() if fill is not None]
        by_symbol, known = self._known_books(
            {fill.symbol for _, fill in fills} | {fill.symbol for fill in news.marks},
            {place.book for place in places.values()} | unfinished,
        )
        found: dict[int, Edit] = defaultdict(Edit, {number: Edit() for number in unfinished})
        for order_id, fill in news.fills.items():
            old = places.get(order_id)
            new = None if fill is None else _place(by_symbol[fill.symbol].book, fill)
            if old == new:
                continue  # an annotation, or a field that does not matter here
            if old is not None:
                found[old.book].removed.add(old.key)
            if new is None:
                self._plan.left.append((self._tape, order_id))
            else:
                found[new.book].added[new.key] = Entry(new.key, order_id, new.spec)
                self._plan.places.append((self._tape, order_id, new.book, *new.key))
        for mark in news.marks:
            place = _place(by_symbol[mark.symbol].book, mark)
            found[place.book].added[place.key] = Entry(place.key, None, place.spec)
        return found, known

    def _places(self, ids: list[str]) -> dict[str, Place]:
        rows = entries_of_orders(self._connection, self._tape, ids)
        self._plan.read += len(rows)
        return {row.order_id: Place(row.book, (row.time, row.tie), bytes(row.spec)) for row in rows}

    def _books(self, *wanted: Any) -> list[Book]:
        return books_of(self._connection, self._tape, *wanted)

    def _known_books(
        self, symbols: set[str], numbers: set[int]
    ) -> tuple[dict[str, Book], dict[int, Book]]:
        """By symbol and by number; a new symbol gets a book."""
        by_symbol = {
            one.symbol: one
            for column, wanted in ((books.c.symbol, symbols), (books.c.book, numbers))
            for one in self._books(column.in_(sorted(wanted)))
        }
        for symbol in sorted(symbols - by_symbol.keys()):
            new = Book(self._ledger.books, symbol, currency_of(symbol), None, State())
            self._ledger.books += 1
            by_symbol[symbol] = new
            # Even if there is no time left for it in this portion: its entries refer to it.
            self._plan.books[new.book] = new
        return by_symbol, {one.book: one for one in by_symbol.values()}

    def _go_through(self, book: Book, edit: Edit) -> None:
        pending = self._ledger.pending.pop(book.book, None)
        first = min([*edit.added, *edit.removed, *([pending] if pending else [])])
        for key in edit.removed - edit.added.keys():
            self._plan.gone.append((self._tape, book.book, *key))
            self._changes[book.currency].append(Change(key, book.book, None))
        if pending is None and not edit.removed and (not book.last or first > book.last):
            start = Start(msgspec.structs.replace(book.state), book.last, [], None)
        elif self._budget > 0:
            start = self._from_copy(book, first)
        else:
            self._ledger.pending[book.book] = first
            self._plan.entries.extend(self._row(book, one) for one in edit.added.values())
            return
        end = start.end
        kept = {one.key: one for one in start.stream if one.key not in edit.removed}
        now = kept | {key: one for key, one in edit.added.items() if end is None or key <= end}
        later = [one for one in edit.added.values() if one.key not in now]
        stream = [now[key] for key in sorted(now)]
        self._fold(book, start.state, stream, copied=end is not None)
        self._plan.entries.extend(self._row(book, one) for one in later)
        if end is None:
            self._close(book, start.state, stream[-1].key if stream else start.key)
        else:
            self._ledger.pending[book.book] = (end[0], end[1] + 1)

    def _from_copy(self, book: Book, first: Key) -> Start:
        """From the last copy of the position before a key."""
        key = tuple_(entries.c.time, entries.c.tie)
        here = select(entries).where(entries.c.tape == self._tape, entries.c.book == book.book)
        copy = self._connection.execute(
            here.where(key < first, entries.c.state.is_not(None))
            .order_by(entries.c.time.desc(), entries.c.tie.desc())
            .limit(1)
        ).first()
        start = Start(State(), None, [], None)
        if copy is not None:
            start = Start(state_from(copy.state), (copy.time, copy.tie), [], None)
            here = here.where(key > start.key)
        limit = max(self._budget, 2 * COPIED_EVERY)  # enough to make progress in any case
        rows = self._connection.execute(
            here.order_by(entries.c.time, entries.c.tie).limit(limit)
        ).all()
        self._budget -= len(rows)
        self._plan.read += len(rows)
        start.stream.extend(map(_entry, rows))
        return start._replace(end=start.stream[-1].key if len(rows) == limit else None)

    def _fold(self, book: Book, state: State, stream: list[Entry], *, copied: bool) -> None:
        """Compute entries in order. `copied`: the last one keeps a copy, to continue from."""
        changes = self._changes[book.currency]
        value = state.realized + state.unrealized
        for place, one in enumerate(stream, 1):
            spec = _spec.decode(one.spec)
            outcome = take(state, spec, one.key[0])
            before, value = value, state.realized + state.unrealized
            gain = float(value - before)
            if outcome.price is None or (spec.side == "mark" and not gain):
                if one.stored:
                    changes.append(Change(one.key, book.book, None))
            else:
                changes.append(Change(one.key, book.book, gain))
            state.since += 1
            old = (one.outcome, one.notice, one.state)
            if one.state or state.since >= COPIED_EVERY or (copied and place == len(stream)):
                state.since = 0
                one.state = _encode(state)
            one.outcome = None if spec.side == "mark" else _encode(outcome)
            one.notice = None if spec.side == "mark" else outcome.notice
            if not one.stored or old != (one.outcome, one.notice, one.state):
                self._plan.entries.append(self._row(book, one))

    def _close(self, book: Book, state: State, last: Key | None) -> None:
        """The book is complete again."""
        totals = self._ledger.totals.setdefault(book.currency, Totals())
        totals.add(book.state, -1)
        totals.add(state)
        book.state, book.last = state, last
        self._plan.books[book.book] = book

    def _row(self, book: Book, one: Entry) -> tuple[Any, ...]:
        return (
            self._tape, book.book, *one.key, one.order_id, one.notice, one.spec, one.outcome,
            one.state,
        )  # fmt: skip


def _place(book: int, fill: Fill) -> Place:
    return Place(book, (fill.time, fill.tie), _encode(fill.spec))


def _entry(row: Any) -> Entry:
    return Entry(
        (row.time, row.tie),
        row.order_id,
        bytes(row.spec),
        row.outcome and bytes(row.outcome),
        row.notice,
        row.state and bytes(row.state),
        stored=True,
    )
