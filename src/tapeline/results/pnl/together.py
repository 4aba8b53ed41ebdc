"""All currencies of a model together, converted by rates that models of its project reported."""

from decimal import Decimal

import msgspec
from sqlalchemy import Connection

from tapeline.results.pnl import stored_rates
from tapeline.results.pnl.books import Totals
from tapeline.results.rules.position import earned, number
from tapeline.results.rules.rates import Rate


class UsedRate(msgspec.Struct, kw_only=True):
    """A price on a tape that converted a currency."""

    currency: str
    symbol: str
    price: float
    time: float
    model_id: str
    """The model on whose tape it is: any of the project."""
    source: str | None = None
    """Null for a price that the model reported; else the platform wrote it there, from this
    exchange or from the model's `bars`."""


class Together(msgspec.Struct, kw_only=True):
    """Profit and loss of all currencies in one, at the newest rates."""

    currency: str
    realized: float | None = None
    unrealized: float | None = None
    fees: float | None = None
    cash: float | None = None
    """Besides orders, without deposits and withdrawals."""
    total: float | None = None
    rates: list[UsedRate] = []
    reason: str | None = None
    """Why there are no sums."""


def together(
    connection: Connection, tape: int, totals: dict[str, Totals], currency: str
) -> Together | None:
    """None if there is nothing to convert."""
    others = [name for name in totals if name != currency]
    if not others:
        return None
    found = Together(currency=currency)
    sums = _amounts(totals[currency])
    for name in others:
        known = stored_rates.in_project(connection, tape, name, currency)
        if known is None:
            found.reason = no_rate(name, currency)
            return found
        model_id, rate = known
        found.rates.append(used_rate(name, model_id, rate))
        amounts = _amounts(totals[name])
        sums = [one + rate.converted(more, name) for one, more in zip(sums, amounts, strict=True)]
    found.realized, found.unrealized, found.fees, found.cash = map(number, sums)
    found.total = number(sums[0] + sums[1] + sums[3])
    return found


def _amounts(one: Totals) -> list[Decimal]:
    return [one.realized, one.unrealized, one.fees, earned(one.cash)]


def no_rate(currency: str, quote: str) -> str:
    return (
        f"There is no rate between {currency} and {quote}."
        f" Report one with mark-price of {currency}-{quote}."
    )


def used_rate(currency: str, model_id: str, rate: Rate) -> UsedRate:
    return UsedRate(
        currency=currency,
        symbol=rate.symbol,
        price=number(rate.price),
        time=rate.time,
        model_id=model_id,
        source=rate.source,
    )
