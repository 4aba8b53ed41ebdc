"""Notices that the wall clock by which servers agree has jumped: what is to happen at a moment by
it has to be worked out anew.

Servers that share a database go by its clock: one of their own may be wrong.
"""

from typing import NamedTuple

from tapeline import clock as clocks
from tapeline.clock import JUMP
from tapeline.store.backends import common_time
from tapeline.store.store import Store


class Ahead(NamedTuple):
    """How far the database's clock is ahead of the time since this machine was started. The answer
    took a while, so it is between these."""

    least: float
    most: float

    def jumped_since(self, before: "Ahead") -> bool:
        return self.least > before.most + JUMP or self.most < before.least - JUMP


class Jumps:
    """For one loop, which looks before each of its turns."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._jumps = 0
        self._ahead: Ahead | None = None
        self._known: int | None = None

    async def has_jumped(self) -> bool:
        """Since it was last asked."""
        before, (_, self._known) = self._known, await self.look()
        return before not in (None, self._known)

    async def look(self) -> tuple[float, int]:
        """The time, and how often that clock has jumped."""
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
