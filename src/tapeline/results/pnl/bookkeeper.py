"""Keeps the books of every tape up to date: in the background, and at once for a reader.

It follows the tape and takes no part in appending. Several servers may do the same work; the
ledger's version decides which is first, and the other finds nothing left to do.
"""

import asyncio
from time import monotonic
from weakref import WeakValueDictionary

from sqlalchemy import Connection, select

from tapeline.background import Background
from tapeline.errors import NoSuchModel, Unavailable
from tapeline.results.pnl import planning, unbooked
from tapeline.results.pnl.books import carry_out
from tapeline.store.portions import batches
from tapeline.store.store import Store
from tapeline.store.tables.core import models
from tapeline.store.tables.tape import tapes

LOOKED_EVERY, WITHIN = 2.0, 60.0  # seconds
LONGEST_REST = 20.0
TOGETHER = 500  # tapes in one look
SHARE = 0.1  # of the time, at most: storing orders comes first, their sums can wait


class Bookkeeper:
    def __init__(self, store: Store, background: Background) -> None:
        self._store = store
        self._work = background.loop(
            "bookkeeper", self.update_all, every=LOOKED_EVERY, within=WITHIN, essential=True
        )
        self._seen: dict[int, int] = {}
        self._turns: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    async def catch_up(self, tape: int, until: int) -> None:
        """Return when the books have everything on the tape up to a place."""
        while await self._portion(tape, until):
            pass

    async def update_all(self) -> None:
        """Bring the books of every tape with new events up to date."""
        started = monotonic()
        heads = await self._store.read(_heads)
        await self._rest(started)
        moved = [tape for tape, seq in heads.items() if self._seen.get(tape) != seq]
        for some in batches(moved, TOGETHER):
            started = monotonic()
            behind = await self._store.read(unbooked.behind, tapes.c.no.in_(some))
            await self._rest(started)
            for tape, seq in behind.items():
                await self._update_slowly(tape, seq)
        self._seen = heads

    async def _update_slowly(self, tape: int, until: int) -> None:
        started = monotonic()
        try:
            while await self._portion(tape, until):
                await self._rest(started)
                started = monotonic()
        except Unavailable:
            raise
        except NoSuchModel:
            return  # deleted in the meantime
        except Exception as error:  # noqa: BLE001 - one model's trouble is not that of the others
            self._work.note(error, f"tape {tape}")

    async def _rest(self, started: float) -> None:
        self._work.beat()
        await asyncio.sleep(min(LONGEST_REST, (monotonic() - started) / SHARE))
        self._work.beat()

    async def _portion(self, tape: int, until: int) -> bool:
        """Do a portion; return whether there was one."""
        # Many readers may ask for one model at once: one does the work, the others find it done.
        turn = self._turns.setdefault(tape, asyncio.Lock())
        async with turn:
            plan = await self._store.read(planning.plan, tape, until)
            if plan is None:
                return False
            await self._store.write(carry_out, plan)
            return True


def _heads(connection: Connection) -> dict[int, int]:
    query = select(tapes.c.no, tapes.c.seq).join(models, models.c.id == tapes.c.model_id)
    return {row.no: row.seq for row in connection.execute(query)}
