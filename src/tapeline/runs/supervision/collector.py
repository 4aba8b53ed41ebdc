"""Reads the journals of runs as they grow, and stores their records."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable

import msgspec
from sqlalchemy import Connection

from tapeline import turns
from tapeline.background import Background
from tapeline.errors import Invalid, NoSuchModel, Unavailable
from tapeline.fair_line import Owner
from tapeline.logs import Log
from tapeline.runs import run as run_records
from tapeline.runs.engines.engine import Engine
from tapeline.runs.journals import late
from tapeline.runs.journals.journal import Chunk
from tapeline.runs.journals.meaning import Ending, RunUpdate
from tapeline.runs.journals.records import Record, unreadable
from tapeline.runs.run import Run
from tapeline.runs.supervision import collecting
from tapeline.runs.supervision.collecting import Taken
from tapeline.store.store import Store
from tapeline.tape import tapes
from tapeline.tape.append.appending import Appender
from tapeline.tape.append.quotas import Quotas
from tapeline.tape.append.watchers import Watchers
from tapeline.tape.backtest_results.staging import Stage, Staging
from tapeline.thread_pools import in_thread, threads

log = Log(__name__)

NAME = "journal"
READ_AT_ONCE = 200_000  # bytes in one commit
# While others push events, a commit is short and leaves the writer to them for a while. Otherwise
# each of their events would wait for a large commit of a model that prints as fast as it can.
BESIDE_OTHERS = 16_000  # bytes in one commit
RESTING = 0.02  # seconds after it
LASTING = 1.0  # seconds for which a push counts as "others push"


def _do_nothing() -> None:
    """The default of `on_change`."""


LINE = 20  # bytes per line in addition to its text, as the shim counts


class Collector:
    def __init__(
        self,
        store: Store,
        engine: Engine,
        appender: Appender,
        watchers: Watchers,
        staging: Staging,
        quotas: Quotas,
        background: Background,
    ) -> None:
        self.appender = appender
        self.on_change: Callable[[], None] = _do_nothing
        """A run changed its state."""
        self._store = store
        self._engine = engine
        self._watchers = watchers
        self._staging = staging
        self._quotas = quotas
        self._background = background
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._rung: set[str] = set()
        self._hurried: set[str] = set()
        """Runs that are gone: their next start waits until their journal is read."""
        self._troubles: dict[str, str] = {}
        self._threads = threads(4, "journals")

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def rung(self, names: set[str]) -> None:
        """These journals have grown."""
        for name in names - self._rung:  # one reader and one waiting task per run are enough
            self._rung.add(name)
            self._background.begin(NAME, self.collect(name), name)

    async def collect_last(self, run_id: str) -> None:
        """The same for a run that is gone, without rests: somebody waits for its end."""
        self._hurried.add(run_id)
        try:
            await self.collect(run_id)
        finally:
            self._hurried.discard(run_id)

    async def collect(self, run_id: str) -> None:
        """Store everything that is in its journal now."""
        async with self._locks[run_id]:
            self._rung.discard(run_id)  # later records ring again
            # Read inside the lock: its previous holder may have stored everything, and a run that
            # has ended has no folder.
            current = await self._store.read(run_records.find, run_id)
            while current is not None and current.ended_at is None:
                before, is_shared = current.journal, self._others_push()
                limit = BESIDE_OTHERS if is_shared else READ_AT_ONCE
                current = await self._collect_some(current, limit)
                is_full = current is not None and current.journal - before >= limit
                if is_shared and is_full and run_id not in self._hurried:
                    await asyncio.sleep(RESTING)
        if current is not None and current.ended_at is not None:
            self._locks.pop(run_id, None)
            self._troubles.pop(run_id, None)

    async def collect_late(self, run_id: str, last_seen: float | None) -> None:
        """What a run that was lost with its host printed there, now that the host is back."""
        async with self._locks[run_id]:
            current = await self._store.read(run_records.find, run_id)
            while current is not None and late.may_have_more(current):
                current = await self._collect_some(current, READ_AT_ONCE)
            done = self._store.write(collecting.close_late, self.appender, run_id, last_seen)
            self.announce(await done)
        self._locks.pop(run_id, None)

    def announce(self, taken: Taken) -> None:
        """From any thread, after the commit."""
        for news in taken.news:
            (log.warning if news.is_bad else log.info)(news.event, **news.facts)
        for one in taken.appended:
            if self._watchers.has_any(one.model_id):
                self._watchers.publish(one.model_id, one.records)

    async def update(self, run_id: str, fill: Callable[[RunUpdate], None]) -> None:
        """Record something about a run that is not in its journal."""

        def job(connection: Connection) -> Taken:
            return collecting.write(connection, self.appender, run_id, fill)

        self.announce(await self._store.write(job))

    def _others_push(self) -> bool:
        return time.monotonic() - self.appender.pushed_at < LASTING

    async def _collect_some(self, run: Run, limit_bytes: int) -> Run | None:
        """The run after that; None when there was nothing more."""
        chunk = await self._read(run, limit_bytes)
        await self._report_trouble(run, chunk.trouble)
        if not chunk.records and not chunk.lost:
            return None
        try:
            return await self._take(run, chunk)
        except (Unavailable, OSError):
            raise
        except Exception as error:  # noqa: BLE001 - about this journal, whatever it is
            self._background.kind(NAME).note(error, run.id)
        # One record cannot be stored: one by one, all others are.
        chunk = await self._read(run, 1)
        try:
            return await self._take(run, chunk)
        except (Unavailable, OSError):
            raise
        except Exception as error:  # noqa: BLE001 - about this record
            self._background.kind(NAME).note(error, run.id)
            return await self._take(run, _skipped(run, chunk))

    async def _take(self, run: Run, chunk: Chunk) -> Run | None:
        tape, held = await self._store.read(tapes.number_and_bytes, run.model_id)
        if run.ended_at is not None:
            return await self._take_late(run, self._within_quota(run, chunk, held))
        stage, ending = await self._ending(run, chunk, tape)
        chunk = self._within_quota(run, chunk, held)
        try:
            taken = await self._store.write(
                collecting.take, self.appender, run.id, run.journal, chunk, ending
            )
            if taken.run is not None:
                stage.keep()
        finally:
            await stage.discard()
        if taken.run is None:
            return await self._moved(run)
        self.announce(taken)
        if taken.run.state != run.state:
            self.on_change()
        return taken.run

    async def _take_late(self, run: Run, chunk: Chunk) -> Run | None:
        taken = await self._store.write(
            collecting.take_late, self.appender, run.id, run.journal, chunk
        )
        self.announce(taken)
        return await self._moved(run) if taken.run is None else taken.run

    async def _moved(self, run: Run) -> Run | None:
        """Nothing was taken, because the offset has moved: read again from there, unless the run
        has ended."""
        now = await self._store.read(run_records.find, run.id)
        return now if now is not None and now.journal != run.journal else None

    def _within_quota(self, run: Run, chunk: Chunk, held: int) -> Chunk:
        """The shim limits one run; this limits all runs of a model, and the size of the tape."""
        captured = self._quotas.captured
        size = sum(len(one.text) + LINE for one in chunk.records if one.state is None)
        if not size or (captured.wait(run.model_id, size) is None and held < self._quotas.total):
            captured.add(run.model_id, size)
            return chunk
        states = [one for one in chunk.records if one.state is not None]
        return msgspec.structs.replace(chunk, records=states, over=size)

    async def _read(self, run: Run, limit_bytes: int) -> Chunk:
        return await in_thread(self._threads, self._engine.read, run, run.journal, limit_bytes)

    async def _report_trouble(self, run: Run, trouble: str) -> None:
        """Once, and again after a restart: its output in between is not on the tape."""
        if not trouble:
            self._troubles.pop(run.id, None)
        elif self._troubles.get(run.id) != trouble:
            await self.update(run.id, lambda update: update.silenced(trouble, time.time()))
            self._troubles[run.id] = trouble

    async def _ending(self, run: Run, chunk: Chunk, tape: int) -> tuple[Stage, Ending | None]:
        stage = self._staging.begin(tape, Owner(turns.SERVER))
        if chunk.output is None:
            return stage, None
        ending, result = chunk.output.ending, chunk.output.result
        if result is None:
            return stage, ending
        try:
            stage.owner = await self._store.read(tapes.owner_of_run, run.model_id, run.id, tape)
            header = await stage.take_file(result, {"backtest_id": run.backtest_id})
        except NoSuchModel:
            return stage, None  # the model was deleted, and the run with it
        except Invalid as error:
            note = f"The backtest did not return a valid result: {error.message}"
            return stage, Ending(ending.successful, ending.summary, ending.details or note)
        except (Unavailable, OSError):
            raise
        except Exception as error:  # noqa: BLE001 - its end must be told whatever its result is
            self._background.kind(NAME).note(error, run.id)
            note = "The result of the backtest could not be stored. See the server's log."
            return stage, Ending(ending.successful, ending.summary, ending.details or note)
        return stage, Ending(
            ending.successful, ending.summary, ending.details, header, stage.newest
        )


def _skipped(run: Run, chunk: Chunk) -> Chunk:
    at = chunk.records[0].time if chunk.records else time.time()
    said: list[Record] = [unreadable(chunk.offset - run.journal - chunk.lost, "", at)]
    return msgspec.structs.replace(chunk, records=said)
