"""A budget that owners share: work whose cost grows with its input waits until its share is free.

Tenants take turns, then projects, keys and models (`tapeline/fair_line.py`), and the work of each
model keeps its order: one tenant's long queue delays another's next piece of work by one piece, not
by the queue.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tapeline.errors import Overloaded
from tapeline.fair_line import FairLine, Owner

PATIENCE = 60.0  # seconds: then the client is told to come back, instead of waiting on

Waiting = tuple[int, "asyncio.Future[None]"]


class FairBudget:
    def __init__(self, most: int, *, small: int = 0, patience: float = PATIENCE) -> None:
        self.most = most
        self._small = small
        """Work of this size or less never waits."""
        self._patience = patience
        self.free = most
        self._waiting: FairLine[Waiting] = FairLine()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @asynccontextmanager
    async def reserve(self, owner: Owner, size: int) -> AsyncIterator[bool]:
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

    async def _wait(self, owner: Owner, size: int) -> None:
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(owner, (size, granted))
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
            size, granted = self._waiting.first()
            if granted.done():  # nobody waits for it any more
                self._waiting.serve(0)
                continue
            if size > self.free:
                return
            self.free -= size
            granted.set_result(None)
            self._waiting.serve(size)


@asynccontextmanager
async def patience(seconds: float = PATIENCE) -> AsyncIterator[asyncio.Timeout]:
    """One limit for everything that a piece of work waits for, one after the other. Whoever has it
    all ends the wait with `reschedule(None)`, and takes the time it needs."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield limit
    except TimeoutError:
        if limit.expired():
            raise Overloaded from None
        raise
