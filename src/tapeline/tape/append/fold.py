"""Keeps the state that people see of a tape up to date, in the transaction that appends to it.

One `Fold` is one tape in one group of events: it reads the touched state once, takes the events in
their order, and writes the changes once.
"""

from typing import Any

import msgspec
from sqlalchemy import Connection, insert, select, update

from tapeline.store import bulk
from tapeline.store.portions import batches
from tapeline.store.tables.tape import backtests, cash, orders, states, used
from tapeline.tape.backtest_results import result_pieces
from tapeline.tape.cash import CashState, replaced
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event
from tapeline.tape.events.kinds import Kind
from tapeline.tape.orders import (
    OrderState,
    Part,
    fingerprint,
    is_retry,
    take_post,
    take_update,
)

# Kinds of which only the newest body counts, and the name it is kept under.
LATEST = {
    kinds.SCREENER_RESULT: "screener",
    kinds.SET_PNL: "pnl",
    kinds.AUTO_PNL: "auto_pnl",
}
MERGED = {
    kinds.LIFECYCLE: "lifecycle",
    kinds.SET_CUSTOM_METRIC: "metrics",
    kinds.ACCOUNT_SETTINGS: "account",
}

CHANGES = 20  # of an account's settings that are kept with them, for pages that show them
PARAMETERS = 500  # of one statement: SQLite takes a bounded number

_ORDERS = "select id, state from orders where tape = ? and id in ({})"
_CASH = "select id, state from cash where tape = ? and id in ({})"
_state = msgspec.json.Decoder(OrderState)
_cash = msgspec.json.Decoder(CashState)
_encode = msgspec.json.Encoder().encode


class Fold:
    def __init__(
        self, connection: Connection, tape: int, events: list[Event], touched: set[Kind]
    ) -> None:
        self._connection = connection
        self._tape = tape
        self._orders = self._read_orders(events) if touched & kinds.ABOUT_ORDERS else {}
        self._cash = self._read_cash(events) if kinds.CASH in touched else {}
        self._states = self._read_states(events) if touched & MERGED.keys() else {}
        self._backtests = self._read_backtests(events) if touched & kinds.OF_BACKTESTS else {}
        self._changed_orders: dict[str, OrderState] = {}
        self._changed_cash: dict[str, CashState] = {}
        self._changed_states: dict[str, bytes] = {}
        self._used: list[tuple[int, str, str, int]] = []
        self.staged = 0
        """Bytes of results that became visible, less those that they replaced."""

    def take(self, event: Event, seq: int) -> int | None:
        """Where on the tape the event is read; None for a retry, which changes nothing at all."""
        kind = event.kind
        if kind in kinds.PLAIN or kind in kinds.UNFOLDED:
            return kind.channel
        if kind in kinds.ABOUT_ORDERS:
            return kind.channel if self._take_order(event, seq) else None
        if kind is kinds.CASH:
            return kind.channel if self._take_cash(event, seq) else None
        self._take_in(event, seq)
        if kind is kinds.BACKTEST_LOG and event.backtest_id is not None:
            return kinds.CHANNELS_OF_BACKTESTS + self._backtests[event.backtest_id]
        return kind.channel

    def write(self) -> None:
        bulk.insert(
            self._connection,
            orders,
            ("tape", "id", "seq", "symbol", "side", "time", "received_at", "state"),
            [self._row(order_id, state) for order_id, state in self._changed_orders.items()],
            replace=("seq", "symbol", "side", "time", "received_at", "state"),
        )
        bulk.insert(
            self._connection,
            cash,
            ("tape", "id", "state"),
            [(self._tape, one, _encode(state)) for one, state in self._changed_cash.items()],
            replace=("state",),
        )
        bulk.insert(
            self._connection,
            states,
            ("tape", "name", "value"),
            [(self._tape, name, value) for name, value in self._changed_states.items()],
            replace=("value",),
        )
        # The first mention counts.
        mentioned = [*self._used, *self._symbols_of_orders()]
        bulk.insert(self._connection, used, ("tape", "what", "name", "seq"), mentioned, keep=True)

    def _take_in(self, event: Event, seq: int) -> None:
        kind = event.kind
        if kind in LATEST:
            self._set_state(
                LATEST[kind],
                {**event.fields, "time": event.time, "received_at": event.received_at, "seq": seq},
            )
        elif kind in MERGED:
            self._merge_state(event)
        elif kind is kinds.USED_SYMBOL:
            self._used.append((self._tape, "symbol", event.fields["symbol"], seq))
        elif kind is kinds.USED_EXCHANGE:
            self._used.append((self._tape, "exchange", event.fields["exchange"], seq))
        elif kind in kinds.OF_BACKTESTS:
            self._take_backtest(event, seq)

    def _take_order(self, event: Event, seq: int) -> bool:
        """False for an exact repeat of an earlier order."""
        kind, fields, order_id = event.kind, event.fields, event.fields["id"]
        state = self._orders.get(order_id)
        if state is None:
            state = self._orders[order_id] = OrderState()
        if kind in kinds.ORDERS:
            post = fingerprint(kind.name, event.body)
            if is_retry(state, post):
                return False
            take_post(state, Part(event.time, seq, kind.name, fields, post))
            state.received_at = state.received_at or event.received_at
        else:
            take_update(state, fields, event.time, seq)
        self._changed_orders[order_id] = state
        return True

    def _take_cash(self, event: Event, seq: int) -> bool:
        """False for cash that came before under its id, word for word."""
        cash_id = event.fields.get("id")
        if cash_id is None:
            return True
        post = fingerprint(event.kind.name, event.body)
        said = CashState(event.fields, event.time, seq, [post])
        counts = replaced(self._cash.get(cash_id), said)
        if counts is None:
            return False
        self._cash[cash_id] = self._changed_cash[cash_id] = counts
        return True

    def _row(self, order_id: str, state: OrderState) -> tuple[Any, ...]:
        return (
            self._tape,
            order_id,
            state.first_seq,
            _filtered(state, "symbol"),
            _filtered(state, "side"),
            state.base.time if state.base else None,
            state.received_at,
            _encode(state),
        )

    def _symbols_of_orders(self) -> list[tuple[int, str, str, int]]:
        """What a list of orders can be filtered by, without looking at every order."""
        first: dict[str, int] = {}
        for state in self._changed_orders.values():
            symbol = _filtered(state, "symbol")
            if symbol is not None and state.first_seq is not None:
                first.setdefault(symbol, state.first_seq)
        return [(self._tape, "order", symbol, seq) for symbol, seq in first.items()]

    def _merge_state(self, event: Event) -> None:
        name = MERGED[event.kind]
        known = self._states.get(name) or {}
        is_metric = event.kind is kinds.SET_CUSTOM_METRIC
        new = event.fields["metrics"] if is_metric else event.fields
        if event.kind is kinds.ACCOUNT_SETTINGS:
            change = {**new, "received_at": event.received_at}
            new = {**new, "changes": [*known.get("changes", []), change][-CHANGES:]}
        self._set_state(name, {**known, **new})

    def _set_state(self, name: str, value: dict[str, Any]) -> None:
        self._states[name] = value
        self._changed_states[name] = _encode(value)

    def _take_backtest(self, event: Event, seq: int) -> None:
        if event.kind is kinds.BACKTEST_LOG or event.backtest_id is None:
            return
        number = self._backtests[event.backtest_id]
        if event.kind is kinds.BACKTEST_STATUS:
            changes: dict[str, Any] = {"status": event.body}
        else:
            old = self._connection.scalar(
                select(backtests.c.upload).where(backtests.c.no == number)
            )
            if old is not None:
                self.staged -= result_pieces.size(self._connection, old)
                result_pieces.discard_later(self._connection, self._tape, old, 0.0)
            if event.upload is not None:
                self.staged += result_pieces.size(self._connection, event.upload)
                result_pieces.show(self._connection, event.upload)
            changes = {"result": event.body, "result_seq": seq, "upload": event.upload}
        self._connection.execute(
            update(backtests).where(backtests.c.no == number).values(**changes)
        )

    def _read_orders(self, events: list[Event]) -> dict[str, OrderState]:
        ids = {one.fields["id"] for one in events if one.kind in kinds.ABOUT_ORDERS}
        found: dict[str, OrderState] = {}
        for some in batches(sorted(ids), PARAMETERS):
            query = _ORDERS.format(bulk.marks(len(some)))
            rows = bulk.fetch(self._connection, query, [self._tape, *some])
            found.update((order_id, _state.decode(state)) for order_id, state in rows)
        return found

    def _read_cash(self, events: list[Event]) -> dict[str, CashState]:
        ids = {one.fields["id"] for one in events if one.kind is kinds.CASH and "id" in one.fields}
        found: dict[str, CashState] = {}
        for some in batches(sorted(ids), PARAMETERS):
            rows = bulk.fetch(
                self._connection, _CASH.format(bulk.marks(len(some))), [self._tape, *some]
            )
            found.update((cash_id, _cash.decode(state)) for cash_id, state in rows)
        return found

    def _read_states(self, events: list[Event]) -> dict[str, dict[str, Any]]:
        names = {MERGED[one.kind] for one in events if one.kind in MERGED}
        if not names:
            return {}
        query = select(states.c.name, states.c.value).where(
            states.c.tape == self._tape, states.c.name.in_(names)
        )
        return {row.name: msgspec.json.decode(row.value) for row in self._connection.execute(query)}

    def _read_backtests(self, events: list[Event]) -> dict[str, int]:
        """The numbers of the backtests that a group speaks of; new ones are made here."""
        mentioned = {one.backtest_id: one for one in events if one.kind in kinds.OF_BACKTESTS}
        if not mentioned:
            return {}
        query = select(backtests.c.id, backtests.c.no).where(
            backtests.c.tape == self._tape, backtests.c.id.in_(list(mentioned))
        )
        numbers: dict[str, int] = {row.id: row.no for row in self._connection.execute(query)}
        for backtest_id, event in mentioned.items():
            if backtest_id is not None and backtest_id not in numbers:
                row = insert(backtests).values(
                    tape=self._tape, id=backtest_id, created_at=event.received_at
                )
                numbers[backtest_id] = self._connection.scalar(row.returning(backtests.c.no))
        return numbers


def _filtered(state: OrderState, key: str) -> str | None:
    """The value that an order can be filtered by. An update may hold anything; only texts can be
    filtered by."""
    if state.base is None:
        return None
    change = state.changes.get(key)
    value = state.base.body[key] if change is None else change.value
    if not isinstance(value, str) or "\0" in value:
        return None
    return value.lower() if key == "side" else value
