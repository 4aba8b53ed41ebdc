"""Puts all changes of a record together, and says what of it was there when first reported.

`Reports` takes the events of a record in the order of their arrival. Orders are folded apart, each
from all reports about it (`of_orders`), because most orders need no second look. No store here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tapeline.results.changes import of_account
from tapeline.results.changes.change import Change, Report
from tapeline.results.changes.listing import ChangeCounts, Listing
from tapeline.results.changes.of_account import CashFold
from tapeline.results.changes.of_orders import History
from tapeline.results.changes.of_own_figures import OwnFigures
from tapeline.results.pnl.books import Name, name_of
from tapeline.results.rules.fills import Fill
from tapeline.tape.events import kinds

Named = tuple[str | None, Fill]
"""An entry of the books, and the order that it is a fill of, if any."""
OWN = frozenset({kinds.SET_PNL, kinds.AUTO_PNL})


class Standing(NamedTuple):
    """An order that stands otherwise than it was first reported."""

    first: Sequence[Fill]
    books: frozenset[Name]
    """Where it counts now, or did when it was first reported."""

    @classmethod
    def of(cls, found: History) -> "Standing | None":
        if found.first == found.now:
            return None
        return cls(tuple(found.first), frozenset(map(name_of, (*found.first, *found.now))))


class Folded(NamedTuple):
    """What was changed after the fact, and how the books were before."""

    changes: list[Change]
    """The newest, in the order of their arrival."""
    unlisted: int
    """How many older ones there are."""
    counts: ChangeCounts
    orders: Mapping[str, Standing]
    """Orders that stand otherwise than they were first reported."""
    gone: frozenset[int]
    """The numbers of other entries that were not there as first reported."""
    added: list[Fill]
    """Other entries that were, and are no more."""
    books: frozenset[Name]
    """Where those entries count."""
    rates: frozenset[str]
    """Symbols of prices among them, which may convert fees."""
    own: OwnFigures

    @property
    def is_changed(self) -> bool:
        """Whether the books can differ from what was first reported."""
        return bool(self.orders or self.gone or self.added)

    def first(self, now: Iterable[Named]) -> Iterator[Named]:
        """All entries as first reported, from all entries as they stand."""
        for order_id, fill in now:
            if order_id not in self.orders and (order_id is not None or fill.tie not in self.gone):
                yield order_id, fill
        yield from self.only_first()

    def only_first(self) -> Iterator[Named]:
        """Entries that stand otherwise now, or nowhere."""
        for order_id, one in self.orders.items():
            for fill in one.first:
                yield order_id, fill
        for fill in self.added:
            yield None, fill

    def touched(self) -> set[Name]:
        """Every book with an entry that is only in one of the two."""
        return {*self.books, *(name for one in self.orders.values() for name in one.books)}


class Reports:
    """Everything but orders, as it arrives."""

    def __init__(self, late_after: float) -> None:
        self.listing = Listing()
        """Of all changes, those of orders too."""
        self.own = OwnFigures(late_after)
        self._late_after = late_after
        self._begun: float | None = None
        self._cash: dict[str, CashFold] = {}
        self._gone: set[int] = set()
        self._added: list[Fill] = []
        self._books: set[Name] = set()
        self._rates: set[str] = set()

    @property
    def weight(self) -> int:
        """How much it holds."""
        held = len(self._gone) + len(self._added) + len(self._cash)
        return held + self.own.weight + self.listing.weight

    def begin(self, received_at: float) -> None:
        """An order, a position or cash arrived: from now on something counts."""
        self._begun = received_at if self._begun is None else min(received_at, self._begun)

    def take(self, one: Report) -> None:
        if one.kind in OWN:
            self.listing.add(self.own.take(one, self._begun))
            return
        if one.kind is not kinds.MARK_PRICE:
            self.begin(one.received_at)
        if _has_id(one):
            known = self._cash.setdefault(one.fields["id"], CashFold(self._late_after))
            self.listing.add(known.take(one))
            return
        found = of_account.out_of_time(one, self._late_after)
        if found is not None:
            self.listing.add([found])
            if of_account.is_readable(one):
                self._replace(one, is_late=found.sort == "late")

    def folded(self, orders: Mapping[str, Standing]) -> Folded:
        """`orders`: those that stand otherwise than first reported, by id."""
        cash = [one for one in self._cash.values() if one.first != one.now]
        replaced = [one.now for one in cash]
        added = [*self._added, *(one.first for one in cash if one.first is not None)]
        return Folded(
            self.listing.newest,
            self.listing.unlisted,
            self.listing.counts(),
            orders,
            frozenset(self._gone.union(fill.tie for fill in replaced)),
            added,
            frozenset(self._books.union(map(name_of, (*replaced, *added)))),
            frozenset(self._rates),
            self.own,
        )

    def cash(self) -> Iterator[Fill]:
        """Cash with an id, as it counts now."""
        return (one.now for one in self._cash.values())

    def _replace(self, one: Report, *, is_late: bool) -> None:
        fill = of_account.entry(one)
        self._gone.add(fill.tie)
        self._books.add(name_of(fill))
        if one.kind is kinds.MARK_PRICE:
            self._rates.add(fill.symbol)
        if not is_late:
            self._added.append(of_account.in_time(fill, one, self._late_after))


def _has_id(one: Report) -> bool:
    is_cash = one.kind is kinds.CASH and of_account.is_readable(one)
    return is_cash and isinstance(one.fields.get("id"), str)
