"""Keeps chunks up to date with arrivals: in the background, and at once for a reader.

A portion takes the writer a few milliseconds, and half of the time nobody folds. Several servers
may do the same portion: the arrivals that it deletes decide which is first.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from time import monotonic
from weakref import WeakValueDictionary

from sqlalchemy import Connection, select

from tapeline.accounts import tenants
from tapeline.background import Background
from tapeline.errors import Unavailable
from tapeline.prices import arrivals, storing
from tapeline.prices.arrivals import Pushed
from tapeline.prices.storing import Plan
from tapeline.store.store import Store
from tapeline.store.tables.core import models
from tapeline.store.tables.prices import price_arrivals
from tapeline.store.tables.tape import tapes

LOOKED_EVERY, WITHIN = 1.0, 60.0  # seconds
REST = 1.0  # times as long as a portion took
LATEST = 1_000  # tapes in one look
BEHIND = 200
"""Single bars of a tape that may wait in the background; the senders of more wait for them."""

Hold = Callable[[Connection, int], bool]
"""Whether a tape and its model exist; it is locked until the transaction ends."""


class Folding:
    def __init__(self, store: Store, background: Background, hold: Hold) -> None:
        self._store = store
        self._hold = hold
        self._work = background.loop(
            "chunks of bars", self.fold_all, every=LOOKED_EVERY, within=WITHIN
        )
        self._turns: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._waiting: Counter[int] = Counter()
        """Single bars of each tape that were stored since it was last up to date, about."""

    def note(self, tape: int) -> None:
        """A single bar was stored whose sender does not wait for its chunks."""
        self._waiting[tape] += 1

    def is_behind(self, tape: int) -> bool:
        return self._waiting[tape] >= BEHIND

    async def portion(self, tape: int) -> bool:
        """Do a portion and rest; return whether there may be more."""
        # Several may ask for one tape at once: one does the work, the others find it done.
        turn = self._turns.setdefault(tape, asyncio.Lock())
        async with turn:
            began = monotonic()
            plan = await self._store.read(storing.plan, tape)
            if plan is None or not await self._store.write(self._carry_out, plan):
                self._waiting.pop(tape, None)
                return False
            await asyncio.sleep(REST * (monotonic() - began))
            return True

    async def fold_all(self) -> None:
        """All arrivals that are there: one portion of each tenant in turn."""
        lines = deque((await self._store.read(_behind)).values())
        while lines:
            line = lines.popleft()
            if not await self._noted_portion(line[0]):
                line.popleft()
            if line:
                lines.append(line)

    async def _noted_portion(self, tape: int) -> bool:
        self._work.beat()
        try:
            return await self.portion(tape)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - one model's trouble is not that of the others
            self._work.note(error, f"tape {tape}")
            return False

    def _carry_out(self, connection: Connection, plan: Plan) -> bool:
        """False if its model was deleted; the deletion takes its arrivals too."""
        if not self._hold(connection, plan.tape):
            return False
        storing.carry_out(connection, plan)
        return True


async def store_now(store: Store, tape: int, pushed: Sequence[Pushed]) -> None:
    """For bars that the server itself got: return when they are in chunks. What an interrupted call
    leaves, the next one puts into them."""
    await store.write(arrivals.store, tape, list(arrivals.packed(pushed)))
    while (plan := await store.read(storing.plan, tape)) is not None:
        await store.write(storing.carry_out, plan)


def _behind(connection: Connection) -> dict[str, deque[int]]:
    """The tapes with arrivals, by tenant; those of deleted models are left to the cleanup."""
    waiting = select(price_arrivals.c.tape).distinct().limit(LATEST)
    query = (
        select(tapes.c.no, models.c.project_id)
        .join(models, models.c.id == tapes.c.model_id)
        .where(tapes.c.no.in_(waiting))
    )
    rows = connection.execute(query).all()
    owners = tenants.of_projects(connection, [row.project_id for row in rows])
    found: dict[str, deque[int]] = {}
    for row in rows:
        found.setdefault(owners[row.project_id], deque()).append(row.no)
    return found
