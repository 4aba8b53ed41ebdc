"""A copied data directory is on hold: its runs may live on in the original, so they are left alone.
With its release the copy takes them over.

A restored backup is on hold from the beginning. A directory that was copied by other means is put
on hold when a server starts on it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import Protocol

from tapeline.logs import Log
from tapeline.runs import host_identity
from tapeline.runs import run as run_records
from tapeline.runs.holding import holds
from tapeline.runs.journals.meaning import RunUpdate
from tapeline.runs.run import Run
from tapeline.store.store import Store
from tapeline.thread_pools import briefly

log = Log(__name__)

COPIED = (
    "its data directory was copied, and the original may still run these models. If the original is"
    " gone for good, release this copy."
)
STILL_RUNS = "it was released, but the original still runs on the same database."
ALIVE = "it was released, but its original still runs {model} on this machine (process {pid})."
DISPLACED = (
    "while this server was cut off from the database, a copy of its data directory took its place"
)

Update = Callable[[str, Callable[[RunUpdate], None]], Awaitable[None]]
"""Record something about the run with this id."""


class Machine(Protocol):
    """What a copy asks of the machine that it is on."""

    @property
    def host(self) -> str: ...

    def is_alive(self, run: Run, /) -> bool: ...

    def processes_elsewhere(self, run: Run, /) -> list[int]: ...


class Copy:
    def __init__(self, file: Path, store: Store, engine: Machine, update: Update) -> None:
        self.is_one = host_identity.is_copied(file)
        """Whether this server may not touch the runs in its rows."""
        self.displaced: str | None = None
        """Why this server supervises nothing, if a copy of it does."""
        self._file = file
        self._store = store
        self._engine = engine
        self._update = update

    async def leaves_runs_alone(self, held: Collection[str]) -> bool:
        """Whether another server may have them: the original of this copy, or a copy of this one.
        Asked before anything is done, because both would start the same run."""
        if self.is_one and holds.ALL not in held:
            await self._take_over()
        if self.is_one:
            return True
        has_lost = self._store.database.has_lost
        is_displaced = await asyncio.to_thread(has_lost, self._engine.host)
        self.displaced = DISPLACED if is_displaced else None
        return is_displaced

    async def _take_over(self) -> None:
        """The name of the host last: until it is here, this is done again."""
        runs = await self._store.read(run_records.launched_on, self._engine.host)
        if why := await asyncio.to_thread(self._why_not, runs):
            await asyncio.to_thread(hold, self._file.parent, why)
            return
        for run in runs:
            if not await asyncio.to_thread(self._engine.is_alive, run):
                await self._update(run.id, lambda made: made.taken_over(time.time()))
        await asyncio.to_thread(host_identity.keep, self._file, self._engine.host)
        holds.lift(self._file.parent, holds.RELEASED)
        self.is_one = False

    def _why_not(self, runs: list[Run]) -> str | None:
        """What shows that the original is not gone, whatever an operator believes."""
        for run in runs:
            if pids := self._engine.processes_elsewhere(run):
                return ALIVE.format(model=run.model_id, pid=pids[0])
        return None if self._store.database.claim(self._engine.host) else STILL_RUNS


async def is_one(data: Path) -> bool:
    """Whether a data directory is one, for whatever ends runs or gives them to others."""
    return await briefly(host_identity.is_copied, data / host_identity.FILE)


def hold_if_unreleased(data: Path) -> None:
    """Before a server does anything about the runs of a copy."""
    is_copy = host_identity.is_copied(data / host_identity.FILE)
    if is_copy and not holds.is_released(data) and holds.on_all(data) is None:
        hold(data, COPIED)


def hold(data: Path, why: str) -> None:
    log.warning("copy_on_hold", why=why)
    holds.put(data, holds.ALL, why)
    holds.lift(data, holds.RELEASED)
