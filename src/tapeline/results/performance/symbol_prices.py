"""The price of a symbol on each day, as well as a project knows it: bars of its own or of the price
source, else marks and fills."""

from typing import Any, NamedTuple, Protocol

from sqlalchemy import Connection, Row, Select, select
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from tapeline.fair_threads import checkpoint
from tapeline.prices import series
from tapeline.prices.intervals import DAY
from tapeline.prices.source import markets
from tapeline.results.charts.daily_bars import daily_bars, first_known
from tapeline.results.charts.daily_prices import NONE, Prices, daily_prices
from tapeline.results.rules.symbols import spellings
from tapeline.store.tables.core import models
from tapeline.store.tables.ledger import books
from tapeline.store.tables.prices import price_series
from tapeline.store.tables.tape import tapes

BARS, TRADES, MARKS = "bars", "trades", "marks and fills"


class Teller(Protocol):
    """A model whose prices count before those of others of its project."""

    @property
    def project_id(self) -> str: ...
    @property
    def tape(self) -> int: ...


class Known(NamedTuple):
    prices: Prices
    sources: list[str]
    """Those that gave some of them."""


class SymbolPrices:
    def __init__(
        self, connection: Connection, model: Teller, span: tuple[int, int], exchange: str
    ) -> None:
        """`span`: the first and the last day. `exchange`: the price source; empty: none."""
        self._connection = connection
        self._model = model
        self._span = span
        self._exchange = exchange

    def of(self, symbol: str, traded: Prices = NONE) -> Known:
        """From this model; what it does not report, from another of its project. `traded`: the
        prices that a backtest traded at, which count before those of live trading."""
        checkpoint()  # there may be dozens of symbols, and the client may have left
        found = {BARS: self._bars(symbol)}
        if self._exchange:
            found[self._exchange] = self._listed(symbol)
        found[TRADES] = traded
        if not len(traded.days):
            found[MARKS] = self._marks(symbol)
        return Known(first_known(list(found.values())), _used(found))

    def _bars(self, symbol: str) -> Prices:
        one = price_series.c
        here = (one.name == "", one.interval <= DAY)
        row = self._nearest(select(one.tape, one.symbol).where(*here), one, symbol, one.newest)
        if row is None:
            return NONE
        every = series.bars_of(self._connection, row.tape, row.symbol)
        return daily_bars(self._connection, every, *self._span)

    def _listed(self, symbol: str) -> Prices:
        """Of the price source."""
        project = self._model.project_id
        there = markets.bars_of(self._connection, self._exchange, project, symbol)
        return NONE if there is None else daily_bars(self._connection, there.series, *self._span)

    def _marks(self, symbol: str) -> Prices:
        one = books.c
        here = (~one.is_cash, one.last_time.is_not(None))
        row = self._nearest(select(one.tape, one.book).where(*here), one, symbol, one.last_time)
        if row is None:
            return NONE
        return daily_prices(self._connection, row.tape, row.book, *self._span)

    def _nearest(
        self, query: Select[Any], one: ReadOnlyColumnCollection[str, Any], symbol: str, newest: Any
    ) -> Row[Any] | None:
        """The model's own row before those of others, the exact spelling first, then the newest."""
        query = (
            query.join(tapes, tapes.c.no == one.tape)
            .join(models, models.c.id == tapes.c.model_id)
            .where(models.c.project_id == self._model.project_id)
            .where(one.symbol.in_(spellings(symbol)))
            .order_by((one.tape == self._model.tape).desc(), (one.symbol == symbol).desc())
            .order_by(newest.desc())
            .limit(1)
        )
        return self._connection.execute(query).first()


def _used(found: dict[str, Prices]) -> list[str]:
    """Those that have a price on a day on which none before them has."""
    used, known = list[str](), NONE
    for name, one in found.items():
        more = first_known([known, one])
        if len(more.days) > len(known.days):
            used.append(name)
        known = more
    return used
