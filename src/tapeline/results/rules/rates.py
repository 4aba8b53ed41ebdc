"""Rates between currencies: a mark of their pair that was reported, never one of our own."""

from bisect import bisect_left
from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

import msgspec

from tapeline.results.rules.symbols import of_rates, pair

Key = tuple[float, int]
"""When it counts: its time, ties by arrival."""


class Rate(msgspec.Struct, array_like=True, frozen=True):
    symbol: str
    price: Decimal
    time: float
    source: str | None = None
    """The exchange that the platform has it from, or `bars`; None for one that a model reported."""

    def converted(self, amount: Decimal, currency: str) -> Decimal:
        """An amount of one currency of the pair, in the other one."""
        return amount * self.price if pair(self.symbol)[0] == currency else amount / self.price


class Found(NamedTuple):
    key: Key
    rate: Rate


class Marks:
    """Marks of some symbols, in memory."""

    def __init__(self, marks: Iterable[tuple[str, Key, Decimal]]) -> None:
        self._by_symbol: dict[str, list[tuple[Key, Decimal]]] = {}
        for symbol, key, price in sorted(marks):
            self._by_symbol.setdefault(symbol, []).append((key, price))

    def newest(self, symbol: str, before: Key) -> Found | None:
        known = self._by_symbol.get(symbol, [])
        at = bisect_left(known, before, key=lambda one: one[0])
        if not at:
            return None
        key, price = known[at - 1]
        return Found(key, Rate(symbol, price, key[0]))

    def at(self, currency: str, quote: str, before: Key) -> Rate | None:
        """The newest rate between two currencies before an entry."""
        return newest(self.newest(symbol, before) for symbol in of_rates(currency, quote))


def newest(some: Iterable[Found | None]) -> Rate | None:
    known = [one for one in some if one is not None]
    return max(known, key=lambda one: one.key).rate if known else None
