"""Reads the journals of this host's runs as they grow, and stores what they say."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tapeline.background import Background
from tapeline.errors import Invalid
from tapeline.runs import collect
from tapeline.runs import run as run_records
from tapeline.runs.collect import Taken
from tapeline.runs.engine import Engine
from tapeline.runs.journal import Chunk
from tapeline.runs.run import Run
from tapeline.runs.story import Ending
from tapeline.store.store import Store
from tapeline.tape.append import Appender
from tapeline.tape.staging import Stage, Staging
from tapeline.tape.watchers import Watchers


def _nobody() -> None:
    """Until somebody wants to know."""


class Collector:
    def __init__(
        self,
        store: Store,
        engine: Engine,
        appender: Appender,
        watchers: Watchers,
        staging: Staging,
        background: Background,
    ) -> None:
        self.appender = appender
        self.on_change: Callable[[], None] = _nobody
        """A run changed its state."""
        self._store = store
        self._engine = engine
        self._watchers = watchers
        self._staging = staging
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._rung: set[str] = set()
        self._background = background
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="journals")

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def rung(self, names: set[str]) -> None:
        """These journals have grown."""
        for name in names - self._rung:  # of each, one that reads and one that waits are enough
            self._rung.add(name)
            self._background.begin("journal", self.collect(name), name)

    async def collect(self, run_id: str) -> None:
        """Store all that its journal says by now."""
        async with self._locks[run_id]:
            self._rung.discard(run_id)  # what comes from now on rings anew
            # Read in here: whoever held the lock before may have stored all of it, and a run that
            # has ended has no folder any more.
            current = await self._store.read(run_records.find, run_id)
            while current is not None and current.ended_at is None:
                current = await self._collect_some(current)
        if current is not None and current.ended_at is not None:
            self._locks.pop(run_id, None)

    def announce(self, taken: Taken) -> None:
        """From any thread, after the commit."""
        for one in taken.appended:
            if self._watchers.are_there(one.model_id):
                self._watchers.tell(one.model_id, one.records)

    async def _collect_some(self, run: Run) -> Run | None:
        """The run as it is then; None when there was no more."""
        loop = asyncio.get_running_loop()
        chunk = await loop.run_in_executor(self._threads, self._engine.read, run, run.journal)
        if not chunk.records and not chunk.lost:
            return None
        stage, ending = await self._ending(run, chunk)
        try:
            taken = await self._store.write(
                collect.take, self.appender, run.id, run.journal, chunk, ending
            )
            if taken.run is not None:
                stage.keep()
        finally:
            await stage.discard()
        if taken.run is None:
            # Not where we thought: another look tells where, or that it has ended.
            now = await self._store.read(run_records.find, run.id)
            return now if now is not None and now.journal != run.journal else None
        self.announce(taken)
        if taken.run.state != run.state:
            self.on_change()
        return taken.run

    async def _ending(self, run: Run, chunk: Chunk) -> tuple[Stage, Ending | None]:
        stage = self._staging.begin(0)
        finished = any(one.state and one.state.get("event") == "finished" for one in chunk.records)
        if run.backtest_id is None or not finished:
            return stage, None
        loop = asyncio.get_running_loop()
        left = await loop.run_in_executor(self._threads, self._engine.ending, run)
        if left.result is None:
            return stage, left.ending
        try:
            header = await stage.take_file(left.result, {"backtest_id": run.backtest_id})
        except Invalid as error:
            note = f"What the backtest returned is not a result: {error.message}"
            return stage, Ending(
                left.ending.successful, left.ending.summary, left.ending.details or note
            )
        ending = left.ending
        return stage, Ending(
            ending.successful, ending.summary, ending.details, header, stage.newest
        )
