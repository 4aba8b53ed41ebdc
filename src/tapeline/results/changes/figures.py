"""Profit and loss twice: as first reported, and as it stands. No store here.

As first reported: the books of what arrived in time, without changes after the fact. Both figures
follow from the tape alone.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from tapeline.results.changes import of_basis
from tapeline.results.changes.folding import Folded, Named
from tapeline.results.changes.of_basis import Basis, Tape
from tapeline.results.pnl import summary
from tapeline.results.pnl.all_books import computed
from tapeline.results.pnl.books import Book, Name, name_of
from tapeline.results.pnl.summary import Source, reason_of
from tapeline.results.rules.fills import marks_of
from tapeline.results.rules.position import exact, number
from tapeline.results.rules.rates import Marks


class Figure(msgspec.Struct, kw_only=True):
    source: Source
    by_currency: dict[str, float]
    """Profit and loss; currencies are never added up."""


class Figures(msgspec.Struct, kw_only=True):
    currency: str | None
    """The one with the most fills, as it stands."""
    first_currency: str | None
    """The same as first reported."""
    first: Figure
    """As first reported."""
    now: Figure
    """As it stands."""

    @property
    def is_same(self) -> bool:
        return self.first == self.now


def figures(
    folded: Folded, now: Iterable[Book], first: Iterable[Book], found: Basis, quote: str
) -> Figures:
    """`quote`: the model's own currency as it stands; `found` has the one as first reported."""
    own, totals = folded.own, _totals(now, quote)
    currency = max(sorted(totals), key=lambda name: totals[name][1], default=None)
    return Figures(
        currency=currency,
        first_currency=found.main,
        now=_figure(own.source, own.now, totals, currency or quote),
        first=_figure(
            own.first_source, own.first, _totals(first, found.quote), found.main or found.quote
        ),
    )


def _figure(
    source: Source, own: float | None, totals: dict[str, tuple[float, int]], currency: str
) -> Figure:
    if source == "model":
        return Figure(source=source, by_currency={} if own is None else {currency: own})
    sums = {name: total for name, (total, _) in totals.items()}
    return Figure(source=source, by_currency={} if source == "off" else sums)


def _totals(books: Iterable[Book], quote: str) -> dict[str, tuple[float, int]]:
    """Total and number of fills, by currency."""
    with exact():
        named = summary.in_currencies(summary.sums_of(books, quote), quote)
        return {name: (number(one.total), one.fills) for name, one in named.items()}


Cuts = Mapping[Name, int]
"""Of books that could not be computed any more: the number of the first entry that does not count
in them as first reported."""


class Assessed(NamedTuple):
    folded: Folded
    figures: Figures


class Standing(NamedTuple):
    """A record as it stands."""

    books: Sequence[Book]
    quote: str
    """The model's own currency."""
    entries: Callable[[Sequence[Book]], tuple[Mapping[Name, Sequence[Named]], Marks]]
    """Of some books, with the rates of their fees."""
    first: Callable[[Cuts], Iterable[Book]]
    """All books as first reported."""
    long_only: bool
    """How positions are kept."""


def assessed(folded: Folded, now: Standing, tape: Tape) -> Assessed:
    basis = of_basis.basis(folded, now.books, now.quote, tape)
    quotes = (basis.quote, now.quote)
    broken = [one for one in now.books if any(reason_of(one, quote) for quote in quotes)]
    changes, cuts = list(basis.changes), {}
    if broken:
        entries, rates = now.entries(broken)
        out = of_basis.left_out(folded, broken, entries, rates, quotes, tape)
        changes, cuts = [*changes, *out.changes], out.cuts
    is_kept_so = now.long_only == folded.start.account.long_only
    is_same = is_kept_so and not folded.is_changed and not cuts
    first = now.books if is_same else now.first(cuts)
    found = figures(folded, now.books, first, basis, now.quote)
    return Assessed(folded.with_changes(changes), found)


def until_cut(some: Iterable[Named], cuts: Cuts) -> list[Named]:
    return [one for one in some if one[1].tie < cuts.get(name_of(one[1]), one[1].tie + 1)]


def in_memory(
    folded: Folded, entries: Sequence[Named], books: Sequence[Book], quote: str, *, long_only: bool
) -> Standing:
    """Where all entries are known."""

    def of(some: Sequence[Book]) -> tuple[Mapping[Name, Sequence[Named]], Marks]:
        found: dict[Name, list[Named]] = {one.name: [] for one in some}
        for one in entries:
            if (name := name_of(one[1])) in found:
                found[name].append(one)
        return found, marks_of(fill for _, fill in entries)

    def first(cuts: Cuts) -> Iterable[Book]:
        was_long_only = folded.start.account.long_only
        return computed(until_cut(folded.first(entries), cuts), long_only=was_long_only).books

    return Standing(books, quote, of, first, long_only)


class TapeInMemory:
    def __init__(self, entries: Sequence[Named], arrival: Callable[[int], float]) -> None:
        self._fills = sorted(
            (fill.tie, name_of(fill)[2]) for order_id, fill in entries if order_id is not None
        )
        self._arrival = arrival

    def arrival(self, seq: int) -> float:
        return self._arrival(seq)

    def traded(self, until: int) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for tie, currency in self._fills:
            if tie <= until:
                found[currency] = found.get(currency, 0) + 1
        return found

    def first_in(self, currency: str, after: int) -> int | None:
        return next((tie for tie, name in self._fills if tie > after and name == currency), None)
