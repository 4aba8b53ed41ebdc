"""Memory for work that needs much of it: large batches, results, reports, passwords.

Each piece of work reserves what it will need at most. It waits while other work has that memory,
and is refused if there would not be enough even then: the kernel would end the whole server.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tapeline import memory
from tapeline.errors import Overloaded
from tapeline.fair_line import Owner
from tapeline.tape.fair_budget import FairBudget

PATIENCE = 30.0  # seconds
KEPT = 4_000_000
"""Bytes for everything else that a server does: requests, streams, journals."""
LET_GO = 0.05  # seconds
RETRY_AFTER = 10  # seconds
MEGABYTE = 1_000_000


class MemoryBudget(FairBudget):
    def __init__(self) -> None:
        """Made when the server starts."""
        self._is_tight = memory.limit() < memory.TIGHT
        if self._is_tight:
            memory.give_freed_back_at_once()
        super().__init__(_left(), patience=PATIENCE)

    @asynccontextmanager
    async def need(self, owner: Owner, size: int) -> AsyncIterator[None]:
        """Wait for so much memory; raise Overloaded where there is less."""
        if size > self.most:
            raise _refusal(size, self.most)
        async with self.reserve(owner, size):
            # Others in our group, such as models, may have taken it since the server started.
            if size > _left():
                memory.give_freed_back()
                if size > (left := _left()):
                    raise _refusal(size, left)
            yield
        if self._is_tight and size:
            # A little later: those who use it have not let go of all of it yet.
            asyncio.get_running_loop().call_later(LET_GO, memory.give_freed_back)


def _left() -> int:
    return max(0, memory.available() - KEPT)


def _refusal(size: int, left: int) -> Overloaded:
    return Overloaded(
        f"This needs about {size // MEGABYTE:,} MB of memory, and the server has"
        f" {left // MEGABYTE:,} MB for it. Nothing was stored; send less at a time, or try again"
        " later. The operator can give the server more memory.",
        retry_after=RETRY_AFTER,
    )
