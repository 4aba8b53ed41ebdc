"""Gives the space of deleted rows back to the disk, in small steps between other writes.

Only SQLite needs it: PostgreSQL's autovacuum does the same, and the migrations tell it to look at
the large tables early.
"""

from tapeline.background import Background, Work
from tapeline.logs import Log
from tapeline.store.backends import sqlite
from tapeline.store.store import Store
from tapeline.store.upkeep.pace import Pace

log = Log(__name__)

KEPT = 256  # unused pages, a megabyte, that stay for the next rows
FEWEST, MOST = 50, 4_000  # pages in one step
EVERY, FIRST_AFTER, WITHIN = 10.0, 10.0, 3600.0  # seconds


def start(background: Background, store: Store) -> None:
    """In the background."""
    if store.database.file is None:
        return

    async def turn() -> None:
        await give_back(store, work)

    work = background.loop("compacting", turn, every=EVERY, first_after=FIRST_AFTER, within=WITHIN)


async def give_back(store: Store, work: Work | None = None) -> int:
    """Make the file as small as its content; return how many pages it lost."""
    before = await store.read(sqlite.free)
    if not before.gives_back or before.pages <= KEPT:
        return 0
    pace, left = Pace(FEWEST, MOST), before.pages
    while left > KEPT:
        await pace.step(store, sqlite.give_back, min(pace.size, left - KEPT))
        now = (await store.read(sqlite.free)).pages
        if now >= left:  # others delete faster than this gives back, or nothing can be moved
            break
        left = now
        if work:
            work.beat()
    log.info("space_given_back", bytes=(before.pages - left) * before.bytes // before.pages)
    return before.pages - left
