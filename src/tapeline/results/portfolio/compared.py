"""A portfolio beside the price of a symbol, as the first of its projects knows it."""

from collections.abc import Iterable

from sqlalchemy import Connection

from tapeline.results.charts.daily_prices import NONE
from tapeline.results.metrics.account import Account, Lacking
from tapeline.results.performance.answers import ShownBenchmark
from tapeline.results.performance.buy_and_hold import beside
from tapeline.results.performance.symbol_prices import Known, SymbolPrices
from tapeline.results.portfolio.member import Head


def compared(
    connection: Connection,
    account: Account,
    heads: Iterable[Head],
    name: str,
    *,
    points: int,
    exchange: str,
) -> ShownBenchmark:
    """`exchange`: the price source; empty: none."""
    try:
        span = (int(account.days[0]), int(account.days[-1]))
    except Lacking as lacking:
        return ShownBenchmark(name=name, reason=lacking.reason)
    known = Known(NONE, [])
    for head in {one.project_id: one for one in heads}.values():
        known = SymbolPrices(connection, head, span, exchange).of(name)
        if known.sources:
            break
    return beside(account, name, {name: known}, points)
