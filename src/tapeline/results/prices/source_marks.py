"""Writes closes of the price source onto tapes, as marks that name the exchange: of symbols that
are held, and of pairs that a project needs as rates.

The books read the tape only, so what an exchange said counts only once it is there.
"""

import time
from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection, func, select

from tapeline.background import Background
from tapeline.errors import Unavailable
from tapeline.prices.source import markets, names
from tapeline.prices.source.markets import Close
from tapeline.results.pnl.books import state_from
from tapeline.results.prices import rate_pairs, stretches
from tapeline.results.prices.rate_pairs import Place
from tapeline.results.rules.position import State
from tapeline.store.store import Store
from tapeline.store.tables.ledger import books
from tapeline.tape import tapes
from tapeline.tape.append.appending import Appended, Appender
from tapeline.tape.append.watchers import Watchers
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event, Submission

WORK = "marks of the price source"
PAUSE, PAUSE_OF_RATES = 60.0, 3_600.0
"""Seconds by which the last known price must be older."""
SPOT, CONTRACTS = {None, "spot", "margin"}, {"future", "perpetual"}

_encode = msgspec.json.Encoder(order="deterministic").encode


class SourceMarks:
    def __init__(
        self,
        store: Store,
        appender: Appender,
        watchers: Watchers,
        background: Background,
        late_after: float,
    ) -> None:
        self._store = store
        self._appender = appender
        self._watchers = watchers
        self._work = background.kind(WORK)
        self._late_after = late_after
        """Seconds after which a close is no news: its mark would count as late."""

    async def write(self, exchange: str, changed: Sequence[str]) -> None:
        """Look at every place that needs one of these markets."""
        closes = await self._store.read(markets.closes, exchange, changed)
        for place in await self._store.read(_places, list(closes)):
            await self._write(exchange, place, closes[place.market])

    async def _write(self, exchange: str, place: Place, close: Close) -> None:
        try:
            appended = await self._store.write(self.mark, exchange, place, close)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - one model's trouble is not that of the others
            self._work.note(error, f"tape {place.tape}")
            return
        for group in appended:
            self._watchers.publish(group.model_id, group.records)

    def mark(
        self, connection: Connection, exchange: str, place: Place, close: Close
    ) -> Sequence[Appended]:
        """Write the mark, unless the books have a price that is as new."""
        if close.at < self._store.clock.ago(self._late_after):
            return []
        if not tapes.hold(connection, place.tape, alone=True):
            return []
        book = stretches.book_of(connection, place.tape, place.symbol)
        known = None if book is None else book.state.priced_at
        pause = PAUSE_OF_RATES if place.is_rate else PAUSE
        if known is not None and known > close.at - pause:
            return []
        event = _event(exchange, place, close)
        return self._appender.append(connection, [Submission([event], None)])[1]


def _places(connection: Connection, some: Sequence[str]) -> list[Place]:
    spelled = {symbol: market for market in some for symbol in names.symbols_of(market)}
    held = _held(connection, spelled)
    known = {(one.tape, one.symbol) for one in held}
    rates = rate_pairs.places(connection, set(some))
    return [*held, *(one for one in rates if (one.tape, one.symbol) not in known)]


def _held(connection: Connection, spelled: dict[str, str]) -> list[Place]:
    named = func.upper(books.c.symbol).in_(list(spelled))
    query = select(books.c.tape, books.c.symbol, books.c.state).where(named, ~books.c.is_cash)
    return [
        Place(row.tape, row.symbol, market)
        for row in connection.execute(query)
        if (market := spelled.get(row.symbol.upper()))
        and _is_priced_by(state_from(row.state), market)
    ]


def _is_priced_by(state: State, market: str) -> bool:
    """The price of a coin is not that of a future on it."""
    return bool(state.size) and state.instrument in (CONTRACTS if ":" in market else SPOT)


def _event(exchange: str, place: Place, close: Close) -> Event:
    fields = {"price": close.price, "source": exchange, "symbol": place.symbol}
    return Event(place.tape, kinds.MARK_PRICE, fields, _encode(fields), close.at, time.time())
