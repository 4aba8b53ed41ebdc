"""Puts all changes of a record together, and says what of it was there when first reported.

`Reports` takes the events of a record in the order of their arrival. Orders are folded apart, each
from all reports about it (`of_orders`), because most orders need no second look. No store here.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from tapeline.results.changes import of_account
from tapeline.results.changes.change import Change, FieldChange, Report
from tapeline.results.changes.listing import ChangeCounts, Listing
from tapeline.results.changes.of_account import CashFold
from tapeline.results.changes.of_orders import History
from tapeline.results.changes.of_own_figures import OwnFigures
from tapeline.results.pnl import account, model_currency
from tapeline.results.pnl.account import Settings
from tapeline.results.pnl.books import Name, name_of
from tapeline.results.rules.fills import Fill
from tapeline.results.rules.symbols import currency_of
from tapeline.tape.events import kinds

Named = tuple[str | None, Fill]
"""An entry of the books, and the order that it is a fill of, if any."""
OWN = frozenset({kinds.SET_PNL, kinds.AUTO_PNL})
ASSETS = 1_000  # currencies of backtests that are listed, the newest


class Standing(NamedTuple):
    """An order that stands otherwise than it was first reported."""

    first: Sequence[Fill]
    books: frozenset[Name]
    """Where it counts now, or did when it was first reported."""
    seq: int
    """The last event that changed it, and its arrival."""
    received_at: float

    @classmethod
    def of(cls, found: History) -> "Standing | None":
        if found.first == found.now:
            return None
        last = found.changes[-1]
        books = _shared(frozenset(map(name_of, (*found.first, *found.now))))
        return cls(tuple(found.first), books, last.seq, last.received_at)


@lru_cache(maxsize=10_000)
def _shared(books: frozenset[Name]) -> frozenset[Name]:
    """One for all orders of the same books, because there are many."""
    return books


class Asset(NamedTuple):
    """The currency of a backtest that arrived after something counted."""

    seq: int
    received_at: float
    asset: str


class Start(NamedTuple):
    """How a record was counted when it began."""

    at: float | None
    """When the first order, position or cash entry arrived."""
    until: int
    """The last event that arrived soon enough to belong to the beginning."""
    asset: str
    """The currency of the newest backtest then; empty if there was none."""
    account: Settings
    """How positions were kept, and the capital. A tape that did not say it has signed ones."""
    late_after: float


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
    start: Start
    assets: list[Asset]
    """Currencies of backtests since then, where they differ from the one before."""
    bare: int | None
    """The event that first declared a position of a bare ticker."""

    def with_changes(self, more: list[Change]) -> "Folded":
        """With changes that show only when all books are known."""
        if not more:
            return self
        changes = sorted([*self.changes, *more], key=lambda one: one.seq)
        many = Counter(one.about for one in more)
        counts = msgspec.structs.replace(
            self.counts,
            account=self.counts.account + many["account"],
            symbols=self.counts.symbols + many["symbol"],
        )
        return self._replace(changes=changes, counts=counts)

    @property
    def is_changed(self) -> bool:
        """Whether the books can differ from what was first reported."""
        return bool(self.orders or self.gone or self.added)

    def first(self, now: Iterable[Named]) -> Iterator[Named]:
        """All entries as first reported, from all entries as they stand."""
        yield from self.unchanged(now)
        yield from self.only_first()

    def unchanged(self, now: Iterable[Named]) -> Iterator[Named]:
        for order_id, fill in now:
            if order_id not in self.orders and (order_id is not None or fill.tie not in self.gone):
                yield order_id, fill

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
        self._until = 0
        self._first_asset = self._asset = ""
        self._first_account = Settings("signed")
        self._settings: dict[str, Any] = {"positions": "signed"}
        self._assets: list[Asset] = []
        self._bare: int | None = None
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

    @property
    def is_begun(self) -> bool:
        return self._begun is not None

    def begin(self, received_at: float) -> None:
        """An order, a position or cash arrived. Only the first counts."""
        self._begun = received_at if self._begun is None else self._begun

    def arrive(self, seq: int, received_at: float) -> None:
        """An event about an order, which may be a fill."""
        if self._is_beginning(received_at):
            self._until = max(seq, self._until)

    def take(self, one: Report) -> None:
        if one.kind in OWN:
            self.listing.add(self.own.take(one, self._begun))
        elif one.kind is kinds.ACCOUNT_SETTINGS:
            self._take_settings(one)
        elif one.kind is kinds.BACKTEST_RESULT:
            self._take_asset(one)
        else:
            self._take_entry(one)

    def _take_entry(self, one: Report) -> None:
        if one.kind is not kinds.MARK_PRICE:
            self.begin(one.received_at)
            self._note_bare(one)
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
            Start(
                self._begun, self._until, self._first_asset, self._first_account, self._late_after
            ),
            self._assets[-ASSETS:],
            self._bare,
        )

    def cash(self) -> Iterator[Fill]:
        """Cash with an id, as it counts now."""
        return (one.now for one in self._cash.values())

    def _note_bare(self, one: Report) -> None:
        is_position = one.kind is kinds.POSITION and of_account.is_readable(one)
        if self._bare is None and is_position and not currency_of(one.fields["symbol"]):
            self._bare = one.seq
        self.arrive(one.seq, one.received_at)

    def _is_beginning(self, received_at: float) -> bool:
        return self._begun is None or received_at - self._begun <= self._late_after

    def _take_settings(self, one: Report) -> None:
        """A capital that was not said before has no value before."""
        before, said = self._settings, {**self._settings, **one.fields}
        self._settings = said
        if self._begun is None or self._is_beginning(one.received_at):
            self._first_account = account.from_words(said)
            return
        fields = [
            FieldChange(name, _shown(before.get(name)), _shown(said.get(name)))
            for name in ("positions", "capital")
            if before.get(name) != said.get(name)
        ]
        if fields:
            self.listing.add([_settings_change(one, self._begun, fields)])

    def _take_asset(self, one: Report) -> None:
        asset = model_currency.asset_in(one.fields)
        if self._is_beginning(one.received_at):
            self._first_asset = asset
        elif asset != self._asset:
            self._assets.append(Asset(one.seq, one.received_at, asset))
        self._asset = asset

    def _replace(self, one: Report, *, is_late: bool) -> None:
        fill = of_account.entry(one)
        self._gone.add(fill.tie)
        self._books.add(name_of(fill))
        if one.kind is kinds.MARK_PRICE:
            self._rates.add(fill.symbol)
        if not is_late:
            self._added.append(of_account.in_time(fill, one, self._late_after))


def _settings_change(one: Report, begun: float, fields: list[FieldChange]) -> Change:
    return Change(
        seq=one.seq,
        received_at=one.received_at,
        about="account",
        sort="changed",
        time=begun,
        late_by=one.received_at - begun,
        fields=fields,
    )


def _shown(value: Any) -> str | float | None:
    """A capital as an amount with its currency."""
    if isinstance(value, dict):
        return f"{value.get('amount'):,} {value.get('currency')}"
    return value if isinstance(value, str) else None


def _has_id(one: Report) -> bool:
    is_cash = one.kind is kinds.CASH and of_account.is_readable(one)
    return is_cash and isinstance(one.fields.get("id"), str)
