"""Bars of the price source for one project: of the markets that it uses, and of no others."""

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import Connection, select

from tapeline.prices.series import Series
from tapeline.prices.source import names, standing, wanted
from tapeline.prices.source.messages import MINUTE
from tapeline.prices.source.standing import SHARED
from tapeline.store.tables.prices import price_series


class MarketBars(NamedTuple):
    exchange: str
    market: str
    """As the exchange lists it."""
    series: list[Series]
    """The finest first."""
    problem: str
    """Why there are no prices, or no newer ones; empty if all is well."""
    answered_at: float | None


class Close(NamedTuple):
    price: float
    at: float


def bars_of(
    connection: Connection, exchange: str, project_id: str, symbol: str
) -> MarketBars | None:
    """None without a source, and for a symbol that is not a pair or not used in this project."""
    market = names.market_of(symbol) if exchange else None
    if market is None or not wanted.is_used(connection, project_id, market):
        return None
    known = standing.of(connection, exchange)
    one = known.markets.get(market)
    problem = known.problem
    if one is not None and known.answered_at is not None:
        problem = problem or one.problem or ("" if one.name else "It does not list this market.")
    return MarketBars(
        exchange,
        (one and one.name) or market,
        _series(connection, exchange, market),
        problem,
        one.answered_at if one else None,
    )


def closes(connection: Connection, exchange: str, markets: Iterable[str]) -> dict[str, Close]:
    """The newest price of each market, and when it was the price."""
    one = price_series.c
    query = select(one.symbol, one.close, one.closed_at).where(
        one.tape == SHARED,
        one.name == exchange,
        one.interval == MINUTE,
        one.symbol.in_(list(markets)),
    )
    return {row.symbol: Close(row.close, row.closed_at) for row in connection.execute(query)}


def _series(connection: Connection, exchange: str, market: str) -> list[Series]:
    one = price_series.c
    here = (one.tape == SHARED, one.name == exchange, one.symbol == market)
    query = select(price_series).where(*here).order_by(one.interval)
    return [Series(*row) for row in connection.execute(query)]
