"""The newest changes of a record, and counts of all of them, in bounded memory. No store here."""

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from tapeline.results.changes.change import APART, Change

LISTED = 10_000
"""Changes that are listed, the newest; all are counted."""


class ChangeCounts(msgspec.Struct, kw_only=True):
    orders: int = 0
    """Orders that were reported late, or changed after the fact."""
    withdrawn: int = 0
    """Orders whose assumed fill was taken out."""
    prices: int = 0
    cash: int = 0
    positions: int = 0
    own_figures: int = 0
    """How often the model changed its own figures of the past, or whose figures count."""
    account: int = 0
    """How often the currency, the capital or the way positions are kept was changed."""
    symbols: int = 0
    """Symbols that were computed, and then could not be any more."""
    early: int = 0
    """Reports that were dated into the future."""

    @property
    def total(self) -> int:
        return sum(msgspec.structs.astuple(self))


class Listing:
    """Takes changes in any order."""

    def __init__(self, most: int = LISTED) -> None:
        self._most = most
        self._newest: list[_Placed] = []
        self._all = 0
        self._counts: Counter[str] = Counter()
        self._late: set[str | None] = set()
        self._withdrawn: set[str | None] = set()

    @property
    def weight(self) -> int:
        return len(self._newest) + len(self._late) + len(self._withdrawn)

    def add(self, some: Iterable[Change]) -> None:
        for one in some:
            self._count(one)
            self._all += 1
            placed = _Placed(one.seq, self._all, one)
            if len(self._newest) < self._most:
                heapq.heappush(self._newest, placed)
            else:
                heapq.heappushpop(self._newest, placed)

    def is_full_of_newer(self, seq: int) -> bool:
        """Whether a change by this event would only be counted."""
        return len(self._newest) == self._most and seq < self._newest[0].seq

    @property
    def newest(self) -> list[Change]:
        """In the order of their arrival."""
        return [placed.change for placed in sorted(self._newest)]

    @property
    def unlisted(self) -> int:
        """How many older ones there are."""
        return self._all - len(self._newest)

    def counts(self) -> ChangeCounts:
        many = self._counts
        return ChangeCounts(
            orders=len(self._late),
            withdrawn=len(self._withdrawn),
            prices=many["price"],
            cash=many["cash"],
            positions=many["position"],
            own_figures=many["own_figures"],
            account=many["account"],
            symbols=many["symbol"],
            early=many["early"],
        )

    def _count(self, one: Change) -> None:
        if one.sort == "early":
            self._counts["early"] += 1
        elif one.about != "order":
            self._counts[one.about] += 1
        elif one.sort not in APART:
            self._late.add(one.id)
        else:
            self._withdrawn.add(one.id)


class _Placed(NamedTuple):
    seq: int
    number: int
    change: Change


def paged(
    every: Sequence[Change], before: int | None, limit: int
) -> tuple[list[Change], str | None]:
    """Newest first, and where to go on. What one event changed stays together, because a page goes
    on at an event."""
    some = [one for one in reversed(every) if before is None or one.seq < before]
    end = limit
    while 0 < end < len(some) and some[end].seq == some[end - 1].seq:
        end += 1
    return some[:end], str(some[end - 1].seq) if end < len(some) else None
