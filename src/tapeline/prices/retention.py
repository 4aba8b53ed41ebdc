"""Removes bars and indicators that were kept long enough, in the background and in small writes.

Only what is under an hour goes. Coarser bars that were made from it are few, and stay.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, select, tuple_, update

from tapeline.background import Background, Work
from tapeline.errors import Unavailable
from tapeline.logs import Log
from tapeline.prices.intervals import DAY, HOUR, levels, spans
from tapeline.prices.storing import CHUNK_ROW
from tapeline.store.store import Store
from tapeline.store.tables.prices import price_chunks, price_series
from tapeline.store.tables.tape import tapes
from tapeline.store.upkeep.pace import Pace

log = Log(__name__)

EVERY, FIRST_AFTER, WITHIN = 3600.0, 90.0, 3600.0  # seconds
FEWEST, MOST = 20, 500  # chunks in one write

Ago = Callable[[float], float]
"""The wall clock's time so many seconds ago, by a clock that notices jumps."""


class Place(NamedTuple):
    """A series, in the order of their numbers."""

    tape: int
    series: int
    interval: int = 0


def start(background: Background, store: Store, days: int) -> None:
    """In the background. Zero days keep everything."""

    async def turn() -> None:
        await remove_due(store, store.clock.ago, days, work)

    if days:
        work = background.loop(
            "retention of prices",
            turn,
            every=EVERY,
            first_after=FIRST_AFTER,
            within=WITHIN,
            once=True,
        )


async def remove_due(store: Store, ago: Ago, days: int, work: Work | None = None) -> int:
    """Remove everything older; return how many chunks there were."""
    cutoff, removed, place = ago(days * DAY), 0, Place(0, 0)
    while (found := await store.read(_next, place)) is not None:
        place = found
        try:
            removed += await _remove(store, place, cutoff, work)
        except Unavailable:
            raise
        except Exception as error:
            if not work:
                raise
            work.note(error, f"tape {place.tape}")  # the others are looked at anyway
    return removed


async def _remove(store: Store, place: Place, cutoff: float, work: Work | None) -> int:
    pace, removed = Pace(FEWEST, MOST), 0
    for level in levels(place.interval):
        if level >= HOUR:
            break
        # Whole chunks: the rest of a chunk is needed to make the coarser bars of a late one.
        before = cutoff - spans(place.interval)[level]
        while await store.read(_has_any, place, level, before):
            removed += await pace.step(store, delete_some, place, level, before, pace)
            if work:
                work.beat()
    if removed:
        log.info("prices_removed", tape=place.tape, series=place.series, chunks=removed)
    return removed


def delete_some(connection: Connection, place: Place, level: int, before: float, pace: Pace) -> int:
    """As many of the oldest chunks as fit into a step; return how many there were."""
    # Locked first, as whoever stores bars does: nobody waits for the other in a ring.
    mine = select(tapes.c.no).where(tapes.c.no == place.tape).with_for_update()
    connection.execute(mine)
    here = _here(place, level, before)
    oldest = select(price_chunks.c.start, func.length(price_chunks.c.content)).where(*here)
    rows = connection.execute(oldest.order_by(price_chunks.c.start).limit(pace.size)).all()
    if not rows:
        return 0
    last = rows[-1][0]
    connection.execute(delete(price_chunks).where(*here, price_chunks.c.start <= last))
    freed = sum(row[1] + CHUNK_ROW for row in rows)
    connection.execute(
        update(tapes).where(tapes.c.no == place.tape).values(bytes=tapes.c.bytes - freed)
    )
    return len(rows)


def _has_any(connection: Connection, place: Place, level: int, before: float) -> bool:
    query = select(price_chunks.c.start).where(*_here(place, level, before)).limit(1)
    return connection.scalar(query) is not None


def _here(place: Place, level: int, before: float) -> tuple[Any, ...]:
    chunks = price_chunks.c
    return (
        chunks.tape == place.tape,
        chunks.series == place.series,
        chunks.level == level,
        chunks.start <= before,
    )


def _next(connection: Connection, after: Place) -> Place | None:
    """The next series with anything under an hour."""
    one = price_series.c
    query = select(one.tape, one.series, one.interval).where(
        tuple_(one.tape, one.series) > tuple_(after.tape, after.series), one.interval < HOUR
    )
    row = connection.execute(query.order_by(one.tape, one.series).limit(1)).first()
    return None if row is None else Place(*row)
