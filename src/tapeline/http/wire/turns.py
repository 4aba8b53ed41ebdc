"""So many bytes at once: work whose memory grows with its input waits for its turn."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

SMALL = 1_000_000  # bytes; less never waits


class Turns:
    def __init__(self, most: int) -> None:
        self._most = self._free = most
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def turn(self, size: int) -> AsyncIterator[None]:
        """In order of asking. What is larger than all that there is takes all of it."""
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
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((size, turn))
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._admit()  # we may have stood before others for whom there is enough
            else:
                self._free += size
                self._admit()
            raise

    def _admit(self) -> None:
        while self._waiting and (self._waiting[0][1].done() or self._waiting[0][0] <= self._free):
            size, turn = self._waiting.popleft()
            if not turn.done():
                self._free -= size
                turn.set_result(None)
