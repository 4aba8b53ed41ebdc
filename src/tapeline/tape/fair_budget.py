"""A budget that owners share: work whose cost grows with its input waits until its share is free.

Owners take turns, and each owner's work keeps its order: one owner's long queue delays another's
next piece of work by one piece, not by the whole queue.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from tapeline.errors import Overloaded

PATIENCE = 60.0  # seconds: then the client is told to come back, instead of waiting on

Waiting = tuple[int, "asyncio.Future[None]"]


class FairBudget:
    def __init__(self, most: int, *, small: int = 0, patience: float = PATIENCE) -> None:
        self.most = most
        self._small = small
        """Work of this size or less never waits."""
        self._patience = patience
        self.free = most
        self._waiting: dict[Hashable, deque[Waiting]] = {}
        """By owner; the first has the next turn."""

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def reserve(self, owner: Hashable, size: int) -> AsyncIterator[bool]:
        """Work that is larger than the whole budget takes all of it. Yields whether it waited."""
        size = 0 if size <= self._small else min(size, self.most)
        has_to_wait = size > 0 and (bool(self._waiting) or size > self.free)
        if has_to_wait:
            await self._wait(owner, size)
        else:
            self.free -= size
        try:
            yield has_to_wait
        finally:
            self._give_back(size)

    async def _wait(self, owner: Hashable, size: int) -> None:
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append((size, granted))
        try:
            async with asyncio.timeout(self._patience):
                await granted
        except (TimeoutError, asyncio.CancelledError) as error:
            # It may have been granted in the moment in which nobody waited for it any more.
            self._give_back(0 if granted.cancelled() else size)
            if isinstance(error, TimeoutError):
                raise Overloaded from None
            raise

    def _give_back(self, size: int) -> None:
        self.free += size
        self._admit()

    def _admit(self) -> None:
        while self._waiting:
            owner, queue = next(iter(self._waiting.items()))
            size, granted = queue[0]
            if not granted.done():
                if size > self.free:
                    return
                self.free -= size
                granted.set_result(None)
                del self._waiting[owner]  # others have their turn before its next
                self._waiting[owner] = queue
            queue.popleft()
            if not queue:
                del self._waiting[owner]
