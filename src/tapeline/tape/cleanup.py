"""Cleans up after deleted models and crashes, in small portions between other writes.

Deleting a model removes its row, and nobody finds its tape any more. The tape may have millions of
events, so they are deleted a few thousand at a time; `store/belongings.py` lists everything that is
deleted.
"""

from collections.abc import Callable
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Table,
    delete,
    func,
    literal,
    select,
    true,
    tuple_,
)

from tapeline.background import Background, Work
from tapeline.errors import Unavailable
from tapeline.logs import Log
from tapeline.store import belongings
from tapeline.store.portions import each_after
from tapeline.store.store import Store
from tapeline.store.tables.core import answers, models
from tapeline.store.tables.results import discards
from tapeline.store.tables.tape import backtests, tapes
from tapeline.store.upkeep.pace import Pace

log = Log(__name__)

FEWEST, PORTION = 50, 2_000  # rows in one write
PORTION_BYTES = 2_000_000  # of events, in one write
LOOKED_EVERY, WITHIN = 5.0, 60.0  # seconds


def start(background: Background, store: Store) -> None:
    """In the background. Any server may delete a model; the one that leads clears up."""

    async def turn() -> None:
        await clean_up(store, work)
        await clean_up_discards(store, store.clock.now(), work)

    work = background.loop("clearing", turn, every=LOOKED_EVERY, within=WITHIN, once=True)


async def clean_up(store: Store, work: Work | None = None) -> int:
    """Delete every tape whose model is gone; return how many there were."""
    deleted = 0
    async for tape in each_after(lambda after: store.read(next_orphan, after), 0):
        deleted += await _delete_one(store, work, f"tape {tape}", delete_some, tape)
    return deleted


async def clean_up_discards(store: Store, now: float, work: Work | None = None) -> int:
    """Delete every upload that no backtest shows and nobody is staging."""
    deleted = 0
    async for upload in each_after(lambda after: store.read(next_discard, after, now), ""):
        deleted += await _delete_one(
            store, work, f"upload {upload}", delete_some_discarded, upload, now
        )
    return deleted


async def _delete_one(
    store: Store, work: Work | None, about: str, delete_portion: Callable[..., bool], *args: Any
) -> bool:
    # A command that has the data to itself keeps nobody waiting.
    pace = Pace(FEWEST, PORTION) if work else Pace(PORTION, PORTION, rest=0)
    try:
        while await pace.step(store, lambda c: delete_portion(c, *args, most=pace.size)):
            if work:
                work.beat()
    except Unavailable:
        raise
    except Exception as error:
        if not work:
            raise
        work.note(error, about)  # the others are cleaned up anyway
        return False
    log.info("cleared", what=about)
    return True


def next_orphan(connection: Connection, after: int = 0) -> int | None:
    number: int | None = connection.scalar(
        select(tapes.c.no)
        .outerjoin(models, models.c.id == tapes.c.model_id)
        .where(models.c.id.is_(None), tapes.c.no > after)
        .order_by(tapes.c.no)
        .limit(1)
    )
    return number


def next_discard(connection: Connection, after: str, now: float) -> str | None:
    due = select(discards.c.upload).where(discards.c.after <= now, discards.c.upload > after)
    upload: str | None = connection.scalar(due.order_by(discards.c.upload).limit(1))
    return upload


def delete_some(connection: Connection, tape: int, most: int = PORTION) -> bool:
    """Delete a portion of a tape without a model; return whether there may be more."""
    # Locked: current writers finish first, and later ones find it gone.
    mine = select(tapes.c.no).where(tapes.c.no == tape).with_for_update()
    if connection.execute(mine).first() is None:
        return False
    upload = connection.scalar(_uploads_of(tape))
    if upload is not None:
        return _delete_upload(connection, upload, most) or True
    for table in belongings.ON_THE_TAPE:
        if _delete_portion(connection, table, table.c.tape, tape, most):
            return True
    connection.execute(delete(answers).where(answers.c.scope == belongings.scope_of(tape)))
    connection.execute(delete(tapes).where(tapes.c.no == tape))
    return False


def delete_some_discarded(
    connection: Connection, upload: str, now: float, most: int = PORTION
) -> bool:
    """The same for an upload that is still discarded."""
    mine = select(discards.c.upload).where(discards.c.upload == upload, discards.c.after <= now)
    if connection.execute(mine.with_for_update()).first() is None:
        return False
    return _delete_upload(connection, upload, most)


def _uploads_of(tape: int) -> Any:
    shown = select(backtests.c.upload).where(
        backtests.c.tape == tape, backtests.c.upload.is_not(None)
    )
    return shown.union_all(select(discards.c.upload).where(discards.c.tape == tape)).limit(1)


def _delete_upload(connection: Connection, upload: str, most: int) -> bool:
    for table in belongings.OF_UPLOADS:
        if _delete_portion(connection, table, table.c.upload, upload, most):
            return True
    # Backtests of a deleted tape show nothing any more; a current one has another upload.
    connection.execute(backtests.update().where(backtests.c.upload == upload).values(upload=None))
    return False


def _delete_portion(
    connection: Connection, table: Table, column: Column[Any], value: int | str, most: int
) -> bool:
    """Delete some rows, the first by their keys; return whether there were any."""
    keys, here = list(table.primary_key), column == value
    size = func.length(table.c.content) if "content" in table.c else literal(0)
    rows = connection.execute(select(*keys, size).where(here).order_by(*keys).limit(most)).all()
    if not rows:
        return False
    last, deleted = rows[0], 0
    for row in rows:
        deleted += row[-1]
        if deleted > PORTION_BYTES:
            break
        last = row
    # Two bounds and nothing else, where they suffice: with `here` SQLite would look at every row
    # of the tape, in every portion.
    low, high = (
        tuple_(*(literal(one, key.type) for one, key in zip(row[:-1], keys, strict=True)))
        for row in (rows[0], last)
    )
    between = tuple_(*keys).between(low, high)
    connection.execute(delete(table).where(between, true() if keys[0] is column else here))
    return True
