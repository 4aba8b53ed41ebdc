"""Profit and loss once more, slowly: from the raw events, in fractions, by the rules as written.

It shares nothing with the product but the rules, so that the two can be held against each other.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Said = tuple[float, int, str, dict[str, Any]]
"""Time, arrival, kind, body."""
Line = tuple[float, int, str, dict[str, Any]]
"""Time, tie, symbol, what happens there."""

PRICES = ("executionPrice", "executed_price", "filled_avg_price")
TIMES = ("executionTime", "executed_time")
FEES = ("fee", "fees")
OUT = ("canceled", "rejected", "expired")
FLOWS = ("deposit", "withdrawal")
DUST = Fraction(1, 10**9)
NOTHING = Fraction(0)


@dataclass
class Symbol:
    size: Fraction = NOTHING
    cost: Fraction = NOTHING
    """What the position cost; of a short one, what was received for it, as a negative number."""
    realized: Fraction = NOTHING
    fees: Fraction = NOTHING
    price: Fraction | None = None
    fills: int = 0
    multiplier: Fraction | None = None
    broken: bool = False
    opened: bool = False
    checks: list[tuple[Fraction, Fraction]] = field(default_factory=list)
    estimated: set[str] = field(default_factory=set)
    assumed: set[str] = field(default_factory=set)
    oversold: set[str] = field(default_factory=set)
    unpriced: set[str] = field(default_factory=set)
    realized_by: dict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    values: list[tuple[float, Fraction]] = field(default_factory=list)

    @property
    def times(self) -> Fraction:
        return Fraction(1) if self.multiplier is None else self.multiplier

    @property
    def unrealized(self) -> Fraction:
        if self.price is None:
            return NOTHING
        return (self.size * self.price - self.cost) * self.times


@dataclass
class Cash:
    """Money that is no order, of one currency."""

    by_type: dict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    earned: list[tuple[float, Fraction]] = field(default_factory=list)
    flows: list[tuple[float, Fraction]] = field(default_factory=list)


def exact(number: float) -> Fraction:
    return Fraction(repr(float(number)))


def reckoned(said: list[Said], *, long_only: bool = False) -> dict[str, Symbol]:
    lines: list[Line] = []
    by_order: dict[str, list[Said]] = {}
    for one in said:
        if one[2] in ("mark-price", "position"):
            lines.append((one[0], one[1], one[3]["symbol"], one[3]))
        elif one[2] != "cash":
            by_order.setdefault(one[3]["id"], []).append(one)
    for parts in by_order.values():
        lines += _order(parts)
    symbols: dict[str, Symbol] = {}
    marks: dict[str, Fraction] = {}  # the newest stands last
    for time, _, symbol, what in sorted(lines, key=lambda one: one[:2]):
        position = symbols.setdefault(symbol, Symbol())
        if "id" in what:
            _convert(position, what, symbol, marks)
            _fill(position, what, long_only=long_only)
        elif "size" in what:
            _declare(position, what)
        else:
            position.price = exact(what["price"])
            marks.pop(symbol, None)
            marks[symbol] = position.price
        position.values.append((time, position.realized + position.unrealized))
    return symbols


def reckoned_cash(said: list[Said], own: str = "USD") -> dict[str, Cash]:
    """By currency. Of one id the newest by time counts; word for word the same is a retry."""
    single = [one for one in said if one[2] == "cash" and "id" not in one[3]]
    by_id: dict[str, list[Said]] = {}
    for one in sorted((one for one in said if one[2] == "cash"), key=lambda one: one[1]):
        if "id" in one[3]:
            known = by_id.setdefault(one[3]["id"], [])
            if all(one[3] != other[3] for other in known):
                known.append(one)
    single += [max(some, key=lambda one: one[:2]) for some in by_id.values()]
    found: dict[str, Cash] = {}
    for time, _, _, body in sorted(single, key=lambda one: one[:2]):
        currency = body.get("currency") or body.get("symbol", "").partition("-")[2] or own
        cash, amount = found.setdefault(currency, Cash()), exact(body["amount"])
        cash.by_type[body["type"]] += amount
        (cash.flows if body["type"] in FLOWS else cash.earned).append((time, amount))
    return found


def _order(parts: list[Said]) -> list[Line]:
    posts: list[Said] = []
    for part in (one for one in parts if one[2].startswith("spot-")):
        if not any((part[2], part[3]) == (known[2], known[3]) for known in posts):
            posts.append(part)
    if not posts:
        return []
    base = min(posts, key=lambda one: one[:2])
    others = [one for one in parts if one[2] in ("update-trade", "update-annotation")]
    others += [one for one in posts if one is not base]
    others.sort(key=lambda one: one[:2])
    newest: dict[str, tuple[tuple[float, int], Any]] = {
        key: ((-1.0, 0), value) for key, value in base[3].items()
    }
    for time, seq, _, body in others:
        for key, value in body.items():
            newest[key] = ((time, seq), value)

    def word(names: tuple[str, ...]) -> Any:
        found = [newest[name] for name in names if newest.get(name, (0, None))[1] is not None]
        return max(found, key=lambda one: one[0])[1] if found else None

    common = {
        "id": base[3]["id"],
        "side": word(("side",)),
        "multiplier": word(("multiplier",)),
        "inverse": word(("inverse",)),
        "paid_in": word(("fee_currency",)),
        "assumed": False,
    }
    status, size = word(("status",)), word(("size",))
    totals = ["filled" if _is_all(one) else one[3].get("filled_size") for one in (base, *others)]
    told = [one for one in totals if one is not None]
    all_of_funds = status == "filled" and size is None and set(told[:-1]) <= {0, "filled"}
    if any(one[3].get("filled_size") is not None for one in (base, *others)) and not (
        all_of_funds and told[-1] == "filled"
    ):
        all_of_it = _known(size) if status == "filled" else None
        return [
            (time, tie, word(("symbol",)), {**common, **what})
            for time, tie, what in _portions([base, *others], word(("price",)), all_of_it)
        ]
    if status in OUT:
        return []
    execution, moment = word(PRICES), word(TIMES)
    sure = execution is not None or moment is not None or status == "filled"
    whole = common | {
        "price": exact(execution) if execution is not None else _known(word(("price",))),
        "size": _known(size),
        "funds": word(("funds",)),
        "fee": exact(word(FEES) or 0),
        "assumed": base[2] != "spot-market" and not sure,
    }
    time = base[0] if moment is None else moment
    return [(time, min(one[1] for one in posts), word(("symbol",)), whole)]


def _is_all(one: Said) -> bool:
    return one[3].get("status") == "filled" and one[3].get("filled_size") is None


def _known(number: float | None) -> Fraction | None:
    return None if number is None else exact(number)


def _filled(one: Said, so_far: Fraction, all_of_it: Fraction | None) -> Fraction | None:
    """In all; the status alone says that it is all of the order."""
    if _is_all(one) and all_of_it is not None:
        return max(all_of_it, so_far)
    return _known(one[3].get("filled_size"))


def _portions(  # noqa: C901 - the rules one after the other, as they are written
    said: list[Said], limit: float | None, all_of_it: Fraction | None
) -> list[tuple[float, int, dict[str, Any]]]:
    """Each rise of what is filled in all. What is told alone is about the portion before it."""
    portions: list[dict[str, Any]] = []
    early: dict[str, Any] = {"time": None, "price": None, "fee": NOTHING}
    last_price: Fraction | None = None
    paid = NOTHING
    for time, seq, kind, body in said:
        so_far = sum((one["size"] for one in portions), NOTHING)
        filled = _filled((time, seq, kind, body), so_far, all_of_it)
        if filled is not None:
            more = filled - so_far
            if more > 0:
                portions.append(
                    {
                        "time": time if early["time"] is None else early["time"],
                        "tie": seq,
                        "size": more,
                        "price": early["price"] if not portions else last_price,
                        "fee": early["fee"],
                    }
                )
                early = {"time": None, "price": None, "fee": NOTHING}
            while more < 0:
                cut = min(-more, portions[-1]["size"])
                portions[-1]["size"] -= cut
                more += cut
                if not portions[-1]["size"]:
                    gone = portions.pop()
                    (portions[-1] if portions else early)["fee"] += gone["fee"]
        current = portions[-1] if portions else early
        for name in reversed(TIMES):
            if body.get(name) is not None:
                current["time"] = body[name]
        own = next((body[name] for name in PRICES[:2] if body.get(name) is not None), None)
        average = body.get("filled_avg_price")
        if own is not None:
            last_price = current["price"] = exact(own)
        elif average is not None:
            last_price = exact(average)
            if portions:
                _spread(portions, exact(average))
            else:
                early["price"] = exact(average)
        fee = next((body[name] for name in FEES if body.get(name) is not None), None)
        if fee is not None:
            current["fee"] += exact(fee) - paid
            paid = exact(fee)
    return [
        (
            one["time"],
            one["tie"],
            {
                "size": one["size"],
                "price": one["price"] if one["price"] is not None else _known(limit),
                "fee": one["fee"],
            },
        )
        for one in portions
    ]


def _spread(portions: list[dict[str, Any]], average: Fraction) -> None:
    """The last portion makes the average true; if it cannot, all of them cost the average."""
    *earlier, last = portions
    if all(one["price"] is not None for one in earlier):
        worth = sum((one["size"] * one["price"] for one in earlier), NOTHING)
        total = sum((one["size"] for one in portions), NOTHING)
        price = (average * total - worth) / last["size"]
        if price > 0:
            last["price"] = price
            return
    for one in portions:
        one["price"] = average


def _contract(position: Symbol, multiplier: float | None) -> None:
    if multiplier is None:
        return
    if position.multiplier is None:
        position.multiplier = exact(multiplier)
    elif position.multiplier != exact(multiplier):
        position.broken = True


def _declare(position: Symbol, what: dict[str, Any]) -> None:
    _contract(position, what.get("multiplier"))
    if position.fills or position.opened:
        position.checks.append((exact(what["size"]), position.size))
        return
    position.opened = True
    position.size = exact(what["size"])
    position.cost = position.size * exact(what.get("average_price", 0))


def _convert(
    position: Symbol, what: dict[str, Any], symbol: str, marks: dict[str, Fraction]
) -> None:
    """A fee in the base asset costs its price, one in a third currency what the last mark says."""
    paid_in, (base, _, quote) = what["paid_in"], symbol.partition("-")
    if paid_in is None or paid_in == (quote or "USD"):
        return
    price = position.price if what["price"] is None else what["price"]
    if not quote:
        position.broken = True
    elif paid_in == base:
        what["fee"] *= price or NOTHING
    elif what["fee"] and price is not None:
        for name, rate in reversed(marks.items()):
            first, second = name.replace("/", "-").partition("-")[::2]
            if {first, second} == {paid_in, quote}:
                what["fee"] *= rate if first == paid_in else 1 / rate
                return
        position.broken, what["fee"] = True, NOTHING


def _fill(position: Symbol, what: dict[str, Any], *, long_only: bool) -> None:
    _contract(position, 1 if what["multiplier"] is None else what["multiplier"])
    position.broken = position.broken or bool(what["inverse"])
    price = position.price if what["price"] is None else what["price"]
    if price is None:
        position.unpriced.add(what["id"])
        return
    size = what["size"]
    if size is None:
        size = exact(what["funds"]) / (price * position.times)
    position.fills += 1
    position.fees += what["fee"]
    position.price = price
    if what["price"] is None:
        position.estimated.add(what["id"])
    if what["assumed"]:
        position.assumed.add(what["id"])
    gained = _traded(position, what, size, price, long_only=long_only) - what["fee"]
    position.realized += gained
    position.realized_by[what["id"]] += gained


def _traded(
    position: Symbol, what: dict[str, Any], size: Fraction, price: Fraction, *, long_only: bool
) -> Fraction:
    way = 1 if what["side"] == "buy" else -1
    gained = NOTHING
    if position.size * way < 0:
        closed = min(size, abs(position.size))
        average = position.cost / position.size
        gained = -way * closed * (price - average) * position.times
        position.size += way * closed
        position.cost = position.size * average
        if size - closed <= size * DUST:
            return gained
        size -= closed
    if way < 0 and long_only:
        position.oversold.add(what["id"])
        return gained
    position.size += way * size
    position.cost += way * size * price
    return gained


@dataclass
class Worth:
    """An account at one moment."""

    time: float
    profit: Fraction
    value: Fraction
    growth: Fraction
    """What one unit of the capital has become; deposits and withdrawals do not move it."""


def account(
    symbols: dict[str, Symbol],
    cash: Cash,
    capital: Fraction | None = None,
) -> list[Worth]:
    """Of one currency, at every moment at which something happened; each has one time of its own.
    Without a capital, the first deposit is it."""
    flows = list(cash.flows)
    if capital is None:
        first = next(one for one in flows if one[1] > 0)
        flows.remove(first)
        capital = first[1]
    moments = {at for one in symbols.values() for at, _ in one.values}
    moments |= {at for at, _ in (*cash.earned, *flows)}
    worth, value, profit, growth = [], capital, NOTHING, Fraction(1)
    for moment in sorted(moments):
        stands = [
            next((held for at, held in reversed(one.values) if at <= moment), NOTHING)
            for one in symbols.values()
        ]
        now = sum(stands, NOTHING) + sum(
            (amount for at, amount in cash.earned if at <= moment), NOTHING
        )
        flowed = sum((amount for at, amount in flows if at == moment), NOTHING)
        growth *= 1 + (now - profit) / value
        value += now - profit + flowed
        profit = now
        worth.append(Worth(moment, profit, value, growth))
    return worth
