"""Shows the fill of each order."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Row

from tapeline.results.rules.position import ZERO, Outcome, Spec, exact, number

_spec, _outcome = msgspec.json.Decoder(Spec), msgspec.json.Decoder(Outcome)
_NOTHING = Outcome()


class Portion(msgspec.Struct):
    """A part of an order that was filled by itself."""

    time: float
    size: float
    price: float | None
    fee: float


class FeeRate(msgspec.Struct):
    """The mark that converted a fee."""

    symbol: str
    price: float
    time: float


class FillShown(msgspec.Struct, kw_only=True):
    """How an order counts in profit and loss."""

    price: float | None
    """Null when none is known: then the order counts nowhere. Of several portions the average."""
    size: float | None
    time: float
    """Of several portions that of the last."""
    fee: float
    """In the quote currency."""
    fee_rate: FeeRate | None = None
    """Of a fee in another currency: what converted it; of several portions that of the last."""
    realized: float | None
    """What this fill added to the realized profit, net of its fee."""
    estimated: bool
    """The price is the symbol's last known one."""
    assumed: bool
    """A limit or stop order of which nobody said yet that it was filled."""
    unpriced: bool
    oversold: float
    """How much was sold without being held; only where positions are `long_only`."""
    portions: list[Portion] = []
    """Where it was filled in several: each of them, in order."""
    currency: str | None = None
    """The quote currency of its symbol, which `realized` is in."""
    not_computed: str | None = None
    """Why its symbol is not computed: then `realized` is null, and no sum includes the fill."""


class Booked(NamedTuple):
    """An entry of an order in the books."""

    time: float
    spec: Spec
    outcome: Outcome
    book: int


def booked(row: Row[*tuple[Any, ...]]) -> Booked:
    outcome = _NOTHING if row.outcome is None else _outcome.decode(row.outcome)
    return Booked(row.time, _spec.decode(row.spec), outcome, row.book)


def fill_shown(some: Sequence[Booked]) -> FillShown:
    """All entries of one order together, in their order."""
    if len(some) == 1:  # as nearly all of them are
        return _only(some[0])
    with exact():
        return _together(some)


def _only(one: Booked) -> FillShown:
    outcome, size = one.outcome, _size(one)
    return FillShown(
        price=_number(outcome.price),
        size=_number(size),
        time=one.time,
        fee=number(_fee(one)),
        realized=_number(outcome.realized),
        estimated=outcome.estimated,
        assumed=one.spec.assumed,
        unpriced=outcome.price is None,
        oversold=number(outcome.oversold),
        fee_rate=_rate(outcome),
    )


def _together(some: Sequence[Booked]) -> FillShown:
    outcomes = [one.outcome for one in some]
    sizes = [_size(one) for one in some]
    prices = [one.price for one in outcomes]
    realized = [one.realized for one in outcomes if one.realized is not None]
    return FillShown(
        price=_number(_average(sizes, prices)),
        size=None if None in sizes else number(sum((one or ZERO for one in sizes), ZERO)),
        time=max(one.time for one in some),
        fee=number(sum((_fee(one) for one in some), ZERO)),
        realized=number(sum(realized, ZERO)) if realized else None,
        estimated=any(one.estimated for one in outcomes),
        assumed=any(one.spec.assumed for one in some),
        unpriced=all(price is None for price in prices),
        oversold=number(sum((one.oversold for one in outcomes), ZERO)),
        fee_rate=next((rate for one in reversed(outcomes) if (rate := _rate(one))), None),
        portions=[
            Portion(one.time, number(size or ZERO), _number(one.outcome.price), number(_fee(one)))
            for one, size in zip(some, sizes, strict=True)
        ],
    )


def _size(one: Booked) -> Decimal | None:
    return one.spec.size if one.outcome.size is None else one.outcome.size


def _fee(one: Booked) -> Decimal:
    """As it counts; of what counts nowhere, as it was said."""
    return one.spec.fee if one.outcome.price is None else one.outcome.fee


def _average(sizes: list[Decimal | None], prices: list[Decimal | None]) -> Decimal | None:
    known = [(s, p) for s, p in zip(sizes, prices, strict=True) if s is not None and p is not None]
    if len(known) < 2:
        return known[0][1] if known else None
    return sum((s * p for s, p in known), ZERO) / sum((s for s, _ in known), ZERO)


def _rate(outcome: Outcome) -> FeeRate | None:
    rate = outcome.rate
    return None if rate is None else FeeRate(rate.symbol, number(rate.price), rate.time)


def _number(value: Decimal | None) -> float | None:
    return None if value is None else number(value)
