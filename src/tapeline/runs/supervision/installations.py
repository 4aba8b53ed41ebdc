"""Prepares runs: immediately where nothing has to be installed, otherwise when there is a place.

Called from the event loop. The work is done in threads, of which no tenant can take all, nor for
ever: an installation that had its slice of time begins again later (`install_places.py`).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import TypeVar

from tapeline.errors import CannotInstall
from tapeline.runs.engines.engine import Engine, Job, NeedsInstalling, Prepared
from tapeline.runs.engines.installing import STOPPED
from tapeline.runs.supervision.install_places import InstallPlaces, Queue
from tapeline.runs.supervision.install_progress import InstallProgress
from tapeline.thread_pools import in_thread, threads

T = TypeVar("T")


class Installations:
    def __init__(self, engine: Engine, places: InstallPlaces) -> None:
        self._engine = engine
        self._places = places
        self._under_way: dict[str, InstallProgress] = {}
        self._waiting: dict[str, asyncio.Event] = {}
        # What needs no installation never queues behind what does.
        self._quick = threads(4, "preparing")
        self._slow = threads(places.most, "installing")

    async def prepare(self, job: Job, progress: InstallProgress) -> Prepared:
        run_id = job.run.id
        self._under_way[run_id] = progress
        try:
            return await in_thread(self._quick, self._engine.prepare, job, None)
        except NeedsInstalling as needed:
            if needed.at_once:
                return await in_thread(self._quick, self._engine.prepare, job, progress)
            return await self._install(job, progress)
        finally:
            del self._under_way[run_id]

    def rotate(self) -> None:
        """Call it every few seconds: end an installation whose place somebody else should have."""
        if run_id := self._places.overdue():
            self._under_way[run_id].put_back()

    def cancel(self, run_id: str) -> None:
        """End the installation of this run wherever it is; `prepare` raises CannotInstall."""
        if progress := self._under_way.get(run_id):
            progress.cancel()
        if admitted := self._waiting.get(run_id):
            admitted.set()

    def queue(self) -> Queue:
        return self._places.queue()

    def close(self) -> None:
        """End all of them, with their processes. The next start installs again."""
        self._engine.close()
        for pool in (self._quick, self._slow):
            pool.shutdown(wait=False, cancel_futures=True)

    async def _install(self, job: Job, progress: InstallProgress) -> Prepared:
        for slices in count():
            try:
                async with self._place(job, progress, slices):
                    return await in_thread(self._slow, self._engine.prepare, job, progress)
            except CannotInstall:
                if not progress.begins_again():
                    raise
        raise AssertionError  # the count has no end

    @asynccontextmanager
    async def _place(self, job: Job, progress: InstallProgress, slices: int) -> AsyncIterator[None]:
        run_id = job.run.id
        admitted = self._waiting[run_id] = asyncio.Event()
        try:
            self._places.ask(run_id, job.project_id, job.tenant, slices)
            self._admit()
            if slices or not admitted.is_set():
                await in_thread(self._quick, progress.waiting, slices)
                await admitted.wait()
            if progress.is_cancelled():
                raise CannotInstall(STOPPED)
            yield
        finally:
            del self._waiting[run_id]
            self._places.leave(run_id)
            self._admit()

    def _admit(self) -> None:
        for run_id in self._places.admit():
            self._waiting[run_id].set()
