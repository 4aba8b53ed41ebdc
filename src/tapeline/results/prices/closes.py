"""Writes the newest close of a held symbol's bars onto the tape, as a mark with its source.

The books read the tape only, so that anyone can recompute them from it. At most one mark a minute
and symbol: a model may send a bar every second.
"""

import time
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection, Select, select, update
from sqlalchemy.exc import DBAPIError

from tapeline.background import Background, Work
from tapeline.errors import Unavailable
from tapeline.prices import series
from tapeline.prices.series import Series
from tapeline.results.prices import stretches
from tapeline.store import bulk
from tapeline.store.backends import steady
from tapeline.store.store import Store
from tapeline.store.tables.prices import price_series
from tapeline.store.upkeep.pace import Pace
from tapeline.tape import tapes
from tapeline.tape.append.appending import Appended, Appender
from tapeline.tape.append.watchers import Watchers
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event, Submission

LOOKED_EVERY, WITHIN = 5.0, 60.0  # seconds
PAUSE = 60.0  # seconds between two marks of a symbol
TOGETHER = 100  # symbols in one look
SOURCE = "bars"

# By the primary key: SQLite would look at every series of the tape otherwise.
_NO_NEWS = """
update price_series set due = false where closed_at <= ? and (tape, series) in
(select tape, series from price_series where tape = ? and symbol = ? and name = '')
"""
_encode = msgspec.json.Encoder(order="deterministic").encode


class Due(NamedTuple):
    """A symbol with a close that the books may not know yet."""

    tape: int
    symbol: str


class Close(NamedTuple):
    """The newest close of a symbol, as it was seen."""

    closed_at: float
    tape: int
    symbol: str


class Closes:
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
        self._pace = Pace(TOGETHER, TOGETHER)
        self._late_after = late_after
        """Seconds after which a close is no news: its mark would count as late."""
        self._work: Work = background.loop(
            "marks of bars", self.write_due, every=LOOKED_EVERY, within=WITHIN, once=True
        )

    async def write_due(self) -> None:
        """Look at every symbol with a new close, some at a time. Most are not held: one write for
        all of those."""
        place = Due(0, "")
        while some := await self._store.read(_due, place):
            news, rest = await self._store.read(self._apart, some)
            for one in news:
                await self._write(one)
            if rest:
                await self._pace.step(self._store, _clear, rest)
            place = some[-1]

    def _apart(self, connection: Connection, some: Sequence[Due]) -> tuple[list[Due], list[Close]]:
        """The symbols that get a mark, and the closes of the rest."""
        news, rest = list[Due](), list[Close]()
        for one in some:
            try:
                newest = self._newest_old(connection, one)
            except (DBAPIError, Unavailable):
                raise
            except Exception:  # noqa: BLE001 - told when it is written, without the others
                newest = None
            if newest is None:
                news.append(one)
            else:
                rest.append(Close(newest.closed_at, *one))
        return news, rest

    def _newest_old(self, connection: Connection, one: Due) -> Series | None:
        """The series with its newest close, if that is no news."""
        every = series.bars_of(connection, one.tape, one.symbol)
        newest = max(every, key=lambda each: each.closed_at)
        return None if self._is_news(connection, newest) else newest

    async def _write(self, one: Due) -> None:
        try:
            appended = await self._store.write(self.mark, one)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - one model's trouble is not that of the others
            self._work.note(error, f"tape {one.tape}")
            return
        for group in appended:
            self._watchers.publish(group.model_id, group.records)

    def mark(self, connection: Connection, one: Due) -> Sequence[Appended]:
        """Write the mark, unless the books have a newer price or nothing is held."""
        if not tapes.hold(connection, one.tape, alone=True):
            return []
        every = series.bars_of(connection, one.tape, one.symbol)
        if not every:
            return []  # deleted in the meantime
        now = steady.now(connection)
        if max(each.marked_at for each in every) > now - PAUSE:
            return []  # it stays due
        newest = max(every, key=lambda each: each.closed_at)
        is_news = self._is_news(connection, newest)
        here = (price_series.c.tape == one.tape, price_series.c.series.in_(_numbers(one)))
        change = {"due": False, "marked_at": now} if is_news else {"due": False}
        connection.execute(update(price_series).where(*here).values(**change))
        if not is_news:
            return []
        _, appended = self._appender.append(connection, [Submission([_event(newest)], None)])
        return appended

    def _is_news(self, connection: Connection, newest: Series) -> bool:
        if newest.close <= 0 or newest.closed_at < self._store.clock.ago(self._late_after):
            return False
        book = stretches.book_of(connection, newest.tape, newest.symbol)
        if book is None or not book.state.size:
            return False
        return book.state.priced_at is None or book.state.priced_at < newest.closed_at


def _due(connection: Connection, after: Due) -> list[Due]:
    """In order, each symbol once. Those marked within the last minute can wait."""
    place = (price_series.c.tape, price_series.c.symbol)
    follows = (price_series.c.tape > after.tape) | (
        (price_series.c.tape == after.tape) & (price_series.c.symbol > after.symbol)
    )
    waited = price_series.c.marked_at <= steady.now(connection) - PAUSE
    query = select(*place).where(price_series.c.due, follows, waited).distinct()
    return [Due(*row) for row in connection.execute(query.order_by(*place).limit(TOGETHER))]


def _numbers(one: Due) -> Select[tuple[int]]:
    """Of its series; an update that names only the symbol would look at all of the tape."""
    here = (price_series.c.tape == one.tape, price_series.c.symbol == one.symbol)
    return select(price_series.c.series).where(*here, price_series.c.name == "")


def _clear(connection: Connection, rest: Sequence[Close]) -> None:
    """They are no news, unless a newer close came in between."""
    for one in rest:
        bulk.run(connection, _NO_NEWS, one)


def _event(newest: Series) -> Event:
    fields = {"price": newest.close, "source": SOURCE, "symbol": newest.symbol}
    return Event(
        newest.tape, kinds.MARK_PRICE, fields, _encode(fields), newest.closed_at, time.time()
    )
