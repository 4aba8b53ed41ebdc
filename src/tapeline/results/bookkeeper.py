"""Keeps the books of every tape current: beside the requests, and at once for whoever wants to see.

It follows the tape and takes no part in appending. On several servers each may do it; a ledger's
version decides who was first, and the other finds nothing left to do.
"""

import asyncio
from time import monotonic
from weakref import WeakValueDictionary

from sqlalchemy import Connection, select

from tapeline.errors import NoSuchModel, Unavailable
from tapeline.logs import Log
from tapeline.results import journal, reckoning
from tapeline.results.books import carry_out
from tapeline.store.store import Store
from tapeline.store.tables import models
from tapeline.store.tape_tables import tapes

log = Log(__name__)

LOOKED_EVERY = 2.0  # seconds
TOGETHER = 500  # tapes in one look
SHARE = 0.1  # of the time, at most: a flood of orders must get in, their sums can wait


class Bookkeeper:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen: dict[int, int] = {}
        self._turns: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    async def catch_up(self, tape: int, until: int) -> None:
        """Return when the books have all that was on the tape up to a place."""
        while await self._portion(tape, until):
            pass

    async def follow(self) -> None:
        """Runs beside the service."""
        while True:
            started = monotonic()
            try:
                await self.go_round()
            except Unavailable:
                log.warning("bookkeeping_put_off")
            await asyncio.sleep(max(LOOKED_EVERY, (monotonic() - started) / SHARE))

    async def go_round(self) -> None:
        """Look at every tape that has moved since the last time."""
        heads = await self._store.read(_heads)
        moved = [tape for tape, seq in heads.items() if self._seen.get(tape) != seq]
        for start in range(0, len(moved), TOGETHER):
            some = tapes.c.no.in_(moved[start : start + TOGETHER])
            for tape, seq in (await self._store.read(journal.behind, some)).items():
                await self._unhurried(tape, seq)
        self._seen = heads

    async def _unhurried(self, tape: int, until: int) -> None:
        started = monotonic()
        try:
            while await self._portion(tape, until):
                await asyncio.sleep((monotonic() - started) / SHARE)
                started = monotonic()
        except Unavailable:
            raise
        except NoSuchModel:
            return  # deleted meanwhile
        except Exception as error:  # noqa: BLE001 - one model's trouble is not that of the others
            log.error("books_not_kept", tape=tape, error=repr(error))

    async def _portion(self, tape: int, until: int) -> bool:
        """Do a portion; whether there was one to do."""
        # Many may look at one model at once: one of them does the work, the others find it done.
        turn = self._turns.setdefault(tape, asyncio.Lock())
        async with turn:
            plan = await self._store.read(reckoning.plan, tape, until)
            if plan is None:
                return False
            await self._store.write(carry_out, plan)
            return True


def _heads(connection: Connection) -> dict[int, int]:
    query = select(tapes.c.no, tapes.c.seq).join(models, models.c.id == tapes.c.model_id)
    return {row.no: row.seq for row in connection.execute(query)}
