"""An order as some of its reports make it, to which one more report can be added. No store here.

Most reports about an order that is filled in portions add a portion at the end. They cost the same
however many there are; any other report makes the fills anew.
"""

from decimal import Decimal
from typing import Any, NamedTuple

import msgspec

from tapeline.results.changes.change import Report
from tapeline.results.rules import rises
from tapeline.results.rules.fills import Fill, fills_of
from tapeline.results.rules.position import Spec
from tapeline.results.rules.rises import FEES, FILLED_SIZE, PRICES, TIMES, Filling, Rise, Statement
from tapeline.results.rules.said import Said
from tapeline.results.rules.words import positive
from tapeline.tape.events import kinds
from tapeline.tape.orders import OrderState, Part, take_post, take_update

COUNTING = frozenset(
    {"symbol", "side", "size", "funds", "price", "status", "multiplier", "inverse", "instrument"}
    | {"fee_currency", FILLED_SIZE, *PRICES, *TIMES, *FEES}
)
"""All that fills are made of."""


class Step(NamedTuple):
    """What one report did to the fills of an order."""

    old: list[Fill]
    """Those that it changed or took out, as they were."""
    new: list[Fill]
    since: list[float]
    """When they happened: of each that was not only assumed, its time or its first report."""
    had: int
    """How many fills there were before it."""
    cost: int
    """How many fills had to be looked at."""


class _Portions(NamedTuple):
    """What is needed to add one more portion."""

    filling: Filling
    last: tuple[float, int]
    """The newest statement, by its time and arrival."""
    spec: Spec
    limit: Decimal | None
    symbol: str

    def fill(self, one: Rise) -> Fill:
        price = one.price or self.limit
        spec = msgspec.structs.replace(self.spec, size=one.size, price=price, fee=one.fee)
        return Fill(self.symbol, one.time, one.tie, spec)


class Version:
    __slots__ = (
        "_is_fresh", "_portions", "_posts", "_replaced", "_state", "_statements", "_told", "_undo",
        "arrivals", "fills", "since",
    )  # fmt: skip

    def __init__(self) -> None:
        self.fills: list[Fill] = []
        self.arrivals: dict[int, float] = {}
        """When it was said of each fill, also of an assumed one, at which time it happened."""
        self.since: dict[int, float] = {}
        """When each fill was first reported."""
        self._state = OrderState()
        self._told: list[Report] = []
        """What may say something of portions; read only where there are any."""
        self._statements: dict[int, Statement | None] = {}
        self._posts = 0
        self._portions: _Portions | None = None
        self._replaced: tuple[int, list[Fill]] = (0, [])
        """From which place on the last report replaced fills, and what was there before."""
        self._undo: Any = None
        self._is_fresh = True

    def copy(self) -> "Version":
        new = Version()
        new.fills, new.arrivals, new.since = [*self.fills], {**self.arrivals}, {**self.since}
        new._state = msgspec.structs.replace(self._state, changes={**self._state.changes})
        new._told, new._posts = [*self._told], self._posts
        return new

    def take(self, one: Report) -> Step:
        if self._is_plain(one) and (added := self._portion(one)) is not None:
            return added
        self._undo = (
            self._state, len(self._told), self._posts, self._portions, self.fills,
            self.arrivals, self.since,
        )  # fmt: skip
        self._state = _with(self._state, one)
        self._posts += one.kind in kinds.ORDERS
        if _may_tell(one):
            self._told.append(one)
        before, self.fills = self.fills, fills_of(self._state, self._said())
        self._portions, self._replaced = None, (0, before)
        self.arrivals, self.since = {**self.arrivals}, {**self.since}
        old, new = _touched(before, self.fills)
        since = self._reported(old)
        self._date(one, old, new)
        told = len(self._told) if len(self.fills) > 1 or len(before) > 1 else 0
        return Step(old, new, since, len(before), 1 + len(before) + len(self.fills) + told)

    def take_unseen(self, one: Report) -> None:
        """The same without a look at what it does; `refresh` makes the fills."""
        self._state, self._posts = _with(self._state, one), self._posts + (one.kind in kinds.ORDERS)
        self._told += [one] if _may_tell(one) else []
        self._portions, self._is_fresh = None, False

    def refresh(self) -> None:
        if not self._is_fresh:
            self.fills, self._is_fresh = fills_of(self._state, self._said()), True
            self.arrivals = {one.tie: self.arrivals.get(one.tie, one.time) for one in self.fills}

    def undo(self) -> None:
        """As it was before the last report."""
        if callable(self._undo):
            self._undo()
            return
        told = self._undo[1]
        (self._state, _, self._posts, self._portions, self.fills, self.arrivals,
         self.since) = self._undo  # fmt: skip
        del self._told[told:]

    def earlier(self, one: Report) -> "Version":
        """Another, as this one was before the last report, which is given."""
        if callable(self._undo):
            self._undo()
            found = self.copy()
            self.take(one)
            return found
        new = Version()
        new._state, told, new._posts, _, fills, arrivals, since = self._undo
        new._told = self._told[:told]
        new.fills, new.arrivals, new.since = [*fills], {**arrivals}, {**since}
        return new

    def before(self) -> list[Fill]:
        """All fills as they were before the last report."""
        first, rest = self._replaced
        return [*self.fills[:first], *rest]

    def _reported(self, old: list[Fill]) -> list[float]:
        return [min(one.time, self.since[one.tie]) for one in old if not one.spec.assumed]

    def _date(self, one: Report, old: list[Fill], new: list[Fill]) -> None:
        still = {fill.tie for fill in new}
        times = {fill.tie: fill.time for fill in old}
        for fill in old:
            if fill.tie not in still:
                self.arrivals.pop(fill.tie, None)
                self.since.pop(fill.tie, None)
        for fill in new:
            if times.get(fill.tie) != fill.time:
                self.arrivals[fill.tie] = one.received_at
            if fill.spec.assumed:
                self.since.pop(fill.tie, None)
            else:
                self.since.setdefault(fill.tie, one.received_at)

    def _said(self) -> list[Statement]:
        state, known = self._state, self._statements
        if FILLED_SIZE not in state.changes and (
            state.base is None or FILLED_SIZE not in state.base.body
        ):
            return []
        for one in self._told:
            if one.seq not in known:
                known[one.seq] = rises.statement(one.fields, one.time, one.seq)
        return [said for one in self._told if (said := known[one.seq]) is not None]

    def _portion(self, one: Report) -> Step | None:
        """None where it is more than one more statement after all others."""
        said = rises.statement(one.fields, one.time, one.seq)
        known = self._known_portions() if said is not None else None
        if said is None or known is None or (said.time, said.seq) < known.last:
            return None
        state, dates = self._state, (self.arrivals, self.since)
        filling = known.filling
        filling.take(said)
        places = sorted({*filling.touched, *range(filling.before, len(filling.rises))})
        old = [self.fills[place] for place in filling.touched]
        new = [known.fill(filling.rises[place]) for place in places if place < len(filling.rises)]
        self._state = _with(self._state, one)
        self._told.append(one)
        self._portions = known._replace(last=(said.time, said.seq))
        first = min(places, default=len(self.fills))
        tail = self.fills[first:]
        self._replaced = (first, tail)
        self.fills[first:] = [known.fill(rise) for rise in filling.rises[first:]]
        dated = [
            (name, fill.tie, which.get(fill.tie))
            for name, which in enumerate(dates)
            for fill in {*old, *new}
        ]
        since, cost = self._reported(old), 1 + len(filling.rises) - first + len(tail)
        self._date(one, old, new)

        def undo() -> None:
            filling.undo()
            self._state, self._portions = state, known
            self._told.pop()
            self.fills[first:] = tail
            for which, tie, at in dated:
                if at is None:
                    dates[which].pop(tie, None)
                else:
                    dates[which][tie] = at

        self._undo = undo
        return Step(old, new, since, filling.before, cost)

    def _is_plain(self, one: Report) -> bool:
        return (
            one.kind not in kinds.ORDERS
            and self._posts == 1
            and (FILLED_SIZE in one.fields or FILLED_SIZE in self._state.changes)
            and COUNTING.isdisjoint(one.fields.keys() - rises.WORDS)
        )

    def _known_portions(self) -> _Portions | None:
        if self._portions is None and self.fills:
            self._portions = self._found_portions()
        return self._portions

    def _found_portions(self) -> _Portions | None:
        state = self._state
        told = rises.in_order(state, self._said())
        if all(one.filled is None for one in told):
            return None
        filling = Filling()
        for one in told:
            filling.take(one)
        limit = Said(state).first(("price",), positive)
        last = max((one.time, one.seq) for one in told)
        fill = self.fills[0]
        return _Portions(filling, last, fill.spec, limit, fill.symbol)


def _with(state: OrderState, one: Report) -> OrderState:
    """As the books take it: see `tape.append.fold`."""
    new = msgspec.structs.replace(state, posts=[], changes={**state.changes})
    fields = {name: value for name, value in one.fields.items() if name in COUNTING}
    if one.kind in kinds.ORDERS:
        take_post(new, Part(one.time, one.seq, one.kind.name, fields, ""))
    else:
        take_update(new, fields, one.time, one.seq)
    return new


def _may_tell(one: Report) -> bool:
    """See `results.pnl.unbooked`."""
    return one.kind not in kinds.ORDERS or one.fields.get(FILLED_SIZE) is not None


def _touched(before: list[Fill], after: list[Fill]) -> tuple[list[Fill], list[Fill]]:
    if len(before) <= 1 and len(after) <= 1:  # as most are
        same = before == after
        return ([], []) if same else (before, after)
    old, new = {fill.tie: fill for fill in before}, {fill.tie: fill for fill in after}
    ties = [tie for tie in old.keys() | new.keys() if old.get(tie) != new.get(tie)]
    return [old[tie] for tie in ties if tie in old], [new[tie] for tie in ties if tie in new]
