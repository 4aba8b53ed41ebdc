"""The books of a tape: a ledger with their progress, a book per symbol, entries in order.

A portion of work is planned in a reading transaction and carried out in a writing one that only
writes, so events never wait for arithmetic. The first to carry out wins; the other plans again.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Table, and_, bindparam, delete, select, update

from tapeline.errors import NoSuchModel
from tapeline.results.charts.curve import Key
from tapeline.results.rules.fills import Fill
from tapeline.results.rules.position import ZERO, State, earned
from tapeline.results.rules.rises import Statement
from tapeline.results.rules.symbols import currency_of
from tapeline.store import bulk, upsert
from tapeline.store.portions import batches
from tapeline.store.tables.ledger import (
    books,
    curves,
    entries,
    late_events,
    ledgers,
    places,
    sketches,
    statements,
)
from tapeline.tape import tapes

ENTRY = ("tape", "book", "time", "tie", "order_id", "notice", "spec", "outcome", "state")
BOOK = (
    "tape", "book", "is_cash", "symbol", "currency", "muted", "last_time", "last_tie", "state",
)  # fmt: skip
PLACE = ("tape", "is_cash", "id", "tie", "book", "time")
STATEMENT = ("tape", "order_id", "seq", "content")
LATE = ("tape", "kind", "late_by", "seq", "is_change")
CURVE = ("tape", "currency", "time", "tie", "content")
SKETCH = ("tape", "currency", "time", "tie", "count", "total", "rest", "sketch")
TOGETHER = 500  # ids in one statement


class Totals(msgspec.Struct, array_like=True):
    """All books of one currency together."""

    realized: Decimal = ZERO
    unrealized: Decimal = ZERO
    fees: Decimal = ZERO
    fills: int = 0
    cash: dict[str, Decimal] = {}
    """By type, flows too."""
    left_out: int = 0
    """Books that are not computed."""
    claims: dict[str, int] = {}
    """What bare tickers are said to be quoted in, and in how many books."""
    opened: int = 0
    """Books with a declared position; sums that an earlier version stored do not count them."""

    @property
    def total(self) -> Decimal:
        return self.realized + self.unrealized + earned(self.cash)

    def add(self, state: State, sign: int = 1) -> None:
        """A book that is not computed counts nowhere."""
        if state.reason is not None:
            self.left_out += sign
            return
        self.add_cash(state.cash, sign)
        for claim in state.claims:
            self.claims = {**self.claims, claim: self.claims.get(claim, 0) + sign}
        self.realized += sign * state.realized
        self.unrealized += sign * state.unrealized
        self.fees += sign * state.fees
        self.fills += sign * state.fills
        self.opened += sign * state.is_opened

    def add_cash(self, cash: dict[str, Decimal], sign: int = 1) -> None:
        known = self.cash
        sums = {kind: known.get(kind, ZERO) + sign * one for kind, one in cash.items()}
        self.cash = {kind: one for kind, one in {**known, **sums}.items() if one or sign > 0}


class Book(msgspec.Struct):
    book: int
    symbol: str
    currency: str
    last: Key | None
    state: State
    is_cash: bool = False
    muted: bool = False
    """Whether it is kept off the curve, because it is not computed."""

    @property
    def name(self) -> "Name":
        return (self.is_cash, self.symbol, self.currency)


Name = tuple[bool, str, str]
"""Whether it holds cash, its symbol, its currency."""


def name_of(fill: Fill) -> Name:
    """The book that an entry belongs to."""
    if fill.cash is not None:
        return (True, fill.symbol, fill.cash)
    return (False, fill.symbol, currency_of(fill.symbol))


class Ledger(msgspec.Struct):
    version: int = 0
    """Zero before the first."""
    cursor: int = 0
    is_cut: bool = False
    """Whether what is read together was not read to its end."""
    books: int = 0
    totals: dict[str, Totals] = {}
    """By currency; the empty one is the model's own."""
    positions: str = ""
    """The setting that the books were kept under."""
    is_told: bool = False
    """Whether any update ever said something of a fill."""
    pending: dict[int, Key] = {}
    """Books whose entries have to be computed again from here on."""
    rated: dict[str, list[int]] = {}
    """Books with fees that a mark of this symbol converts."""


class Plan(msgspec.Struct):
    """One portion of work, ready to be written."""

    tape: int
    ledger: Ledger
    """The new version; it was one less before."""
    books: dict[int, Book] = {}
    entries: list[tuple[Any, ...]] = []
    gone: list[tuple[int, int, float, int]] = []
    places: list[tuple[int, bool, str, int, int, float]] = []
    left: list[tuple[int, bool, str, int]] = []
    """Fills and cash that are entered nowhere any more."""
    statements: list[tuple[int, str, int, bytes]] = []
    late: list[tuple[int, int, float, int, bool]] = []
    curves: list[tuple[Any, ...]] = []
    sketches: list[tuple[Any, ...]] = []
    gone_curves: list[tuple[int, str, float, int]] = []
    read: int = 0
    """Entries that had to be read for it."""


def ledger_of(connection: Connection, tape: int) -> Ledger:
    row = connection.execute(select(ledgers).where(ledgers.c.tape == tape)).first()
    if row is None:
        return Ledger()
    return Ledger(
        row.version,
        row.cursor,
        row.cut,
        row.books,
        totals_from(row.totals),
        row.positions,
        row.told,
        _pending.decode(row.pending),
        _rated.decode(row.rated),
    )


def books_of(connection: Connection, tape: int, *wanted: Any) -> list[Book]:
    query = select(books).where(books.c.tape == tape, *wanted)
    return [
        Book(
            row.book,
            row.symbol,
            row.currency,
            None if row.last_time is None else (row.last_time, row.last_tie),
            state_from(row.state),
            row.is_cash,
            row.muted,
        )
        for row in connection.execute(query.order_by(books.c.book))
    ]


def books_numbered(connection: Connection, tape: int, numbers: Iterable[int]) -> list[Book]:
    return [
        book
        for some in batches(sorted(numbers), TOGETHER)
        for book in books_of(connection, tape, books.c.book.in_(some))
    ]


def statements_of(connection: Connection, tape: int, ids: list[str]) -> dict[str, list[Statement]]:
    """What updates said of the fills of some orders."""
    found: dict[str, list[Statement]] = {}
    for some in batches(ids, TOGETHER):
        here = (statements.c.tape == tape, statements.c.order_id.in_(some))
        query = select(statements.c.order_id, statements.c.content).where(*here)
        for row in connection.execute(query):
            found.setdefault(row.order_id, []).append(_statement.decode(row.content))
    return found


def entries_of(
    connection: Connection, tape: int, ids: list[str], *, is_cash: bool = False
) -> list[Row[Any]]:
    """The entries of some orders, or of cash with an id; those that count nowhere have none."""
    found: list[Row[Any]] = []
    for some in batches(ids, TOGETHER):
        query = (
            select(entries, places.c.id.label("place_id"))
            .select_from(places)
            .join(
                entries,
                and_(
                    entries.c.tape == places.c.tape,
                    entries.c.book == places.c.book,
                    entries.c.time == places.c.time,
                    entries.c.tie == places.c.tie,
                ),
            )
            .where(places.c.tape == tape, places.c.is_cash == is_cash, places.c.id.in_(some))
        )
        found.extend(connection.execute(query))
    return sorted(found, key=lambda row: (row.time, row.tie))


def carry_out(connection: Connection, plan: Plan) -> bool:
    """False if another server was first; then nothing is changed."""
    if not _turn_page(connection, plan):
        return False
    tape = plan.tape
    _delete(connection, entries, plan.gone)
    _delete(connection, places, plan.left)
    for table in (curves, sketches):
        _delete(connection, table, plan.gone_curves)
    bulk.insert(connection, entries, ENTRY, plan.entries, replace=ENTRY[4:])
    bulk.insert(connection, places, PLACE, plan.places, replace=PLACE[4:])
    bulk.insert(connection, statements, STATEMENT, plan.statements, replace=STATEMENT[3:])
    bulk.insert(connection, late_events, LATE, plan.late, replace=LATE[4:])
    bulk.insert(connection, curves, CURVE, plan.curves, replace=CURVE[4:])
    bulk.insert(connection, sketches, SKETCH, plan.sketches, replace=SKETCH[4:])
    bulk.insert(
        connection,
        books,
        BOOK,
        [
            (
                tape,
                one.book,
                one.is_cash,
                one.symbol,
                one.currency,
                one.muted,
                *(one.last or (None, None)),
                msgspec.json.encode(one.state),
            )
            for one in plan.books.values()
        ],
        replace=BOOK[5:],
    )
    return True


def _turn_page(connection: Connection, plan: Plan) -> bool:
    if not tapes.hold(connection, plan.tape):
        raise NoSuchModel
    ledger = plan.ledger
    values = {
        "version": ledger.version,
        "cursor": ledger.cursor,
        "cut": ledger.is_cut,
        "books": ledger.books,
        "positions": ledger.positions,
        "told": ledger.is_told,
        "totals": msgspec.json.encode(ledger.totals),
        "pending": msgspec.json.encode(ledger.pending),
        "rated": msgspec.json.encode(ledger.rated),
    }
    if ledger.version == 1:
        return upsert.claim(connection, ledgers, tape=plan.tape, **values)
    before = (ledgers.c.tape == plan.tape, ledgers.c.version == ledger.version - 1)
    return connection.execute(update(ledgers).where(*before).values(**values)).rowcount == 1


def _delete(connection: Connection, table: Table, keys: Sequence[tuple[Any, ...]]) -> None:
    if keys:
        names = [column.name for column in table.primary_key]
        here = [table.c[name] == bindparam(f"key_{name}") for name in names]
        values = [{f"key_{n}": v for n, v in zip(names, key, strict=True)} for key in keys]
        connection.execute(delete(table).where(*here), values)


totals_from = msgspec.json.Decoder(dict[str, Totals]).decode
_pending = msgspec.json.Decoder(dict[int, Key])
_rated = msgspec.json.Decoder(dict[str, list[int]])
_statement = msgspec.json.Decoder(Statement)
state_from = msgspec.json.Decoder(State).decode
