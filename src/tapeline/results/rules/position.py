"""One position, and what a fill, a mark, a declared position or cash does to it: average cost.

This is the one place that knows what an entry means for the books. Pure arithmetic in decimals,
because prices and sizes are written in decimals: a sum of money comes out as it would on paper.
Sixty digits hold every product and sum of such numbers exactly; only a division can be rounded, so
far behind that no double that is shown can tell.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from typing import Literal, TypeVar

import msgspec

from tapeline.results.rules.rates import Rate

ZERO, ONE = Decimal(0), Decimal(1)
DUST = Decimal("1e-30")  # money: what is left of a rounding where there should be nothing
# A model that adds up its size in doubles sells a little more than it holds, and means all of it:
# a rest below this part of a fill is a rounding.
SLACK = 1_000_000_000

_CONTEXT = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)

OVERSOLD, UNPRICED, FLOW, CHECK = 1, 2, 3, 4
"""Notices: entries that are found without going through a book."""

N = TypeVar("N", Decimal, float)

Side = Literal["buy", "sell", "mark", "position", "cash"]


class Spec(msgspec.Struct, array_like=True, frozen=True):
    """What an entry says, before anything else is known."""

    side: Side
    price: Decimal | None = None
    size: Decimal | None = None
    """Of a position signed; of cash the amount."""
    funds: Decimal | None = None
    fee: Decimal = ZERO
    assumed: bool = False
    """A limit or stop order of which nobody said yet that it was filled."""
    multiplier: Decimal | None = None
    """None where nothing is said, which for an order means one."""
    fee_in_base: bool = False
    """Paid in what was traded, so that the fill's own price converts it."""
    problem: str | None = None
    """Why the symbol cannot be computed with this in it."""
    word: str | None = None
    """Of cash its type, of marks their source, of other entries the instrument."""
    claim: str | None = None
    """What a bare ticker is said to be quoted in."""
    paid_in: str | None = None
    """The currency of the fee where only a rate can convert it."""


class Outcome(msgspec.Struct, array_like=True, frozen=True):
    """What came of it."""

    price: Decimal | None = None
    size: Decimal | None = None
    realized: Decimal | None = None
    """Net of the fee; of a fill that only opens, that is the fee alone."""
    oversold: Decimal = ZERO
    """How much of it was sold without being held, where positions are never negative."""
    estimated: bool = False
    fee: Decimal = ZERO
    """In the quote currency."""
    held: Decimal | None = None
    """Of a position that is a check: what the books held at its time."""
    notice: int | None = None
    rate: Rate | None = None
    """That converted the fee."""


class State(msgspec.Struct, array_like=True):
    """A position after some entries."""

    size: Decimal = ZERO
    """Negative for a short position."""
    cost: Decimal = ZERO
    """What the held size was bought for, without fees and multiplier; of a short one negative."""
    realized: Decimal = ZERO
    fees: Decimal = ZERO
    price: Decimal | None = None
    """The last known one, and when it was known."""
    priced_at: float | None = None
    fills: int = 0
    estimated: int = 0
    assumed: int = 0
    oversold: int = 0
    unpriced: int = 0
    since: int = 0
    """Entries since the last one that keeps a copy of this."""
    multiplier: Decimal | None = None
    is_opened: bool = False
    """Whether what it began with was declared."""
    reason: str | None = None
    """Why none of its numbers can be trusted; the first by time of what was said."""
    instrument: str | None = None
    claims: list[str] = []
    cash: dict[str, Decimal] = {}
    """By type."""
    marked_at: float | None = None
    """Of the newest mark: what an order was filled at is no rate."""

    @property
    def factor(self) -> Decimal:
        return ONE if self.multiplier is None else self.multiplier

    @property
    def unrealized(self) -> Decimal:
        return ZERO if self.price is None else (self.size * self.price - self.cost) * self.factor

    @property
    def total(self) -> Decimal:
        return self.worth()[0]

    @property
    def value(self) -> Decimal:
        """What is held, at the last price; negative for a short position."""
        return self.worth()[1]

    def worth(self) -> tuple[Decimal, Decimal]:
        """Total and value in one go, because every entry of a book needs both."""
        total, value = self.realized, ZERO
        if self.price is not None:
            value = self.size * self.price
            unrealized = value - self.cost
            if self.multiplier is not None:
                value, unrealized = value * self.multiplier, unrealized * self.multiplier
            total += unrealized
        return (total + earned(self.cash) if self.cash else total), value


FLOWS = frozenset({"deposit", "withdrawal"})


@contextmanager
def exact() -> Iterator[None]:
    """Arithmetic on money happens inside of this."""
    with localcontext(_CONTEXT):
        yield


def earned(cash: Mapping[str, Decimal]) -> Decimal:
    """What of cash by type counts as profit or loss."""
    return sum((one for kind, one in cash.items() if kind not in FLOWS), ZERO)


def number(value: Decimal) -> float:
    """As it is shown: the nearest double."""
    return 0.0 if abs(value) < DUST else float(value)


def take(
    state: State, spec: Spec, time: float, *, long_only: bool, rate: Rate | None = None
) -> Outcome:
    """Change the position by one entry. `rate`: between the fee's currency and the quote's."""
    if spec.side == "cash":
        return _cash(state, spec)
    if spec.side == "mark":
        state.price, state.priced_at, state.marked_at = spec.price, time, time
        return Outcome(spec.price)
    _note(state, spec)
    if spec.side == "position":
        return _declared(state, spec)
    price = state.price if spec.price is None else spec.price
    size = spec.size
    if size is None and price is not None and spec.funds is not None:
        size = spec.funds / (price * state.factor)
    if price is None or size is None:
        state.unpriced += 1
        return Outcome(size=size, notice=UNPRICED)
    state.fills += 1
    state.estimated += spec.price is None
    state.assumed += spec.assumed
    if spec.price is not None:
        state.price, state.priced_at = price, time
    gained, oversold = _trade(state, spec.side == "sell", size, price, long_only=long_only)
    fee = _fee(state, spec, price, rate)
    state.fees += fee
    state.oversold += bool(oversold)
    state.realized += gained - fee
    return Outcome(
        price, size, gained - fee, oversold, spec.price is None, fee,
        notice=OVERSOLD if oversold else None, rate=rate,
    )  # fmt: skip


def parted(held: N, size: N, *, is_sell: bool) -> tuple[N, N]:
    """A fill in two: what it closes of the position, and what it opens or adds."""
    nothing = size - size
    closing = min(size, abs(held)) if held and (held > 0) == is_sell else nothing
    rest = size - closing
    return closing, nothing if closing and rest * SLACK <= size else rest


def _note(state: State, spec: Spec) -> None:
    """What is said about the contract has to agree with what was said before."""
    said = spec.multiplier
    if said is None and spec.side != "position":
        said = ONE
    if state.multiplier is None:
        state.multiplier = said
    elif said is not None and said != state.multiplier and state.reason is None:
        one, other = number(state.multiplier), number(said)
        state.reason = f"Its entries say different multipliers: {one:.12g} and {other:.12g}."
    if spec.problem is not None and state.reason is None:
        state.reason = spec.problem
    if spec.claim is not None and spec.claim not in state.claims:
        state.claims = sorted([*state.claims, spec.claim])
    state.instrument = spec.word or state.instrument


def _fee(state: State, spec: Spec, price: Decimal, rate: Rate | None) -> Decimal:
    """In the quote currency."""
    if spec.fee_in_base:
        return spec.fee * price
    if spec.paid_in is None or not spec.fee:
        return spec.fee
    if rate is not None:
        return rate.converted(spec.fee, spec.paid_in)
    state.reason = state.reason or (
        f"A fee was paid in {spec.paid_in}, and no rate was reported before it."
    )
    return ZERO


def _trade(
    state: State, is_sell: bool, size: Decimal, price: Decimal, *, long_only: bool
) -> tuple[Decimal, Decimal]:
    """What it gained before fees, and how much was sold without being held."""
    closing, opening = parted(state.size, size, is_sell=is_sell)
    gained = ZERO
    if closing:
        sign = 1 if state.size > 0 else -1
        whole = closing == abs(state.size)
        cost = state.cost if whole else state.cost * closing / abs(state.size)
        state.size = ZERO if whole else state.size - sign * closing
        state.cost -= cost
        gained = (sign * closing * price - cost) * state.factor
    if is_sell and long_only:
        return gained, opening
    signed = -opening if is_sell else opening
    state.size += signed
    state.cost += signed * price
    return gained, ZERO


def _declared(state: State, spec: Spec) -> Outcome:
    """The first, before any fill, is what the symbol began with; later ones are checks."""
    size, price = spec.size or ZERO, spec.price
    if state.fills or state.is_opened:
        return Outcome(price, size, held=state.size, notice=CHECK)
    state.is_opened = True
    state.size, state.cost = size, size * (price or ZERO)
    return Outcome(price, size)


def _cash(state: State, spec: Spec) -> Outcome:
    kind, amount = spec.word or "", spec.size or ZERO
    state.cash = {**state.cash, kind: state.cash.get(kind, ZERO) + amount}
    return Outcome(size=amount, notice=FLOW if kind in FLOWS else None)
