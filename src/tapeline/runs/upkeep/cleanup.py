"""Removes what ended runs leave behind: unused files, and keys of runs that ended long ago."""

import asyncio
from collections.abc import Callable

from sqlalchemy import Connection, delete, select

from tapeline.background import Background
from tapeline.store.store import Store
from tapeline.store.tables.core import keys
from tapeline.store.tables.runs import runs

EVERY, WITHIN = 3600.0, 900.0  # seconds
# A superseded run that still sends after this long gets 401 instead of 409.
KEYS_KEPT_FOR = 7 * 24 * 3600.0


class Cleanup:
    def __init__(
        self, store: Store, background: Background, files: Callable[[], None] | None = None
    ) -> None:
        """`files` frees disk space of this machine by deleting what can be rebuilt."""
        self._store = store
        self._files = files
        background.loop("tidying", self._clean_up, every=EVERY, first_after=EVERY, within=WITHIN)

    async def _clean_up(self) -> None:
        await self._store.write(delete_keys, self._store.clock.ago(KEYS_KEPT_FOR))
        if self._files is not None:
            await asyncio.to_thread(self._files)


def delete_keys(connection: Connection, before: float) -> None:
    """Of runs that ended before then."""
    over = select(runs.c.id).where(runs.c.ended_at < before)
    connection.execute(delete(keys).where(keys.c.run_id.in_(over)))
