"""Puts all changes of a record together, and says what of it was there when first reported.

`Reports` takes the events of a record in the order of their arrival. Orders are folded apart, each
from all reports about it (`of_orders`), because most orders need no second look. No store here.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from tapeline.results.changes import of_account
from tapeline.results.changes.change import Change, Report
from tapeline.results.changes.of_account import CashHistory, OwnFigures
from tapeline.results.changes.of_orders import History
from tapeline.results.rules.fills import Fill
from tapeline.tape.events import kinds

Named = tuple[str | None, Fill]
"""An entry of the books, and the order that it is a fill of, if any."""


class ChangeCounts(msgspec.Struct, kw_only=True):
    orders: int = 0
    """Orders that were reported late, or changed after the fact."""
    withdrawn: int = 0
    """Orders whose assumed fill was taken out."""
    prices: int = 0
    cash: int = 0
    positions: int = 0
    own_figures: int = 0
    """How often the model changed its own figures of times that were past."""

    @property
    def total(self) -> int:
        return sum(msgspec.structs.astuple(self))


class Folded(NamedTuple):
    """What was changed after the fact, and how the books were before."""

    changes: list[Change]
    """In the order of their arrival."""
    orders: dict[str, History]
    """Orders that stand otherwise than they were first reported."""
    gone: list[Fill]
    """Other entries that were not there as first reported."""
    added: list[Fill]
    """Other entries that were, and are no more."""
    own: OwnFigures

    @property
    def is_changed(self) -> bool:
        """Whether the books can differ from what was first reported."""
        return bool(self.orders or self.gone or self.added)

    def first(self, now: Iterable[Named]) -> Iterator[Named]:
        """All entries as first reported, from all entries as they stand."""
        gone = {fill.tie for fill in self.gone}
        for order_id, fill in now:
            if order_id not in self.orders and (order_id is not None or fill.tie not in gone):
                yield order_id, fill
        for order_id, one in self.orders.items():
            for fill in one.first:
                yield order_id, fill
        for fill in self.added:
            yield None, fill

    def touched(self) -> Iterator[Fill]:
        """Every entry that is only in one of the two."""
        for one in self.orders.values():
            yield from (*one.now, *one.first)
        yield from (*self.gone, *self.added)

    def counts(self) -> ChangeCounts:
        orders = [one for one in self.changes if one.about == "order"]
        withdrawn = {one.id for one in orders if one.sort == "withdrawn"}
        many = Counter(one.about for one in self.changes)
        return ChangeCounts(
            orders=len({one.id for one in orders if one.sort != "withdrawn"}),
            withdrawn=len(withdrawn),
            prices=many["price"],
            cash=many["cash"],
            positions=many["position"],
            own_figures=many["own_figures"],
        )


class Reports:
    """Everything but orders, as it arrives."""

    def __init__(self, late_after: float) -> None:
        self._late_after = late_after
        self._late: list[Report] = []
        self._cash: dict[str, list[Report]] = {}
        self._own = OwnFigures(late_after)

    @property
    def weight(self) -> int:
        """How much it holds."""
        return len(self._late) + sum(map(len, self._cash.values())) + self._own.weight

    def take(self, one: Report) -> None:
        if one.kind in {kinds.SET_PNL, kinds.AUTO_PNL}:
            self._own.take(one)
        elif _has_id(one):
            self._cash.setdefault(one.fields["id"], []).append(one)
        elif one.received_at - one.time > self._late_after:
            self._late.append(one)

    def folded(self, orders: Mapping[str, History]) -> Folded:
        """`orders`: at least those that were changed, by id."""
        cash = [of_account.cash_history(some, self._late_after) for some in self._cash.values()]
        other = [one for one in cash if one.first != one.now]
        return Folded(
            sorted(self._changes(orders, cash), key=lambda one: one.seq),
            {name: one for name, one in orders.items() if one.first != one.now},
            [
                *(of_account.entry(one) for one in self._late if of_account.is_readable(one)),
                *(one.now for one in other),
            ],
            [one.first for one in other if one.first is not None],
            self._own,
        )

    def cash(self) -> Iterator[Fill]:
        """Cash with an id, as it counts now."""
        for some in self._cash.values():
            yield of_account.cash_history(some, self._late_after).now

    def _changes(
        self, orders: Mapping[str, History], cash: Iterable[CashHistory]
    ) -> Iterator[Change]:
        for order in orders.values():
            yield from order.changes
        for some in cash:
            yield from (one for one in some.changes if self._is_listed(one))
        yield from (one for late in self._late if (one := of_account.late(late)) is not None)
        yield from self._own.changes

    def _is_listed(self, one: Change) -> bool:
        return one.sort == "replaced" or one.late_by > self._late_after


def _has_id(one: Report) -> bool:
    is_cash = one.kind is kinds.CASH and of_account.is_readable(one)
    return is_cash and isinstance(one.fields.get("id"), str)
