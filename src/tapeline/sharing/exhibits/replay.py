"""A live model's state at an earlier place of its tape, computed from the tape alone.

Links with a delay use it. A replay is kept and continued, so a request costs only what has happened
since the last one.
"""

import threading
from bisect import bisect_left
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection

from tapeline.recently_used import RecentlyUsed
from tapeline.results.pnl import summary
from tapeline.results.pnl.books import Book, Totals
from tapeline.results.pnl.fills import Fill, currency_of, fill_of
from tapeline.results.pnl.position import Outcome, Spec, State, exact, take
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.orders import OrderState, Part, fingerprint, take_post, take_update
from tapeline.tape.reading import channels

KEPT = 32  # models in memory
PORTION = 5_000
FOLLOWED = (
    kinds.LIFECYCLE, kinds.USED_SYMBOL, kinds.USED_EXCHANGE, kinds.SPOT_MARKET, kinds.SET_PNL,
    kinds.AUTO_PNL, kinds.SET_CUSTOM_METRIC, kinds.BACKTEST_RESULT, kinds.MARK_PRICE,
)  # fmt: skip


class Sums(NamedTuple):
    """The books and gains of all orders."""

    books: list[Book]
    outcomes: dict[str, tuple[Fill, Outcome]]
    gains: dict[str, list[tuple[float, float]]]
    """By currency: times and gains."""


class Replay:
    def __init__(self) -> None:
        self.seq = 0
        self.orders: dict[str, OrderState] = {}
        self.places: list[tuple[int, str]] = []
        """Arrival and id of every posted order, in order."""
        self._symbols: dict[str, int] = {}
        self._exchanges: dict[str, int] = {}
        self.lifecycle: dict[str, Any] = {}
        self.metrics: dict[str, Any] = {}
        self.enabled = True
        self.own: list[dict[str, float]] = []
        self.quote = summary.DEFAULT_CURRENCY
        self._marks: list[Fill] = []
        self._sums: Sums | None = None

    def advance(self, connection: Connection, tape: int, until: int) -> None:
        if until == self.seq:
            return
        self._sums = None
        for kind in FOLLOWED:
            after: int | None = self.seq
            while after is not None:
                some = channels.after(connection, tape, kind.channel, after=after, limit=PORTION)
                for record in some.records:
                    if record.seq <= until:
                        self._take(record)
                last = some.records[-1].seq if some.records else until
                after = some.next if last < until else None
        self.seq = until

    def sums(self) -> Sums:
        if self._sums is None:
            with exact():
                self._sums = self._computed()
        return self._sums

    @property
    def symbols(self) -> list[str]:
        """In the order they first appeared."""
        return sorted(self._symbols, key=lambda name: self._symbols[name])

    @property
    def exchanges(self) -> list[str]:
        return sorted(self._exchanges, key=lambda name: self._exchanges[name])

    def orders_before(self, before: int | None, limit: int) -> list[tuple[int, str]]:
        """Arrival and id, newest first."""
        end = len(self.places) if before is None else bisect_left(self.places, (before, ""))
        return self.places[max(0, end - limit) : end][::-1]

    def _take(self, record: StoredEvent) -> None:
        kind = kinds.BY_NUMBER[record.kind]
        fields = msgspec.json.decode(record.body, type=dict[str, Any])
        if kind in kinds.ABOUT_ORDERS:
            self._take_order(kind, record, fields)
        elif kind is kinds.LIFECYCLE:
            self.lifecycle |= fields
        elif kind is kinds.USED_SYMBOL:
            _note(self._symbols, fields["symbol"], record.seq)
        elif kind is kinds.USED_EXCHANGE:
            _note(self._exchanges, fields["exchange"], record.seq)
        elif kind is kinds.SET_PNL:
            self.own = fields.get("values", [])
        elif kind is kinds.AUTO_PNL:
            self.enabled = fields.get("enabled", True)
        elif kind is kinds.SET_CUSTOM_METRIC:
            self.metrics |= fields["metrics"]
        elif kind is kinds.BACKTEST_RESULT:
            self.quote = summary.currency_in(record.body)
        elif kind is kinds.MARK_PRICE:
            _note(self._symbols, fields["symbol"], record.seq)
            spec = Spec("mark", Decimal(repr(float(fields["price"]))))
            self._marks.append(Fill(fields["symbol"], record.time, record.seq, spec))

    def _take_order(self, kind: kinds.Kind, record: StoredEvent, fields: dict[str, Any]) -> None:
        state = self.orders.setdefault(fields["id"], OrderState())
        _note(self._symbols, fields.get("symbol"), record.seq)
        _note(self._exchanges, fields.get("exchange"), record.seq)
        if kind not in kinds.ORDERS:
            take_update(state, fields, record.time, record.seq)
            return
        if state.first_seq is None:
            self.places.append((record.seq, fields["id"]))
        post = fingerprint(kind.name, record.body)
        take_post(state, Part(record.time, record.seq, kind.name, fields, post))
        state.received_at = state.received_at or record.received_at

    def _computed(self) -> Sums:
        entries: dict[str, list[tuple[float, int, str | None, Fill]]] = {}
        for order_id, state in self.orders.items():
            fill = fill_of(state)
            if fill is not None:
                entries.setdefault(fill.symbol, []).append((fill.time, fill.tie, order_id, fill))
        for mark in self._marks:
            entries.setdefault(mark.symbol, []).append((mark.time, mark.tie, None, mark))
        found = Sums([], {}, {})
        for number, (symbol, some) in enumerate(entries.items()):
            some.sort(key=lambda one: one[:2])
            found.books.append(_fold(found, number, symbol, some))
        return found


class Replays:
    """The replays in memory, by tape and delay: a replay only goes forward."""

    def __init__(self) -> None:
        self._kept = RecentlyUsed[tuple[int, int], tuple[threading.Lock, Replay]](KEPT)

    def at(self, connection: Connection, tape: int, delay_hours: int, until: int) -> Replay:
        key = (tape, delay_hours)
        lock, replay = self._kept.get(key, _new)
        if replay.seq > until:
            lock, replay = _new()
            self._kept.put(key, (lock, replay))
        with lock:
            if replay.seq > until:  # another request, for a later place, was faster
                replay = Replay()
            replay.advance(connection, tape, until)
            replay.sums()
            return replay


def _new() -> tuple[threading.Lock, Replay]:
    return threading.Lock(), Replay()


def _note(known: dict[str, int], name: object, seq: int) -> None:
    if isinstance(name, str):
        known[name] = min(seq, known.get(name, seq))


def totals(books: list[Book]) -> dict[str, Totals]:
    found: dict[str, Totals] = {}
    for book in books:
        found.setdefault(book.currency, Totals()).add(book.state)
    return found


def _fold(
    found: Sums,
    number: int,
    symbol: str,
    some: list[tuple[float, int, str | None, Fill]],
) -> Book:
    state, currency = State(), currency_of(symbol)
    gains = found.gains.setdefault(currency, [])
    for moment, _tie, order_id, fill in some:
        before = state.realized + state.unrealized
        outcome = take(state, fill.spec, moment)
        gain = float(state.realized + state.unrealized - before)
        if order_id is not None:
            found.outcomes[order_id] = (fill, outcome)
        if outcome.price is not None and (order_id is not None or gain):
            gains.append((moment, gain))
    return Book(number, symbol, currency, None, state)
