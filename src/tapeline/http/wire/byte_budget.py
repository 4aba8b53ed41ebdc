"""A budget of bytes: work whose memory grows with its input waits until its share is free."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

SMALL = 1_000_000  # bytes; less never waits


class ByteBudget:
    def __init__(self, most: int) -> None:
        self._most = self._free = most
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def reserve(self, size: int) -> AsyncIterator[None]:
        """First come, first served. A request for more than the whole budget takes all of it."""
        size = 0 if size <= SMALL else min(size, self._most)
        await self._begin(size)
        try:
            yield
        finally:
            self._free += size
            self._admit()

    async def _begin(self, size: int) -> None:
        if not size:
            return
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((size, granted))
        self._admit()
        try:
            await granted
        except asyncio.CancelledError:
            if granted.cancelled():
                self._admit()  # smaller requests behind this one may fit now
            else:
                self._free += size
                self._admit()
            raise

    def _admit(self) -> None:
        while self._waiting and (self._waiting[0][1].done() or self._waiting[0][0] <= self._free):
            size, granted = self._waiting.popleft()
            if not granted.done():
                self._free -= size
                granted.set_result(None)
