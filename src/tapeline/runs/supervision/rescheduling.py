"""Works out schedules anew after a jump of the clock, which makes runs due at once, or tomorrow.

Servers that share a database go by its clock: one of their own may be wrong, and a run must not be
early because of the host that took it.
"""

from typing import NamedTuple

from tapeline import clock as clocks
from tapeline.clock import JUMP
from tapeline.runs.supervision import desired
from tapeline.store.backends import common_time
from tapeline.store.store import Store


class Ahead(NamedTuple):
    """How far the database's clock is ahead of the time since this machine was started. The answer
    took a while, so it is between these."""

    least: float
    most: float

    def jumped_since(self, before: "Ahead") -> bool:
        return self.least > before.most + JUMP or self.most < before.least - JUMP


class Rescheduling:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._jumped: int | None = None
        """Jumps that schedules already know of."""
        self._jumps = 0
        self._ahead: Ahead | None = None

    async def turn(self) -> float:
        """Before each decision: the time by which schedules are right."""
        now, jumped = await self._now()
        if jumped == self._jumped:
            return now
        # At the start only too late ones: a server that was down at a tick runs it now.
        is_start = self._jumped is None
        await self._store.write(desired.work_out_schedules, now, earlier_only=is_start)
        self._jumped = jumped
        return now

    async def _now(self) -> tuple[float, int]:
        """And how often that clock has jumped."""
        clock = self._store.clock
        if self._store.database.file is not None:
            return clock.wall(), clock.jumped
        began = clocks.read().boot
        now = await self._store.read(common_time.now)
        ahead = Ahead(now - clocks.read().boot, now - began)
        if self._ahead is not None and ahead.jumped_since(self._ahead):
            self._jumps += 1
        self._ahead = ahead
        return now, self._jumps
