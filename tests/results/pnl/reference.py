"""Profit and loss once more, slowly: from the raw events, in fractions, by the rules as written.

It shares nothing with the product but the rules, so that the two can be held against each other.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Said = tuple[float, int, str, dict[str, Any]]
"""Time, arrival, kind, body."""

PRICES = ("executionPrice", "executed_price", "filled_avg_price")
TIMES = ("executionTime", "executed_time")
FEES = ("fee", "fees")
OUT = ("canceled", "rejected", "expired")
DUST = Fraction(1, 10**9)


@dataclass
class Symbol:
    size: Fraction = Fraction(0)
    cost: Fraction = Fraction(0)
    realized: Fraction = Fraction(0)
    fees: Fraction = Fraction(0)
    price: Fraction | None = None
    fills: int = 0
    estimated: set[str] = field(default_factory=set)
    assumed: set[str] = field(default_factory=set)
    oversold: set[str] = field(default_factory=set)
    unpriced: set[str] = field(default_factory=set)
    realized_by: dict[str, Fraction] = field(default_factory=dict)
    values: list[tuple[float, Fraction]] = field(default_factory=list)

    @property
    def unrealized(self) -> Fraction:
        return Fraction(0) if self.price is None else self.size * self.price - self.cost


def exact(number: float) -> Fraction:
    return Fraction(repr(float(number)))


def reckoned(said: list[Said]) -> dict[str, Symbol]:
    entries: list[tuple[float, int, str, dict[str, Any]]] = []
    by_order: dict[str, list[Said]] = {}
    for one in said:
        if one[2] == "mark-price":
            entries.append((one[0], one[1], one[3]["symbol"], one[3]))
        else:
            by_order.setdefault(one[3]["id"], []).append(one)
    for parts in by_order.values():
        entry = _order(parts)
        if entry is not None:
            entries.append(entry)
    symbols: dict[str, Symbol] = {}
    for time, _, symbol, what in sorted(entries, key=lambda one: one[:2]):
        position = symbols.setdefault(symbol, Symbol())
        if "id" in what:
            _fill(position, what)
        else:
            position.price = exact(what["price"])
        position.values.append((time, position.realized + position.unrealized))
    return symbols


def _order(parts: list[Said]) -> tuple[float, int, str, dict[str, Any]] | None:
    posts: list[Said] = []
    for part in (one for one in parts if one[2].startswith("spot-")):
        if not any((part[2], part[3]) == (known[2], known[3]) for known in posts):
            posts.append(part)
    if not posts:
        return None
    base = min(posts, key=lambda one: one[:2])
    others = [one for one in parts if one[2] in ("update-trade", "update-annotation")]
    others += [one for one in posts if one is not base]
    newest: dict[str, tuple[tuple[float, int], Any]] = {
        key: ((-1.0, 0), value) for key, value in base[3].items()
    }
    for time, seq, _, body in sorted(others, key=lambda one: one[:2]):
        for key, value in body.items():
            newest[key] = ((time, seq), value)

    def word(names: tuple[str, ...]) -> Any:
        found = [newest[name] for name in names if newest.get(name, (0, None))[1] is not None]
        return max(found, key=lambda one: one[0])[1] if found else None

    filled, status = word(("filled_size",)), word(("status",))
    if filled == 0 or (filled is None and status in OUT):
        return None
    execution, moment = word(PRICES), word(TIMES)
    limited = base[2] != "spot-market"
    sure = execution is not None or moment is not None or filled is not None or status == "filled"
    what = {
        "id": base[3]["id"],
        "side": word(("side",)),
        "price": execution if execution is not None else word(("price",)),
        "size": filled if filled is not None else word(("size",)),
        "funds": word(("funds",)),
        "fee": word(FEES) or 0,
        "assumed": limited and not sure,
    }
    time = base[0] if moment is None else moment
    return time, min(one[1] for one in posts), word(("symbol",)), what


def _fill(position: Symbol, what: dict[str, Any]) -> None:
    price = position.price if what["price"] is None else exact(what["price"])
    if price is None:
        position.unpriced.add(what["id"])
        return
    size = exact(what["size"]) if what["size"] is not None else exact(what["funds"]) / price
    fee = exact(what["fee"])
    position.fills += 1
    position.fees += fee
    position.price = price
    if what["price"] is None:
        position.estimated.add(what["id"])
    if what["assumed"]:
        position.assumed.add(what["id"])
    gained = -fee
    if what["side"] == "buy":
        position.size += size
        position.cost += size * price
    else:
        closed = min(size, position.size)
        out = position.cost * closed / position.size if position.size else Fraction(0)
        gained += closed * price - out
        position.size -= closed
        position.cost -= out
        if size - closed > size * DUST:
            position.oversold.add(what["id"])
    position.realized += gained
    position.realized_by[what["id"]] = gained
