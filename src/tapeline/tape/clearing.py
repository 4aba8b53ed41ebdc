"""Clearing what deleted models and crashes left: in small portions between others' writes.

Deleting a model removes its row, and nobody finds its tape any more. What is on the tape may be
millions of events, so they go a few thousand at a time.
"""

import time

from sqlalchemy import Connection, delete, func, literal, select

from tapeline.background import Background, Work
from tapeline.errors import Unavailable
from tapeline.logs import Log
from tapeline.store.ledger_tables import (
    books,
    curves,
    entries,
    ledgers,
    places,
    sketches,
)
from tapeline.store.store import Store
from tapeline.store.tables import models
from tapeline.store.tape_tables import (
    backtests,
    checkpoints,
    orders,
    pages,
    pieces,
    states,
    tapes,
    used,
)
from tapeline.tape import kinds, uploads

log = Log(__name__)

PORTION, PORTION_BYTES = 2_000, 2_000_000  # rows in one write, and bytes of events
LOOKED_EVERY, WITHIN = 5.0, 60.0  # seconds
STAGED_LOOKED_EVERY = 600.0
# Staging takes minutes at most, and an upload is looked at from when it was first seen.
ABANDONED_AFTER = 3600.0


def keep_clearing(background: Background, store: Store) -> None:
    """Beside the service. Any server may delete a model, so each looks for itself."""
    seen: dict[str, float] = {}
    looked = -STAGED_LOOKED_EVERY

    async def turn() -> None:
        nonlocal looked
        await clear(store, work)
        if time.monotonic() - looked >= STAGED_LOOKED_EVERY:
            await clear_abandoned(store, seen, time.monotonic())
            looked = time.monotonic()

    work = background.loop("clearing", turn, every=LOOKED_EVERY, within=WITHIN)


async def clear(store: Store, work: Work | None = None) -> int:
    """Clear every tape whose model is gone; how many there were."""
    cleared, tape = 0, 0
    while (found := await store.read(next_orphan, tape)) is not None:
        tape = found
        try:
            while await store.write(clear_some, tape):
                if work:
                    work.beat()
        except Unavailable:
            raise
        except Exception as error:
            if not work:
                raise
            work.note(error, f"tape {tape}")  # the others are cleared all the same
        else:
            log.info("tape_cleared", tape=tape)
            cleared += 1
    return cleared


async def clear_abandoned(store: Store, seen: dict[str, float], now: float) -> int:
    """Clear pieces that were staged long ago and still belong to no result; how many uploads.
    `seen` remembers since when each has been without one: another server may be staging it."""
    orphans = await store.read(uploads.orphans)
    for known in seen.keys() - orphans:
        del seen[known]
    abandoned = [one for one in orphans if now - seen.setdefault(one, now) >= ABANDONED_AFTER]
    for upload in abandoned:
        await store.write(uploads.discard_orphan, upload)
        log.info("abandoned_upload_cleared", upload=upload)
    return len(abandoned)


def next_orphan(connection: Connection, after: int = 0) -> int | None:
    number: int | None = connection.scalar(
        select(tapes.c.no)
        .outerjoin(models, models.c.id == tapes.c.model_id)
        .where(models.c.id.is_(None), tapes.c.no > after)
        .order_by(tapes.c.no)
        .limit(1)
    )
    return number


def clear_some(connection: Connection, tape: int) -> bool:
    """Clear a portion of what is left; whether there may be more."""
    for backtest in connection.execute(
        select(backtests.c.no, backtests.c.upload).where(backtests.c.tape == tape).limit(1)
    ):
        return _clear_backtest(connection, tape, backtest.no, backtest.upload)
    channels = sorted({kind.channel for kind in kinds.KINDS})
    for channel in channels:
        if _clear_channel(connection, tape, channel):
            return True
    if _clear_orders(connection, tape):
        return True
    if _clear_places(connection, tape):
        return True
    if _clear_books(connection, tape):
        return True
    for table in (states, used, checkpoints, books, ledgers):
        connection.execute(delete(table).where(table.c.tape == tape))
    connection.execute(delete(tapes).where(tapes.c.no == tape))
    return False


def _clear_backtest(connection: Connection, tape: int, number: int, upload: str | None) -> bool:
    if _clear_channel(connection, tape, kinds.CHANNELS_OF_BACKTESTS + number):
        return True
    if upload is not None:
        some = select(pieces.c.list, pieces.c.piece).where(pieces.c.upload == upload).limit(20)
        for row in connection.execute(some).all():
            connection.execute(
                delete(pieces).where(
                    pieces.c.upload == upload,
                    pieces.c.list == row.list,
                    pieces.c.piece == row.piece,
                )
            )
        left = select(literal(1)).where(pieces.c.upload == upload).limit(1)
        if connection.scalar(left) is not None:
            return True
    connection.execute(delete(backtests).where(backtests.c.no == number))
    return True


def _clear_channel(connection: Connection, tape: int, channel: int) -> bool:
    here, size = (pages.c.tape == tape, pages.c.channel == channel), func.length(pages.c.content)
    portion = select(pages.c.first, size.label("size")).where(*here).order_by(pages.c.first)
    rows = connection.execute(portion.limit(PORTION)).all()
    if not rows:
        return False
    last, cleared = rows[0].first, 0
    for row in rows:
        cleared += row.size
        if cleared > PORTION_BYTES:
            break
        last = row.first
    connection.execute(delete(pages).where(*here, pages.c.first <= last))
    return True


def _clear_orders(connection: Connection, tape: int) -> bool:
    portion = select(orders.c.id).where(orders.c.tape == tape).order_by(orders.c.id).limit(PORTION)
    last = connection.scalar(select(func.max(portion.subquery().c.id)))
    if last is None:
        return False
    connection.execute(delete(orders).where(orders.c.tape == tape, orders.c.id <= last))
    return True


def _clear_places(connection: Connection, tape: int) -> bool:
    here = places.c.tape == tape
    portion = select(places.c.order_id).where(here).order_by(places.c.order_id).limit(PORTION)
    last = connection.scalar(select(func.max(portion.subquery().c.order_id)))
    if last is None:
        return False
    connection.execute(delete(places).where(here, places.c.order_id <= last))
    return True


def _clear_books(connection: Connection, tape: int) -> bool:
    """What the bookkeeper made of it, one book or curve after the other."""
    for table, group, portion in (
        (entries, "book", PORTION),
        (curves, "currency", 20),  # they are long
        (sketches, "currency", PORTION),
    ):
        here = table.c.tape == tape
        first = connection.scalar(select(func.min(table.c[group])).where(here))
        if first is None:
            continue
        some = select(table.c.time).where(here, table.c[group] == first)
        last = select(func.max(some.order_by(table.c.time).limit(portion).subquery().c.time))
        until = connection.scalar(last)
        connection.execute(
            delete(table).where(here, table.c[group] == first, table.c.time <= until)
        )
        return True
    return False
