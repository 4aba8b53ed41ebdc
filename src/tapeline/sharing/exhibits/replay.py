"""A live model's state at an earlier place of its tape, computed from the tape alone.

Links with a delay use it. A replay is kept and continued, so a request costs only what has happened
since the last one.
"""

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
from sqlalchemy import Connection

from tapeline.recently_used import RecentlyUsed
from tapeline.results.pnl import account, model_currency
from tapeline.results.pnl.account import Positions, Settings
from tapeline.results.pnl.all_books import AllBooks, Named, computed
from tapeline.results.pnl.late_entries import CHANGED, Late, counted
from tapeline.results.rules import fills
from tapeline.results.rules.fills import Fill, fills_of
from tapeline.results.rules.position import exact
from tapeline.results.rules.rises import Statement, statement
from tapeline.tape import lateness
from tapeline.tape.append.fold import CHANGES
from tapeline.tape.cash import CashState, replaced
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.orders import OrderState, Part, fingerprint, take_post, take_update
from tapeline.tape.reading import channels

KEPT = 32  # models in memory
PORTION = 5_000
FOLLOWED = (
    kinds.LIFECYCLE, kinds.USED_SYMBOL, kinds.USED_EXCHANGE, kinds.SPOT_MARKET, kinds.SET_PNL,
    kinds.AUTO_PNL, kinds.SET_CUSTOM_METRIC, kinds.BACKTEST_RESULT, kinds.MARK_PRICE, kinds.CASH,
)  # fmt: skip


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
        self._asset = ""
        """The quote asset of the newest backtest."""
        self._first: Positions = "signed"
        self._said: dict[str, Any] = {}
        """What the owner set of the account."""
        self._told: dict[str, list[Statement]] = {}
        self._cash: dict[str, CashState] = {}
        self._rest: list[Fill] = []
        self._behind: list[tuple[int, float]] = []
        """Kind of each event that arrived after its own time, and by how much."""
        self._books: AllBooks | None = None

    def advance(self, connection: Connection, tape: int, until: int) -> None:
        if until == self.seq:
            return
        self._books = None
        self._first = account.first_positions(connection, tape)
        for kind in FOLLOWED:
            after: int | None = self.seq
            while after is not None:
                some = channels.after(connection, tape, kind.channel, after=after, limit=PORTION)
                for record in some.records:
                    if record.seq <= until:
                        self._take(record)
                        self._note_times(record)
                last = some.records[-1].seq if some.records else until
                after = some.next if last < until else None
        self.seq = until

    def books(self) -> AllBooks:
        if self._books is None:
            long_only = self.settings.long_only
            with exact():
                self._books = computed(self._entries(), long_only=long_only)
        return self._books

    def entries(self) -> list[Named]:
        with exact():
            return [*self._entries()]

    @property
    def settings(self) -> Settings:
        return account.from_words({"positions": self._first, **self._said})

    @property
    def quote(self) -> str:
        """The model's own currency."""
        totals = model_currency.totals_of(self.books().books)
        return model_currency.decided(self._asset, totals, self.settings.capital)

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

    def late(self, late_after: float) -> Late:
        found = Counter(kind for kind, behind in self._behind if behind > late_after)
        replaced = sum(len(one.posts) - 1 for one in self._cash.values())
        return counted({**found, CHANGED: replaced})

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
            self._asset = model_currency.quote_asset(record.body)
        elif kind is kinds.MARK_PRICE:
            _note(self._symbols, fields["symbol"], record.seq)
            told = (fields["symbol"], fields["price"], record.time, record.seq)
            self._rest.append(fills.mark(*told, fields.get("source")))
        else:
            self._take_account(kind, record, fields)

    def _note_times(self, record: StoredEvent) -> None:
        behind = record.received_at - record.time
        if behind > lateness.LEAST and record.kind in lateness.DATED:
            self._behind.append((record.kind, behind))

    def _take_account(self, kind: kinds.Kind, record: StoredEvent, fields: dict[str, Any]) -> None:
        if kind is kinds.ACCOUNT_SETTINGS:
            changes = [
                *self._said.get("changes", []),
                {**fields, "received_at": record.received_at},
            ]
            self._said |= {**fields, "changes": changes[-CHANGES:]}
            return
        _note(self._symbols, fields.get("symbol"), record.seq)
        if kind is kinds.POSITION:
            self._rest.append(fills.opening(fields, record.time, record.seq))
        elif "id" in fields:
            post = fingerprint(kind.name, record.body)
            new = CashState(fields, record.time, record.seq, [post])
            known = self._cash.get(fields["id"])
            self._cash[fields["id"]] = replaced(known, new) or new
        else:
            self._rest.append(fills.cash(fields, record.time, record.seq))

    def _take_order(self, kind: kinds.Kind, record: StoredEvent, fields: dict[str, Any]) -> None:
        state = self.orders.setdefault(fields["id"], OrderState())
        _note(self._symbols, fields.get("symbol"), record.seq)
        said = statement(fields, record.time, record.seq)
        if said is not None and (kind not in kinds.ORDERS or said.filled is not None):
            self._told.setdefault(fields["id"], []).append(said)
        if kind not in kinds.ORDERS:
            take_update(state, fields, record.time, record.seq)
            return
        if state.first_seq is None:
            self.places.append((record.seq, fields["id"]))
        post = fingerprint(kind.name, record.body)
        take_post(state, Part(record.time, record.seq, kind.name, fields, post))
        state.received_at = state.received_at or record.received_at

    def _entries(self) -> Iterator[Named]:
        for order_id, state in self.orders.items():
            for fill in fills_of(state, self._told.get(order_id, [])):
                yield order_id, fill
        for one in self._cash.values():
            yield None, fills.cash(one.body, one.time, one.seq)
        for fill in self._rest:
            yield None, fill


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
            replay.books()
            return replay


def _new() -> tuple[threading.Lock, Replay]:
    return threading.Lock(), Replay()


def _note(known: dict[str, int], name: object, seq: int) -> None:
    if isinstance(name, str):
        known[name] = min(seq, known.get(name, seq))
