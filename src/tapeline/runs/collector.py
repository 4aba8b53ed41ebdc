"""Reads the journals of this host's runs as they grow, and stores what they say."""

import asyncio
import os
import socket
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from tapeline.errors import Invalid, Problem
from tapeline.logs import Log
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

log = Log(__name__)

BELL = "bell"
LONGEST_NAME = 256


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
        self._collecting: set[asyncio.Task[None]] = set()
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="journals")

    async def listen(self, folder: Path) -> None:
        """Shims ring when their journals grow. Until cancelled."""
        loop = asyncio.get_running_loop()
        with _bell(folder) as bell:
            loop.add_reader(bell, self._answer, bell)
            try:
                await asyncio.Event().wait()
            finally:
                loop.remove_reader(bell)
                for task in self._collecting:
                    task.cancel()
                await asyncio.gather(*self._collecting, return_exceptions=True)
                self._threads.shutdown(wait=False, cancel_futures=True)

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

    # The bell

    def _answer(self, bell: socket.socket) -> None:
        names = set()
        with suppress(BlockingIOError):
            while True:
                names.add(bell.recv(LONGEST_NAME).decode(errors="replace"))
        for name in names - self._rung:  # of each, one that reads and one that waits are enough
            self._rung.add(name)
            task = asyncio.create_task(self._collect_rung(name))
            self._collecting.add(task)
            task.add_done_callback(self._collecting.discard)

    async def _collect_rung(self, name: str) -> None:
        try:
            await self.collect(name)
        except Problem as problem:
            log.error("journal_not_stored", run=name, reason=problem.message)


def _bell(folder: Path) -> socket.socket:
    """A datagram socket in the folder, whatever the length of the folder's name."""
    (folder / BELL).unlink(missing_ok=True)
    bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    bell.setblocking(False)
    descriptor = os.open(folder, os.O_PATH)
    try:
        bell.bind(f"/proc/self/fd/{descriptor}/{BELL}")
    finally:
        os.close(descriptor)
    return bell
