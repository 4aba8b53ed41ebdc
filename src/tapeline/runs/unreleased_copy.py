"""A copied data directory that is on hold: its runs may live on in the original, so they are left
alone. With its release the copy takes them over."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path

from tapeline.runs import holds, host_identity
from tapeline.runs import run as run_records
from tapeline.runs.engines.engine import Engine
from tapeline.runs.journals.meaning import RunUpdate
from tapeline.store.store import Store

Update = Callable[[str, Callable[[RunUpdate], None]], Awaitable[None]]
"""Record something about the run with this id."""


class Copy:
    def __init__(self, file: Path, store: Store, engine: Engine, update: Update) -> None:
        self.is_one = host_identity.is_copied(file)
        """Whether this server may not touch the runs in its rows."""
        self._file = file
        self._store = store
        self._engine = engine
        self._update = update

    async def is_on_hold(self, held: Collection[str]) -> bool:
        if self.is_one and holds.ALL not in held:
            await self._take_over()
        return self.is_one

    async def _take_over(self) -> None:
        """The name of the host last: until it is here, this is done again."""
        for run in await self._store.read(run_records.launched_on, self._engine.host):
            if not await asyncio.to_thread(self._engine.is_alive, run):
                await self._update(run.id, lambda made: made.taken_over(time.time()))
        await asyncio.to_thread(host_identity.keep, self._file, self._engine.host)
        self.is_one = False
