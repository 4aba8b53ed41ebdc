"""Plans one portion: new entries go to their place in their book, and the book goes on from there.

Entries in order continue from the end of the book, whatever its length. Late entries and
corrections continue from the last copy of the position before them.
"""

from collections import defaultdict
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, select, tuple_

from tapeline.results.charts import curve
from tapeline.results.charts.curve import BEGINNING, Change, Key, Step
from tapeline.results.charts.folding import Folding
from tapeline.results.pnl import account, unbooked
from tapeline.results.pnl.books import (
    Book,
    Ledger,
    Name,
    Plan,
    Totals,
    books_numbered,
    books_of,
    entries_of,
    ledger_of,
    name_of,
    state_from,
)
from tapeline.results.pnl.stored_rates import StoredRates
from tapeline.results.rules.fills import Fill
from tapeline.results.rules.position import Outcome, Spec, State, exact
from tapeline.results.rules.rates import Rate
from tapeline.results.rules.symbols import of_rates
from tapeline.store.tables.ledger import books, entries
from tapeline.tape import lateness

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
    replaces: bool = False
    """Whether there was another one in its place."""


class Place(NamedTuple):
    """Where a fill is entered now."""

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
    with exact():
        news = unbooked.news(
            connection, tape, ledger.cursor, PORTION, is_told=ledger.is_told, is_cut=ledger.is_cut
        )
        if news is None and not ledger.pending:
            return None
        if not ledger.version or (news is not None and news.is_set):
            _set_positions(ledger, account.settings_of(connection, tape).positions)
        return _Portion(connection, tape, ledger).plan(news)


def _set_positions(ledger: Ledger, positions: str) -> None:
    if ledger.positions != positions:  # then all books are computed again
        ledger.positions = positions
        ledger.pending = dict.fromkeys(range(ledger.books), BEGINNING)


class _Portion:
    def __init__(self, connection: Connection, tape: int, ledger: Ledger) -> None:
        self._connection = connection
        self._tape = tape
        ledger.version += 1
        self._ledger = ledger
        self._long_only = ledger.positions == "long_only"
        self._plan = Plan(tape, ledger)
        self._budget = AGAIN
        self._changes: dict[str, list[Change]] = defaultdict(list)
        self._rates = StoredRates(connection, tape, ())

    def plan(self, news: unbooked.News | None) -> Plan:
        if news is not None:
            self._rates = StoredRates(self._connection, self._tape, news.rest)
            self._follow_rates(news.rest)
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

    def _follow_rates(self, marks: list[Fill]) -> None:
        """A rate that comes late converts fees that are booked already."""
        rated, pending = self._ledger.rated, self._ledger.pending
        first: dict[int, Key] = {}
        for fill in marks:
            if fill.spec.side == "mark":
                for number in rated.get(fill.symbol, ()):
                    first[number] = min(_key(fill), first.get(number, _key(fill)))
        for book in books_numbered(self._connection, self._tape, first):
            key = first[book.book]
            if book.book in pending or (book.last is not None and book.last > key):
                pending[book.book] = min(key, pending.get(book.book, key))

    def _rate(self, book: Book, spec: Spec, key: Key) -> Rate | None:
        if spec.paid_in is None:
            return None
        for symbol in of_rates(spec.paid_in, book.currency):
            known = self._ledger.rated.setdefault(symbol, [])
            if book.book not in known:
                known.append(book.book)
        return self._rates.at(spec.paid_in, book.currency, key)

    def _edits(
        self, news: unbooked.News | None, unfinished: set[int]
    ) -> tuple[dict[int, Edit], dict[int, Book]]:
        news = news or unbooked.NOTHING._replace(cursor=self._ledger.cursor)
        self._ledger.cursor, self._ledger.is_cut = news.cursor, news.is_cut
        self._keep_statements(news.told)
        of_orders = self._places(list(news.orders), is_cash=False)
        of_cash = self._places(list(news.cash), is_cash=True)
        self._note_late(news.dated, set(of_cash))
        there = [*of_orders.values(), *of_cash.values()]
        changing = [*news.orders.values(), *news.cash.values(), news.rest]
        by_name, known = self._known_books(
            {name_of(fill) for some in changing for fill in some},
            {place.book for places in there for place in places} | unfinished,
        )
        found: dict[int, Edit] = defaultdict(Edit, {number: Edit() for number in unfinished})
        for is_cash, said, places in (
            (False, news.orders, of_orders),
            (True, news.cash, of_cash),
        ):
            for one, fills in said.items():
                new = [
                    _place(by_name[name_of(fill)].book, fill) for fill in sorted(fills, key=_key)
                ]
                self._move(found, one, places.get(one, []), new, is_cash=is_cash)
        for fill in news.rest:
            place = _place(by_name[name_of(fill)].book, fill)
            found[place.book].added[place.key] = Entry(place.key, None, place.spec)
        return found, known

    def _move(
        self,
        found: dict[int, Edit],
        name: str,
        old: list[Place],
        new: list[Place],
        *,
        is_cash: bool,
    ) -> None:
        """From where an order or cash is entered to where it belongs."""
        if old == new:
            return  # an annotation, or a word that means nothing here
        ties = {place.key[1] for place in new}
        for place in old:
            if place not in new:
                found[place.book].removed.add(place.key)
            if place.key[1] not in ties:
                self._plan.left.append((self._tape, is_cash, name, place.key[1]))
        for place in new:
            if place not in old:
                entry = Entry(place.key, None if is_cash else name, place.spec)
                found[place.book].added[place.key] = entry
                time, tie = place.key
                self._plan.places.append((self._tape, is_cash, name, tie, place.book, time))

    def _keep_statements(self, told: unbooked.Told) -> None:
        self._ledger.is_told = self._ledger.is_told or bool(told)
        self._plan.statements.extend(
            (self._tape, order_id, one.seq, _encode(one)) for order_id, one in told
        )

    def _note_late(self, dated: list[unbooked.Dated], known: set[str]) -> None:
        """`known`: cash that is entered already. Other cash with its id is a change of it."""
        for one in dated:
            is_change = one.cash_id in known
            if one.cash_id is not None:
                known.add(one.cash_id)
            if is_change or one.late_by > lateness.LEAST:
                self._plan.late.append((self._tape, one.kind, one.late_by, one.seq, is_change))

    def _places(self, ids: list[str], *, is_cash: bool) -> dict[str, list[Place]]:
        rows = entries_of(self._connection, self._tape, ids, is_cash=is_cash)
        self._plan.read += len(rows)
        found: dict[str, list[Place]] = {}
        for row in rows:
            place = Place(row.book, (row.time, row.tie), bytes(row.spec))
            found.setdefault(row.place_id, []).append(place)
        return found

    def _books(self, *wanted: Any) -> list[Book]:
        return books_of(self._connection, self._tape, *wanted)

    def _known_books(
        self, names: set[Name], numbers: set[int]
    ) -> tuple[dict[Name, Book], dict[int, Book]]:
        """By name and by number; what was never heard of gets a book."""
        symbols = sorted({symbol for _, symbol, _ in names})
        by_name = {
            one.name: one
            for column, wanted in ((books.c.symbol, symbols), (books.c.book, sorted(numbers)))
            if wanted
            for one in self._books(column.in_(wanted))
        }
        for name in sorted(names - by_name.keys()):
            is_cash, symbol, currency = name
            new = Book(self._ledger.books, symbol, currency, None, State(), is_cash)
            self._ledger.books += 1
            by_name[name] = new
            # Even if there is no time left for it in this portion: its entries refer to it.
            self._plan.books[new.book] = new
        return by_name, {one.book: one for one in by_name.values()}

    def _go_through(self, book: Book, edit: Edit) -> None:
        pending = self._ledger.pending.pop(book.book, None)
        first = min([*edit.added, *edit.removed, *([pending] if pending else [])])
        for key in edit.removed & edit.added.keys():
            edit.added[key].replaces = True
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
        """Go through entries in order. `copied`: the last one keeps a copy, to go on from."""
        folding = Folding(state, long_only=self._long_only)
        for place, one in enumerate(stream, 1):
            spec = _spec.decode(one.spec)
            outcome, step = folding.take(spec, one.key[0], self._rate(book, spec, one.key))
            self._draw(book, one, step, is_point=is_fill(spec, outcome) or step.is_move)
            state.since += 1
            old = (one.outcome, one.notice, one.state)
            if one.state or state.since >= COPIED_EVERY or (copied and place == len(stream)):
                state.since = 0
                one.state = _encode(state)
            one.outcome = None if spec.side == "mark" else _encode(outcome)
            one.notice = outcome.notice
            if not one.stored or old != (one.outcome, one.notice, one.state):
                self._plan.entries.append(self._row(book, one))

    def _draw(self, book: Book, one: Entry, step: Step, *, is_point: bool) -> None:
        if is_point and not book.muted:
            self._changes[book.currency].append(Change(one.key, book.book, step))
        elif one.stored or one.replaces:
            self._changes[book.currency].append(Change(one.key, book.book, None))

    def _close(self, book: Book, state: State, last: Key | None) -> None:
        """The book is complete again."""
        totals = self._ledger.totals.setdefault(book.currency, Totals())
        totals.add(book.state, -1)
        totals.add(state)
        book.state, book.last = state, last
        self._plan.books[book.book] = book
        if book.muted != (state.reason is not None):
            # On the curve or off it, with all that it ever had there.
            book.muted = not book.muted
            self._ledger.pending[book.book] = BEGINNING

    def _row(self, book: Book, one: Entry) -> tuple[Any, ...]:
        return (
            self._tape, book.book, *one.key, one.order_id, one.notice, one.spec, one.outcome,
            one.state,
        )  # fmt: skip


def is_fill(spec: Spec, outcome: Outcome) -> bool:
    return outcome.price is not None and spec.side in {"buy", "sell"}


def _key(fill: Fill) -> Key:
    return (fill.time, fill.tie)


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
