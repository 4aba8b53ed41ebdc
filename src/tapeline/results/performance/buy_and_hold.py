"""Benchmarks: the price of a symbol, or buying a model's own symbols once and holding them."""

from collections.abc import Mapping, Sequence

import numpy as np
from sqlalchemy import Connection

from tapeline.results.charts.daily_prices import Prices
from tapeline.results.metrics import of_benchmark
from tapeline.results.metrics.account import DAY, Account, Floats, Lacking
from tapeline.results.metrics.benchmark import Benchmark
from tapeline.results.metrics.metric import described
from tapeline.results.performance.answers import BUY_AND_HOLD, ShownBenchmark
from tapeline.results.performance.evidence import Evidence
from tapeline.results.performance.symbol_prices import Known, SymbolPrices
from tapeline.results.pnl.books import Book
from tapeline.tape.backtest_results.series import thinned
from tapeline.tape.tapes import Reading

MOST_SYMBOLS = 50  # that are bought and held: those with the most fills
NO_PRICE = "No price of {} is known in this time."
NOTHING_TRADED = "Nothing was traded whose price is known."


def beside(account: Account, name: str, known: Mapping[str, Known], points: int) -> ShownBenchmark:
    """An account beside a symbol, or beside all of `known` bought once and held."""
    priced = {symbol: one for symbol, one in known.items() if one.sources}
    answer = ShownBenchmark(
        name=name,
        symbols=sorted(priced),
        without_price=sorted(known.keys() - priced.keys()),
        sources={symbol: one.sources for symbol, one in priced.items()},
    )
    if not priced:
        answer.reason = NOTHING_TRADED if name == BUY_AND_HOLD else NO_PRICE.format(name)
        return answer
    prices = held([one.prices for one in priced.values()])
    pair = Benchmark(account, prices.days, prices.closes)
    answer.metrics = described(of_benchmark.BENCHMARK, of_benchmark.compute(pair))
    try:
        times = pair.days * DAY
        answer.items = thinned(times, _rebased(pair.values), points)
        answer.account = thinned(times, np.append([0.0], np.cumprod(1.0 + pair.ours) - 1.0), points)
    except Lacking as lacking:
        answer.reason = lacking.reason
    return answer


@np.errstate(over="ignore")  # a symbol that grew beyond all numbers; what uses it gives the reason
def held(some: Sequence[Prices]) -> Prices:
    """Equal parts of each, bought at its first close that is over zero. Until then its part is kept
    as cash."""
    days = np.unique(np.concatenate([one.days for one in some]))
    total = np.zeros(len(days))
    for one in some:
        since = np.flatnonzero(np.append(one.closes, 1.0) > 0)[0]
        closes, places = one.closes[since:], np.searchsorted(one.days[since:], days, side="right")
        total += np.concatenate([[1.0], closes / closes[:1]])[places]
    return Prices(days, total / len(some), days * DAY)


def of_live(
    connection: Connection, model: Reading, found: Evidence, name: str, points: int, exchange: str
) -> ShownBenchmark:
    """`exchange`: the price source; empty: none."""
    account = found.subject(None).account
    try:
        days = account.days
    except Lacking as lacking:
        return ShownBenchmark(name=name, reason=lacking.reason)
    prices = SymbolPrices(connection, model, (int(days[0]), int(days[-1])), exchange)
    names = [one.symbol for one in most_traded(found.books)] if name == BUY_AND_HOLD else [name]
    return beside(account, name, {one: prices.of(one) for one in names}, points)


def most_traded(every: Sequence[Book]) -> list[Book]:
    """Those with the most fills."""
    traded = [one for one in every if one.state.fills or one.state.is_opened]
    traded.sort(key=lambda one: (-one.state.fills, one.symbol))
    return traded[:MOST_SYMBOLS]


def _rebased(values: Floats) -> Floats:
    return np.asarray(values / values[0] - 1.0)
