"""Finds out whether an event would be stored now, without storing one.

A submission without events goes through the inbox and the writer like any other. It stores nothing,
and it runs at most once a second, however many ask.
"""

import asyncio
from time import monotonic

from tapeline.errors import Problem, StoreBusy
from tapeline.logs import Log
from tapeline.store.backends.database import Database
from tapeline.tape.append.inbox import Inbox
from tapeline.tape.events.event import Submission
from tapeline.thread_pools import briefly

log = Log(__name__)

DEADLINE = 2.0  # seconds that an event may take
KEPT = 1.0  # seconds for which an answer is reused

BUSY = "Too many writes are queued."
REFUSES = "The store cannot take events now."
HANGS = f"The store has not taken an event within {DEADLINE:g} seconds."


class Probe:
    def __init__(self, inbox: Inbox, database: Database) -> None:
        self._inbox = inbox
        self._database = database
        self._asking: asyncio.Task[str | None] | None = None
        self._asked_at = 0.0

    async def trouble(self) -> str | None:
        """Why no event would be stored now; None when one would be."""
        asking = self._question()
        left = self._asked_at + DEADLINE - monotonic()
        # Not cancelled when it hangs: it goes on to be the answer for those who ask later.
        await asyncio.wait([asking], timeout=max(left, 0))
        return asking.result() if asking.done() else HANGS

    def _question(self) -> "asyncio.Task[str | None]":
        asking, now = self._asking, monotonic()
        if asking is None or (asking.done() and now - self._asked_at >= KEPT):
            self._asked_at = now
            asking = self._asking = asyncio.get_running_loop().create_task(self._ask())
        return asking

    async def _ask(self) -> str | None:
        try:
            await self._inbox.store(Submission([], None))
            return await briefly(self._database.trouble)
        except StoreBusy:
            return BUSY
        except Problem:
            # The disk first: it shows the cause of an outage that SQLite calls by another name.
            seen = await briefly(self._database.trouble)
            return seen or self._inbox.outage() or REFUSES
        except Exception as error:
            log.error("bug", exc_info=error)
            return REFUSES
