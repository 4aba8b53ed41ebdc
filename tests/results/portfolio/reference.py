"""A portfolio once more, slowly: from the raw events, in fractions, by the rules as written.

It shares nothing with the product but the rules of docs/portfolio.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tests.results.pnl.reference import NOTHING, Said, exact, reckoned, reckoned_cash

DAY = 86_400.0


@dataclass
class Model:
    """What one model reported, and the capital that its owner set."""

    said: list[Said] = field(default_factory=list)
    capital: tuple[float, str] | None = None

    def balances(self) -> dict[str, list[tuple[int, Fraction, Fraction]]]:
        """By currency: day, profit, flow, in the order of their times; the capital not included."""
        moves: dict[str, list[tuple[float, Fraction, Fraction]]] = {}
        for symbol, position in reckoned(self.said).items():
            before = NOTHING
            for time, total in position.values:
                if total != before or any(_is_order(one, symbol, time) for one in self.said):
                    of_currency = moves.setdefault(symbol.partition("-")[2], [])
                    of_currency.append((time, total - before, NOTHING))
                before = total
        for currency, cash in reckoned_cash(self.said).items():
            of_currency = moves.setdefault(currency, [])
            of_currency += [(time, amount, NOTHING) for time, amount in cash.earned]
            of_currency += [(time, NOTHING, amount) for time, amount in cash.flows]
        return {
            currency: [(int(time // DAY), profit, flow) for time, profit, flow in sorted(some)]
            for currency, some in moves.items()
            if some
        }

    def first_deposit(self) -> tuple[int, Fraction, str] | None:
        deposits = [
            (time, amount, currency)
            for currency, cash in reckoned_cash(self.said).items()
            for time, amount in cash.flows
            if amount > 0
        ]
        if not deposits:
            return None
        time, amount, currency = min(deposits)
        return int(time // DAY), amount, currency


@dataclass
class Row:
    """One model, day by day, in the portfolio's currency."""

    values: list[Fraction]
    flows: list[Fraction]
    inflows: list[Fraction]
    own: list[bool]
    since: int

    def gain(self, place: int) -> Fraction:
        before = self.values[place - 1] if place else NOTHING
        return self.values[place] - before - self.flows[place]

    def earning(self, place: int) -> Fraction:
        return (self.values[place - 1] if place else NOTHING) + self.inflows[place]

    def growth(self) -> list[Fraction]:
        found, factor = [], Fraction(1)
        for place in range(len(self.values)):
            if gain := self.gain(place):
                factor *= 1 + gain / self.earning(place)
            found.append(factor)
        return found

    def returns(self) -> dict[int, Fraction]:
        """By the place of the day, on days of its own."""
        found, before, growth = {}, Fraction(1), self.growth()
        for place in range(self.since, len(self.values)):
            if self.own[place]:
                found[place] = growth[place] / before - 1
                before = growth[place]
        return found


@dataclass
class Portfolio:
    days: list[int]
    rows: dict[str, Row]
    whole: Row

    def contributions(self) -> dict[str, Fraction]:
        growth, found = self.whole.growth(), dict.fromkeys(self.rows, NOTHING)
        for place in range(len(self.days)):
            before = growth[place - 1] if place else Fraction(1)
            if base := self.whole.earning(place):
                for name, row in self.rows.items():
                    found[name] += before * row.gain(place) / base
        return found

    def drawdown(self) -> list[Fraction]:
        growth = self.whole.growth()
        return [
            one / max(Fraction(1), *growth[: place + 1]) - 1 for place, one in enumerate(growth)
        ]


def rate(every: list[Model], currency: str, quote: str, day: int) -> Fraction | None:
    """By the newest mark until the end of a day."""
    if currency == quote:
        return Fraction(1)
    marks = [
        (time, seq, body)
        for one in every
        for time, seq, kind, body in one.said
        if kind == "mark-price"
        and body["symbol"] in {f"{currency}-{quote}", f"{quote}-{currency}"}
        and time < (day + 1) * DAY
    ]
    if not marks:
        return None
    _, _, body = max(marks, key=lambda one: one[:2])
    price = exact(body["price"])
    return price if body["symbol"].startswith(f"{currency}-") else 1 / price


def portfolio(every: list[Model], chosen: dict[str, Model], quote: str) -> Portfolio:
    """`every`: all that may report rates."""
    moves = [one.balances() for one in chosen.values()]
    own = {day for some in moves for of_currency in some.values() for day, *_ in of_currency}
    currencies = {name for some in moves for name in some}
    currencies |= {one.capital[1] for one in chosen.values() if one.capital}
    rated = {
        int(time // DAY)
        for one in every
        for time, _, kind, body in one.said
        for name in currencies - {quote}
        if kind == "mark-price" and body["symbol"] in {f"{name}-{quote}", f"{quote}-{name}"}
    }
    axis = sorted(own | {day for day in rated if day >= min(own)})
    rows = {name: _row(every, one, quote, axis) for name, one in chosen.items()}
    values, flows, inflows = [
        [sum((getattr(row, name)[place] for row in rows.values()), NOTHING) for place in _of(axis)]
        for name in ("values", "flows", "inflows")
    ]
    return Portfolio(axis, rows, Row(values, flows, inflows, [True] * len(axis), 0))


def _row(every: list[Model], one: Model, quote: str, axis: list[int]) -> Row:
    moves = one.balances()
    own = {day for some in moves.values() for day, *_ in some}
    start, deposit = min(own), one.first_deposit()
    if one.capital is None and deposit is not None:
        start = max(start, deposit[0])
    row = Row([], [], [], [day in own for day in axis], len(axis))
    currencies = set(moves) | ({one.capital[1]} if one.capital else set())
    for place, day in enumerate(axis):
        rates = {name: rate(every, name, quote, day) for name in currencies}
        value = flow = inflow = NOTHING
        if day >= start and None not in rates.values():
            for name, factor in rates.items():
                held, came = _at(one, moves.get(name, []), name, day, start)
                value += held * (factor or 0)
                flow += sum(came, NOTHING) * (factor or 0)
                inflow += sum((amount for amount in came if amount > 0), NOTHING) * (factor or 0)
                if day == start:  # what was gained before the capital was there comes with it
                    before = sum((sum(amounts) for at, *amounts in moves.get(name, []) if at < day),
                                 NOTHING)  # fmt: skip
                    flow += before * (factor or 0)
                    inflow += before * (factor or 0)
            if row.since == len(axis):
                row.since = place
                if day > start:  # it had begun before there was a rate, and has no return from then
                    flow, inflow = value, NOTHING
                    row.own[place] = False
        row.values.append(value)
        row.flows.append(flow)
        row.inflows.append(inflow)
    return row


def _at(
    one: Model, moves: list[tuple[int, Fraction, Fraction]], name: str, day: int, start: int
) -> tuple[Fraction, list[Fraction]]:
    """What the account has in a currency at the close of a day, and what came or went on it."""
    held = sum((profit + amount for at, profit, amount in moves if at <= day), NOTHING)
    came = [amount for at, _, amount in moves if at == day and amount]
    capital = (exact(one.capital[0]), one.capital[1]) if one.capital else None
    deposit = one.first_deposit()
    if capital is None and deposit is not None and deposit[2] == name:
        # The first deposit is the capital where the owner set none.
        capital = deposit[1:]
        if deposit[0] <= day:
            held -= deposit[1]
        if deposit[0] == day:
            came.remove(deposit[1])
    if capital is not None and capital[1] == name:
        held += capital[0]
        came += [capital[0]] if day == start else []
    return held, came


def _is_order(one: Said, symbol: str, time: float) -> bool:
    return one[2].startswith("spot-") and one[3]["symbol"] == symbol and one[0] == time


def _of(axis: list[Any]) -> range:
    return range(len(axis))


def correlation(one: dict[int, Fraction], other: dict[int, Fraction]) -> tuple[int, Fraction]:
    """How many days are common, and the square of the correlation with its sign."""
    common = sorted(one.keys() & other.keys())
    if len(common) < 2:
        return len(common), NOTHING
    a, b = [one[day] for day in common], [other[day] for day in common]
    mean_a, mean_b = sum(a, NOTHING) / len(a), sum(b, NOTHING) / len(b)
    shared = sum(((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True)), NOTHING)
    spread = sum(((x - mean_a) ** 2 for x in a), NOTHING) * sum(
        ((y - mean_b) ** 2 for y in b), NOTHING
    )
    return len(common), shared * abs(shared) / spread if spread else NOTHING
