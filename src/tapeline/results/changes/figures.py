"""Profit and loss twice: as first reported, and as it stands. No store here.

As first reported: the books of what arrived in time, without changes after the fact. Both figures
follow from the tape alone.
"""

from collections.abc import Iterable

import msgspec

from tapeline.results.changes.folding import Folded
from tapeline.results.pnl import summary
from tapeline.results.pnl.books import Book
from tapeline.results.pnl.summary import Source
from tapeline.results.rules.position import exact, number


class Figure(msgspec.Struct, kw_only=True):
    source: Source
    by_currency: dict[str, float]
    """Profit and loss; currencies are never added up."""


class Figures(msgspec.Struct, kw_only=True):
    currency: str | None
    """The one with the most fills, as it stands."""
    first: Figure
    """As first reported."""
    now: Figure
    """As it stands."""

    @property
    def is_same(self) -> bool:
        return self.first == self.now


def figures(folded: Folded, now: Iterable[Book], first: Iterable[Book], quote: str) -> Figures:
    """`quote`: the model's own currency."""
    own, computed = folded.own, _totals(now, quote)
    currency = max(sorted(computed), key=lambda name: computed[name][1], default=None)
    return Figures(
        currency=currency,
        now=_figure(own.source, own.now, computed, currency or quote),
        first=_figure(own.first_source, own.first, _totals(first, quote), currency or quote),
    )


def _figure(
    source: Source, own: float | None, computed: dict[str, tuple[float, int]], currency: str
) -> Figure:
    if source == "model":
        return Figure(source=source, by_currency={} if own is None else {currency: own})
    sums = {name: total for name, (total, _) in computed.items()}
    return Figure(source=source, by_currency={} if source == "off" else sums)


def _totals(books: Iterable[Book], quote: str) -> dict[str, tuple[float, int]]:
    """Total and number of fills, by currency."""
    with exact():
        named = summary.in_currencies(summary.sums_of(books, quote), quote)
        return {name: (number(one.total), one.fills) for name, one in named.items()}
