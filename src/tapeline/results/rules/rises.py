"""Portions in which an order was filled: `filled_size` is a running total, each rise is a fill.

A rise counts at the time that the update names, else at the update's own. What an update says
without a `filled_size` (a price, a time, a fee) is about the fill before it. The status `filled`
without one says that the rest is filled too. No store here.
"""

from collections.abc import Iterable, Mapping
from copy import copy
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec

from tapeline.results.rules.position import ZERO
from tapeline.results.rules.said import Said
from tapeline.results.rules.words import amount, decimal, moment, positive, text
from tapeline.tape.orders import OrderState

OWN_PRICES = ("executionPrice", "executed_price")
AVERAGE = "filled_avg_price"
"""Of all that is filled so far."""
PRICES = (*OWN_PRICES, AVERAGE)
TIMES = ("executionTime", "executed_time")
FEES = ("fee", "fees")
FILLED_SIZE, STATUS = "filled_size", "status"
WORDS = frozenset({FILLED_SIZE, *PRICES, *TIMES, *FEES})
FILLED = frozenset({"filled", "executed", "done", "closed"})
TAKEN_OUT = frozenset({"canceled", "cancelled", "rejected", "expired"})


class Statement(msgspec.Struct, array_like=True, frozen=True):
    """What one event says of an order's fills."""

    time: float
    seq: int
    filled: Decimal | None = None
    price: Decimal | None = None
    """Of this portion alone."""
    average: Decimal | None = None
    at: float | None = None
    fee: Decimal | None = None
    """Of the whole order so far."""
    whole: bool = False
    """Whether its status says that all is filled, and nothing says how much that is."""


class Rise(msgspec.Struct):
    time: float
    tie: int
    size: Decimal
    price: Decimal | None
    fee: Decimal = ZERO


class _Early(NamedTuple):
    """Said before anything was filled: it is about the first fill."""

    price: Decimal | None = None
    at: float | None = None
    fee: Decimal = ZERO


def statement(body: Mapping[str, Any], time: float, seq: int) -> Statement | None:
    """None when nothing is said that could be read."""
    filled = amount(body.get(FILLED_SIZE))
    whole = filled is None and text(body.get(STATUS)) in FILLED
    if not whole and not WORDS & body.keys():
        return None
    said = Statement(
        time,
        seq,
        filled,
        _first(body, OWN_PRICES, positive),
        positive(body.get(AVERAGE)),
        _first(body, TIMES, moment),
        _first(body, FEES, decimal),
        whole,
    )
    is_empty = not whole and all(one is None for one in msgspec.structs.astuple(said)[2:-1])
    return None if is_empty else said


def in_order(state: OrderState, told: Iterable[Statement]) -> list[Statement]:
    """All that was said: the order itself, then by time, ties by arrival.

    `told` has updates; what an order's further posts said is known by its last word only.
    """
    base = state.base
    if base is None:
        return []
    by_seq = {one.seq: one for one in told if one.seq != base.seq}
    others: dict[int, dict[str, Any]] = {}
    times: dict[int, float] = {}
    for word in (WORDS | {STATUS}) & state.changes.keys():
        change = state.changes[word]
        if change.seq not in by_seq:
            others.setdefault(change.seq, {})[word] = change.value
            times[change.seq] = change.time
    rest = [statement(body, times[seq], seq) for seq, body in others.items()]
    later = [*by_seq.values(), *(one for one in rest if one is not None)]
    later.sort(key=lambda one: (one.time, one.seq))
    first = statement(base.body, base.time, base.seq)
    every = later if first is None else [first, *later]
    # Where nobody says how much was filled, the status tells of the whole order: see `fills`.
    is_sized = any(one.whole for one in every) and any(one.filled is not None for one in every)
    return _sized(every, Said(state)) if is_sized else every


def found(statements: Iterable[Statement]) -> list[Rise]:
    """The fills of an order of which somebody said how much was filled."""
    filling = Filling()
    for one in statements:
        filling.take(one)
    return filling.rises


class Filling:
    """An order that is filled in portions, to which one more statement can be added."""

    def __init__(self) -> None:
        self.rises: list[Rise] = []
        self.touched: dict[int, Rise] = {}
        """By place: the rises that the last statement changed or took out, as they were before."""
        self.before = 0
        """How many rises there were before it."""
        self._filled = ZERO
        self._fee = ZERO
        self._early = _Early()
        self._last: Decimal | None = None
        """The price that was said last."""
        self._undone = self._figures()

    def take(self, said: Statement) -> None:
        self.touched, self.before = {}, len(self.rises)
        self._undone = self._figures()
        if said.filled is not None:
            self._fill(max(said.filled, self._filled) if said.whole else said.filled, said)
        if said.at is not None:
            self._date(said.at)
        if said.price is not None:
            self._price(said.price)
        elif said.average is not None:
            self._average(said.average)
        if said.fee is not None:
            self._pay(said.fee - self._fee)
            self._fee = said.fee

    def undo(self) -> None:
        """As it was before the last statement."""
        self._filled, self._fee, self._early, self._last = self._undone
        del self.rises[self.before :]
        for place in sorted(self.touched):
            self.rises[place : place + 1] = [self.touched[place]]
        self.touched = {}

    def _fill(self, filled: Decimal, said: Statement) -> None:
        more = filled - self._filled
        self._filled = filled
        if more > 0:
            first, early = not self.rises, self._early
            time = early.at if first and early.at is not None else said.time
            price = early.price if first else self._last
            fee = early.fee if first else ZERO
            self.rises.append(Rise(time, said.seq, more, price, fee))
            self._early = _Early()
        while more < 0:  # corrected: the newest portions were not, or not in full
            last = self._last_rise()
            if last.size + more > 0:
                last.size += more
                return
            more += self.rises.pop().size
            self._pay(last.fee)

    def _date(self, at: float) -> None:
        if self.rises:
            self._last_rise().time = at
        else:
            self._early = self._early._replace(at=at)

    def _price(self, price: Decimal) -> None:
        self._last = price
        if self.rises:
            self._last_rise().price = price
        else:
            self._early = self._early._replace(price=price)

    def _average(self, average: Decimal) -> None:
        """The last portion costs what the average needs; where none fits, all cost the average."""
        self._last = average
        if not self.rises:
            self._early = self._early._replace(price=average)
            return
        last, earlier = self._last_rise(), self.rises[:-1]
        prices = [one.price for one in earlier]
        worth = sum(
            (one.size * price for one, price in zip(earlier, prices, strict=True) if price), ZERO
        )
        price = (average * self._filled - worth) / last.size
        if price > 0 and None not in prices:
            last.price = price
            return
        for place, one in enumerate(self.rises):
            self._note(place)
            one.price = average

    def _pay(self, fee: Decimal) -> None:
        if self.rises:
            self._last_rise().fee += fee
        else:
            self._early = self._early._replace(fee=self._early.fee + fee)

    def _figures(self) -> tuple[Decimal, Decimal, _Early, Decimal | None]:
        return self._filled, self._fee, self._early, self._last

    def _last_rise(self) -> Rise:
        """To be changed."""
        self._note(len(self.rises) - 1)
        return self.rises[-1]

    def _note(self, place: int) -> None:
        if place < self.before and place not in self.touched:
            self.touched[place] = copy(self.rises[place])


def _sized(every: list[Statement], said: Said) -> list[Statement]:
    """Where all is said to be filled, that is the size of the order, unless it was taken out."""
    is_filled = said.first((STATUS,), text) not in TAKEN_OUT
    size = said.first(("size",), positive) if is_filled else None
    if is_filled and size is None and _is_whole(every):
        return [msgspec.structs.replace(one, filled=None) for one in every]
    return [msgspec.structs.replace(one, filled=size) if one.whole else one for one in every]


def _is_whole(every: list[Statement]) -> bool:
    """Whether nothing but the status ever said that anything was filled, and it came last."""
    told = [one for one in every if one.whole or one.filled is not None]
    return told[-1].whole and not any(one.filled for one in told)


def _first(body: Mapping[str, Any], names: Iterable[str], read: Any) -> Any:
    return next((value for name in names if (value := read(body.get(name))) is not None), None)
