"""The books of a tape: a ledger with their progress, a book per symbol, entries in order.

A portion of work is planned in a reading transaction and carried out in a writing one that only
writes, so events never wait for arithmetic. The first to carry out wins; the other plans again.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Table, and_, bindparam, delete, select, update

from tapeline.errors import NoSuchModel
from tapeline.results.charts.curve import Key
from tapeline.results.pnl.position import ZERO, State
from tapeline.store import bulk, upsert
from tapeline.store.portions import batches
from tapeline.store.tables.ledger import books, curves, entries, ledgers, places, sketches
from tapeline.tape import tapes

ENTRY = ("tape", "book", "time", "tie", "order_id", "notice", "spec", "outcome", "state")
BOOK = ("tape", "book", "symbol", "currency", "last_time", "last_tie", "state")
PLACE = ("tape", "order_id", "book", "time", "tie")
CURVE = ("tape", "currency", "time", "tie", "content")
SKETCH = ("tape", "currency", "time", "tie", "count", "total", "sketch")
TOGETHER = 500  # ids in one statement


class Totals(msgspec.Struct, array_like=True):
    """All books of one currency together."""

    realized: Decimal = ZERO
    unrealized: Decimal = ZERO
    fees: Decimal = ZERO
    fills: int = 0

    def add(self, state: State, sign: int = 1) -> None:
        self.realized += sign * state.realized
        self.unrealized += sign * state.unrealized
        self.fees += sign * state.fees
        self.fills += sign * state.fills


class Book(msgspec.Struct):
    book: int
    symbol: str
    currency: str
    last: Key | None
    state: State


class Ledger(msgspec.Struct):
    version: int = 0
    """Zero before the first."""
    cursor: int = 0
    is_cut: bool = False
    """Whether what is read together was not read to its end."""
    books: int = 0
    totals: dict[str, Totals] = {}
    """By currency; the empty one is the model's own."""
    pending: dict[int, Key] = {}
    """Books whose entries have to be computed again from here on."""


class Plan(msgspec.Struct):
    """One portion of work, ready to be written."""

    tape: int
    ledger: Ledger
    """The new version; it was one less before."""
    books: dict[int, Book] = {}
    entries: list[tuple[Any, ...]] = []
    gone: list[tuple[int, int, float, int]] = []
    places: list[tuple[int, str, int, float, int]] = []
    left: list[tuple[int, str]] = []
    """Orders that are no longer entered anywhere."""
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
        _pending.decode(row.pending),
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
        )
        for row in connection.execute(query.order_by(books.c.book))
    ]


def entries_of_orders(connection: Connection, tape: int, ids: list[str]) -> list[Row[Any]]:
    """The entries of some orders; orders that do not count have none."""
    found: list[Row[Any]] = []
    for some in batches(ids, TOGETHER):
        query = (
            select(entries)
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
            .where(places.c.tape == tape, places.c.order_id.in_(some))
        )
        found.extend(connection.execute(query))
    return found


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
    bulk.insert(connection, places, PLACE, plan.places, replace=PLACE[2:])
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
                one.symbol,
                one.currency,
                *(one.last or (None, None)),
                msgspec.json.encode(one.state),
            )
            for one in plan.books.values()
        ],
        replace=BOOK[4:],
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
        "totals": msgspec.json.encode(ledger.totals),
        "pending": msgspec.json.encode(ledger.pending),
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
state_from = msgspec.json.Decoder(State).decode
