"""What all models of a portfolio hold together, symbol by symbol. Pure arithmetic in decimals."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import NamedTuple

from tapeline.results.portfolio.answers import Exposures, SymbolExposure
from tapeline.results.portfolio.holding import Held
from tapeline.results.rules.position import ZERO, number
from tapeline.results.rules.symbols import currency_of

Convert = Callable[[Decimal, str], Decimal | None]
"""An amount of a currency in the portfolio's; None without a rate."""


class Owned(NamedTuple):
    model_id: str
    held: Held
    convert: Convert


class _Sum:
    def __init__(self) -> None:
        self.gross = self.net = ZERO
        self.converted: tuple[Decimal, Decimal] | None = (ZERO, ZERO)
        self.models: list[str] = []

    def add(self, one: Owned) -> None:
        value = one.held.value
        self.gross += abs(value)
        self.net += value
        self.models.append(one.model_id)
        known = one.convert(value, one.held.currency)
        if known is None or self.converted is None:
            self.converted = None
        else:
            self.converted = (self.converted[0] + abs(known), self.converted[1] + known)


def exposures(every: Iterable[Owned]) -> Exposures:
    sums: dict[tuple[str, str], _Sum] = {}
    for one in every:
        name = (spelled(one.held.symbol), one.held.currency)
        sums.setdefault(name, _Sum()).add(one)
    known = [one.converted for one in sums.values() if one.converted is not None]
    return Exposures(
        gross=number(sum((gross for gross, _ in known), ZERO)),
        net=number(sum((net for _, net in known), ZERO)),
        symbols=sorted(
            (_shown(*name, one) for name, one in sums.items()),
            key=lambda one: (-(one.gross_converted or 0.0), one.symbol, one.currency),
        ),
        without_rate=sorted({name[1] for name, one in sums.items() if one.converted is None}),
    )


def spelled(symbol: str) -> str:
    """One name for `BTC/USD` and `BTC-USD`."""
    return symbol.replace("/", "-") if currency_of(symbol) else symbol


def _shown(symbol: str, currency: str, found: _Sum) -> SymbolExposure:
    converted = found.converted
    return SymbolExposure(
        symbol=symbol,
        currency=currency,
        gross=number(found.gross),
        net=number(found.net),
        gross_converted=None if converted is None else number(converted[0]),
        net_converted=None if converted is None else number(converted[1]),
        models=sorted(found.models),
    )
