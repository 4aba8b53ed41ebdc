"""Benchmarks: the price of a symbol, or buying a model's own symbols once and holding them."""

from collections.abc import Mapping, Sequence

import numpy as np
from sqlalchemy import Connection, select

from tapeline.results.charts.daily_prices import NONE, Prices, daily_prices
from tapeline.results.metrics import of_benchmark
from tapeline.results.metrics.account import DAY, Account, Floats, Lacking
from tapeline.results.metrics.benchmark import Benchmark
from tapeline.results.metrics.metric import described
from tapeline.results.performance.answers import BUY_AND_HOLD, ShownBenchmark
from tapeline.results.performance.evidence import Evidence
from tapeline.results.pnl.books import Book
from tapeline.store.tables.core import models
from tapeline.store.tables.ledger import books
from tapeline.store.tables.tape import tapes
from tapeline.tape.backtest_results.series import thinned
from tapeline.tape.tapes import Reading

MOST_SYMBOLS = 50  # that are bought and held: those with the most fills
NO_PRICE = "No price of {} is known in this time."
NOTHING_TRADED = "Nothing was traded whose price is known."


def beside(account: Account, name: str, known: Mapping[str, Prices], points: int) -> ShownBenchmark:
    """An account beside a symbol, or beside all of `known` bought once and held."""
    priced = {symbol: one for symbol, one in known.items() if len(one.days)}
    answer = ShownBenchmark(
        name=name,
        symbols=sorted(priced),
        without_price=sorted(known.keys() - priced.keys()),
    )
    if not priced:
        answer.reason = NOTHING_TRADED if name == BUY_AND_HOLD else NO_PRICE.format(name)
        return answer
    prices = held(list(priced.values()))
    pair = Benchmark(account, prices.days, prices.closes)
    answer.metrics = described(of_benchmark.BENCHMARK, of_benchmark.compute(pair))
    try:
        times = pair.days * DAY
        answer.items = thinned(times, _rebased(pair.values), points)
        answer.account = thinned(times, np.append([0.0], np.cumprod(1.0 + pair.ours) - 1.0), points)
    except Lacking as lacking:
        answer.reason = lacking.reason
    return answer


def held(some: Sequence[Prices]) -> Prices:
    """Equal parts of each, bought at its first price. Until then its part is kept as cash."""
    days = np.unique(np.concatenate([one.days for one in some]))
    total = np.zeros(len(days))
    for one in some:
        places = np.searchsorted(one.days, days, side="right")
        total += np.concatenate([[1.0], one.closes / one.closes[0]])[places]
    return Prices(days, total / len(some), days * DAY)


def of_live(
    connection: Connection, model: Reading, found: Evidence, name: str, points: int
) -> ShownBenchmark:
    account = found.subject(None).account
    try:
        days = account.days
    except Lacking as lacking:
        return ShownBenchmark(name=name, reason=lacking.reason)
    span = (int(days[0]), int(days[-1]))
    if name == BUY_AND_HOLD:
        known = _own(connection, model.tape, found.books, span)
    else:
        known = {name: named(connection, model, name, span)}
    return beside(account, name, known, points)


def _own(
    connection: Connection, tape: int, every: Sequence[Book], span: tuple[int, int]
) -> dict[str, Prices]:
    traded = [one for one in every if one.state.fills or one.state.is_opened]
    traded.sort(key=lambda one: (-one.state.fills, one.symbol))
    return {
        one.symbol: daily_prices(connection, tape, one.book, *span) for one in traded[:MOST_SYMBOLS]
    }


def named(connection: Connection, model: Reading, symbol: str, span: tuple[int, int]) -> Prices:
    """The prices of a symbol from this model; if it has none, from another of its project."""
    spellings = {symbol, symbol.replace("/", "-"), symbol.replace("-", "/")}
    query = (
        select(books.c.tape, books.c.book)
        .join(tapes, tapes.c.no == books.c.tape)
        .join(models, models.c.id == tapes.c.model_id)
        .where(
            models.c.project_id == model.project_id,
            books.c.symbol.in_(sorted(spellings)),
            ~books.c.is_cash,
            books.c.last_time.is_not(None),
        )
        .order_by((books.c.tape == model.tape).desc(), books.c.last_time.desc())
        .limit(1)
    )
    row = connection.execute(query).first()
    return NONE if row is None else daily_prices(connection, row.tape, row.book, *span)


def _rebased(values: Floats) -> Floats:
    return np.asarray(values / values[0] - 1.0)
