"""One position and the effect of a fill or a mark: average cost, no shorting. Pure arithmetic.

Decimals, because prices and sizes are written in decimals: a sum of money comes out as it would on
paper. Sixty digits hold every product and sum of such numbers exactly; only a division can be
rounded, and never in a digit that is shown.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from typing import Literal

import msgspec

ZERO = Decimal(0)
DUST = Decimal("1e-30")  # money: what rounding leaves where there should be nothing
# A model that adds up sizes in doubles may sell slightly more than it holds, and means all of it.
SLACK = Decimal("1e-9")

_CONTEXT = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)

OVERSOLD, UNPRICED = 1, 2


class Spec(msgspec.Struct, array_like=True, frozen=True):
    """The input of an order or a mark."""

    side: Literal["buy", "sell", "mark"]
    price: Decimal | None = None
    size: Decimal | None = None
    funds: Decimal | None = None
    fee: Decimal = ZERO
    assumed: bool = False
    """A limit or stop order of which nobody said yet that it was filled."""


class Outcome(msgspec.Struct, array_like=True, frozen=True):
    """The effect of an order or a mark."""

    price: Decimal | None = None
    size: Decimal | None = None
    realized: Decimal | None = None
    """Net of the fee; of a buy that is the fee alone."""
    oversold: Decimal = ZERO
    """How much of it was sold without being held."""
    estimated: bool = False

    @property
    def notice(self) -> int | None:
        if self.price is None:
            return UNPRICED
        return OVERSOLD if self.oversold else None


class State(msgspec.Struct, array_like=True):
    """A position after some entries."""

    size: Decimal = ZERO
    cost: Decimal = ZERO
    """What the held size was bought for, without fees."""
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
    """Entries since the last one that keeps a copy of the state."""

    @property
    def unrealized(self) -> Decimal:
        return ZERO if self.price is None else self.size * self.price - self.cost


@contextmanager
def exact() -> Iterator[None]:
    """The context for all arithmetic on money."""
    with localcontext(_CONTEXT):
        yield


def number(value: Decimal) -> float:
    """The nearest double, which is what is shown."""
    return 0.0 if abs(value) < DUST else float(value)


def take(state: State, spec: Spec, time: float) -> Outcome:
    """Change the position by one entry."""
    if spec.side == "mark":
        state.price, state.priced_at = spec.price, time
        return Outcome(spec.price)
    price = state.price if spec.price is None else spec.price
    size = spec.size
    if size is None and price is not None and spec.funds is not None:
        size = spec.funds / price
    if price is None or size is None:
        state.unpriced += 1
        return Outcome(size=size)
    state.fills += 1
    state.estimated += spec.price is None
    state.assumed += spec.assumed
    state.fees += spec.fee
    if spec.price is not None:
        state.price, state.priced_at = price, time
    gained, oversold = _buy(state, size, price) if spec.side == "buy" else _sell(state, size, price)
    state.realized += gained - spec.fee
    return Outcome(price, size, gained - spec.fee, oversold, estimated=spec.price is None)


def _buy(state: State, size: Decimal, price: Decimal) -> tuple[Decimal, Decimal]:
    state.size += size
    state.cost += size * price
    return ZERO, ZERO


def _sell(state: State, size: Decimal, price: Decimal) -> tuple[Decimal, Decimal]:
    closed = min(size, state.size)
    cost = state.cost if closed == state.size else state.cost * closed / state.size
    state.size -= closed
    state.cost -= cost
    rest = size - closed
    if rest <= size * SLACK:
        return closed * price - cost, ZERO
    state.oversold += 1
    return closed * price - cost, rest
