"""Carries out the supervisor's decisions, and has the journals of runs brought onto their tapes.

It keeps no state that matters in memory: rows, locks and journals are the truth, and after a crash
the next server reads them and goes on.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from tapeline.background import Background, cause_of, pause_after, threads
from tapeline.errors import (
    CannotInstall,
    CannotLaunch,
    CannotLaunchNow,
    CannotPrepareNow,
    Problem,
)
from tapeline.logs import Log
from tapeline.runs import last_seen
from tapeline.runs import run as run_records
from tapeline.runs.engines.engine import Engine, Job
from tapeline.runs.holding import holds
from tapeline.runs.holding.server_holds import ServerHolds
from tapeline.runs.journals.meaning import RunUpdate
from tapeline.runs.run import Run
from tapeline.runs.supervision import desired, late_endings, launching, supervisor, unfinished
from tapeline.runs.supervision.collector import Collector
from tapeline.runs.supervision.install_places import InstallPlaces
from tapeline.runs.supervision.install_progress import InstallProgress
from tapeline.runs.supervision.installations import Installations
from tapeline.runs.supervision.looking import Look, look
from tapeline.runs.supervision.rescheduling import Rescheduling
from tapeline.runs.supervision.supervisor import Action, Seen, View
from tapeline.runs.unreleased_copy import Copy
from tapeline.store.encryption import Cipher
from tapeline.store.store import Store

log = Log(__name__)

T = TypeVar("T")

NAME = "supervisor"
TICK = 2.0  # seconds between polls for changes without a bell: by other servers, or silent deaths
WITHIN = 15.0  # seconds that a turn may take
READ_ALL_EVERY = 10.0
FORGET_EVERY = 1.0
LAUNCHES_COUNT_FOR = 600.0
RETRY = 1.0


class Executor:
    def __init__(
        self,
        store: Store,
        engine: Engine,
        collector: Collector,
        cipher: Cipher,
        background: Background,
        *,
        slots: int,
        grace: float,
        server_holds: ServerHolds,
        copy: Copy,
        pythons: Collection[str] | None = None,
    ) -> None:
        self._store = store
        self._copy, self._pythons = copy, pythons
        self._server_holds = server_holds
        self._holds: Mapping[str, holds.Hold] = {}
        self._engine = engine
        self._collector = collector
        self._cipher = cipher
        self._slots, self._grace = slots, grace
        self._rescheduling = Rescheduling(store)
        self._read_all_at = -READ_ALL_EVERY
        self._forgot_at = -FORGET_EVERY
        self._busy: set[str] = set()
        self._known = unfinished.NOTHING
        self._preparing: set[str] = set()
        self._jobs: dict[str, Job] = {}
        self._problems: dict[str, str] = {}
        self._troubles: dict[str, str] = {}
        self._stopping: dict[str, float] = {}
        self._launches: defaultdict[str, list[float]] = defaultdict(list)
        self._read_out: dict[str, int | None] = {}
        self._setbacks: defaultdict[str, int] = defaultdict(int)
        self.installations = Installations(engine, InstallPlaces())
        # Separate pools: a stop takes seconds and must not delay the checks of all other runs.
        self._threads = threads(8, "engine")
        self._looking = threads(2, "looking")
        self._unseen: dict[str, Exception] = {}
        self._is_closing = False
        self._background = background
        self._runs = background.kind("run")
        self._work = background.loop(NAME, self._turn, every=TICK, within=WITHIN, essential=True)
        collector.on_change = self.wake

    def trouble(self) -> str | None:
        """Why nothing can be done about any run at the moment."""
        lost = self._copy.displaced
        return lost or self._engine.trouble() or self._background.trouble(NAME)

    def trouble_with(self, run_id: str) -> str | None:
        """Why nothing can be done about this run at the moment."""
        error = self._unseen.get(run_id)
        return None if error is None else f"this run cannot be checked ({cause_of(error)})"

    def wake(self) -> None:
        """The desired state or the state of a run changed."""
        self._work.wake()

    async def stop_all(self) -> None:
        """Stop everything on this host; the desired states stay for the next start."""
        self._is_closing = True
        if self._copy.is_one:
            return
        runs = [run for run in await self._unfinished() if self._is_ours(run)]
        await self._each(runs, lambda run: self._in_thread(self._engine.stop, run))
        deadline = time.monotonic() + self._grace + supervisor.STUBBORN_AFTER
        while runs and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
            found = await self._in_thread(self._look, runs, False)
            runs = [run for run in runs if found.alive.get(run.id)]
        left = [run for run in await self._unfinished() if self._is_ours(run)]
        await self._each(left, lambda run: self._collector.collect(run.id))

    def close(self) -> None:
        self.installations.close()
        for pool in (self._threads, self._looking):
            pool.shutdown(wait=False, cancel_futures=True)

    # One turn

    async def _turn(self) -> None:
        if self._is_closing:
            return
        self.installations.rotate()
        self._holds = await self._in_thread(self._server_holds.all, pool=self._looking)
        if await self._copy.leaves_runs_alone(self._holds):
            return
        if time.monotonic() - self._forgot_at > FORGET_EVERY:
            await self._clear_unknown()
            self._forgot_at = time.monotonic()
        # A run that is being started may be seen without a lock below, and be up before we decide:
        # it is not lost.
        busy = set(self._busy)
        await self._record_stops()
        now = await self._rescheduling.turn()
        runs = await self._unfinished()
        is_time = time.monotonic() - self._read_all_at > READ_ALL_EVERY
        if is_time:
            self._read_all_at = time.monotonic()
        found = await self._in_thread(self._look, runs, is_time, pool=self._looking)
        # Nearly every live run has rung the bell, except those that wrote while no server ran.
        self._collector.rung(found.unread)
        self._unseen = found.unknown
        self._read_last_words(runs, found, busy)
        view = self._view(now, runs, found.alive, busy | self._busy | found.unknown.keys())
        for action in supervisor.decide(view, lambda run, error: self._runs.note(error, run.id)):
            # Preparing takes minutes and can be cancelled; other actions run one at a time.
            doing = self._preparing if isinstance(action, supervisor.Prepare) else self._busy
            self._begin(action.run.id, self._carry_out(action), doing)

    async def _record_stops(self) -> None:
        """What was stopped on this machine stays stopped, now that the store knows it."""
        for name in self._holds.keys() - {holds.ALL}:
            why = self._holds[name].why
            if await self._store.write(desired.stop_here, name, why):
                log.info("stop_recorded", stopped=name, why=why)
            try:
                await self._in_thread(self._server_holds.lift, name)
            except OSError as error:  # it stays stopped, and all others are supervised
                self._runs.note(error, name)

    def _read_last_words(self, runs: list[Run], found: Look, busy: set[str]) -> None:
        """Check first, read after: the journal of a launch that is gone must be read to its end
        before anything is decided about it. Other runs do not wait for that."""
        for run in runs:
            is_gone = found.alive.get(run.id) is False and run.id not in busy | self._busy
            if is_gone and self._read_out.get(run.id) != run.fence:
                self._begin(run.id, self._read_all(run), self._busy)

    async def _read_all(self, run: Run) -> None:
        await self._collector.collect_last(run.id)
        self._read_out[run.id] = run.fence

    def _view(self, now: float, runs: list[Run], alive: dict[str, bool], busy: set[str]) -> View:
        ticks = time.monotonic()
        seen = {}
        for run in runs:
            launches = [at for at in self._launches[run.id] if ticks - at < LAUNCHES_COUNT_FOR]
            self._launches[run.id] = launches
            stopping = self._stopping.get(run.id)
            seen[run.id] = Seen(
                # Launched since the check: the next turn will see it.
                alive=alive.get(run.id, run.is_launched),
                busy=run.id in busy,
                preparing=run.id in self._preparing,
                prepared=run.id in self._jobs,
                problem=self._problems.get(run.id),
                trouble=self._troubles.get(run.id),
                stopping_for=None if stopping is None else ticks - stopping,
                recent_launches=len(launches),
            )
        return View(
            host=self._engine.host,
            now=now,
            slots=self._slots,
            grace=self._grace,
            runs=runs,
            projects=self._known.projects,
            tenants=self._known.tenants,
            seen=seen,
            holds=self._holds.keys(),
            is_drained=self._known.is_drained,
            pythons=self._pythons,
        )

    async def _unfinished(self) -> list[Run]:
        self._known = await self._store.read(unfinished.read, self._slots, self._engine.host)
        return self._known.runs

    def _look(self, runs: list[Run], at_journals: bool) -> Look:
        """In a thread."""
        return look(self._engine, filter(self._is_ours, runs), at_journals, self._runs)

    def _is_ours(self, run: Run) -> bool:
        return run.is_launched and run.host == self._engine.host

    async def _clear_unknown(self) -> None:
        """Remove what is left of runs that have ended, or whose model was deleted."""
        known = await self._in_thread(self._engine.known, pool=self._looking)
        preparing = set(self._preparing)
        known -= self._busy | preparing
        if not known | preparing:
            return
        open_ones = await self._store.read(run_records.open_among, known | preparing)
        for deleted in preparing - open_ones:
            self.installations.cancel(deleted)
        for run_id in known - open_ones:
            self._forget(run_id)
            self._begin(run_id, self._clear(run_id), self._busy)

    async def _clear(self, run_id: str) -> None:
        async with late_endings.noted(self._store, self._engine, self._collector.appender, run_id):
            await self._in_thread(self._engine.clear, run_id)

    # Carrying out

    def _begin(self, run_id: str, act: Coroutine[Any, Any, Any], doing: set[str]) -> None:
        """Many runs in parallel; `doing` holds a run until its action is done."""
        doing.add(run_id)

        async def carry() -> None:
            try:
                await act
            except Exception as error:  # noqa: BLE001 - about this run, and no other waits for it
                self._runs.note(error, run_id)
                self._setbacks[run_id] += 1
                await asyncio.sleep(pause_after(self._setbacks[run_id], TICK))
            else:
                self._setbacks.pop(run_id, None)
            finally:
                doing.discard(run_id)
                self.wake()

        self._background.begin("run", carry(), run_id)

    async def _carry_out(self, action: Action) -> None:
        run = action.run
        match action:
            case supervisor.Prepare():
                await self._prepare(run)
            case supervisor.Start():
                await self._start(run)
            case supervisor.Stop():
                self._stopping[run.id] = time.monotonic()
                await self._update(run, lambda update: self._stopping_now(update, run))
                await self._in_thread(self._engine.stop, run)
            case supervisor.Cancel():
                self._stopping[run.id] = time.monotonic()
                self.installations.cancel(run.id)
            case supervisor.Kill():
                await self._in_thread(lambda: self._engine.stop(run, now=True))
            case supervisor.Move():
                await self._store.write(desired.succeed, run)
            case supervisor.Replace(successor=successor):
                await self._store.write(desired.replace, run, successor)
            case supervisor.Relaunch():
                seen = await last_seen.find(self._store, self._engine, run)
                await self._update(run, lambda update: update.relaunching(seen, time.time()))
            case supervisor.End(state=state, reason=reason):
                await self._end(run, state, reason)

    def _stopping_now(self, update: RunUpdate, run: Run) -> None:
        update.changes["state"] = "stopping"
        if run.desired == "running" and (hold := self._holds.get(holds.ALL)):
            update.line(f"Stopped, because this server is {hold.sentence()}", "system", time.time())

    async def _prepare(self, run: Run) -> None:
        claimed = await self._store.write(launching.claim, run, self._engine.host)
        if not claimed:
            return
        if run.launches == 0 and run.state == "pending":
            await self._update(run, lambda update: update.lifecycle("Deploying", time.time()))
        job = await self._store.read(launching.job_of, run.id)
        if job is None:
            return
        progress = InstallProgress(self._store, self._collector, run.id)
        try:
            prepared = await self.installations.prepare(job, progress)
        except CannotInstall as error:
            await self._in_thread(progress.because, error.message)
            self._stopping.pop(run.id, None)
            if not progress.is_cancelled():
                self._problems[run.id] = error.message
            return
        except CannotPrepareNow as error:
            await self._log_wait(run, error)
            raise
        if job.version.lock != prepared.lock:
            await self._store.write(launching.remember_lock, job.version, prepared.lock)
        self._jobs[run.id] = job

    async def _start(self, run: Run) -> None:
        job, now = self._jobs[run.id], time.monotonic()
        # Once more: an operator may have put it on hold since this turn began.
        if holds.covers(await self._in_thread(self._server_holds.all), run.lock_name):
            return
        self._stopping.pop(run.id, None)  # that was the launch before
        by, confinement, launched = self._engine.host, self._engine.confinement, run
        try:
            raised = await self._store.write(
                launching.raise_fence, self._cipher, job, by, confinement
            )
            if raised is None:
                return
            launched, given = raised
            await self._in_thread(self._engine.start, launching.of(job, launched), given)
        except CannotLaunchNow as error:
            # The host's fault: it is retried without a limit, and does not count as a crash.
            await self._store.write(launching.withdraw, launched)
            await self._log_wait(run, error)
            raise
        except CannotLaunch as error:
            log.error("run_not_launched", run=run.id, reason=error.message)
            self._launches[run.id].append(now)
            self._troubles[run.id] = error.message
            await self._store.write(launching.withdraw, launched)
            await asyncio.sleep(RETRY)
        else:
            self._launches[run.id].append(now)

    async def _log_wait(self, run: Run, error: Problem) -> None:
        """Once for each reason."""
        if self._troubles.get(run.id) != error.message:
            self._troubles[run.id] = error.message
            line = f"The server cannot start it now and will retry: {error.message}"
            await self._update(run, lambda update: update.line(line, "system", time.time()))

    async def _end(self, run: Run, state: run_records.State, reason: str) -> None:
        seen = await last_seen.find(self._store, self._engine, run)
        at = seen if run.is_launched else time.time()

        def fill(update: RunUpdate) -> None:
            if state == "failed":
                update.failed(reason, at)
            else:
                update.gave_up(state, reason, at)

        await self._update(run, fill)
        self._forget(run.id)

    def _forget(self, run_id: str) -> None:
        memories: tuple[dict[str, Any], ...] = (
            self._jobs, self._problems, self._troubles, self._stopping, self._launches,
            self._read_out, self._setbacks,
        )  # fmt: skip
        for memory in memories:
            memory.pop(run_id, None)

    async def _update(self, run: Run, fill: Callable[[RunUpdate], None]) -> None:
        await self._collector.update(run.id, fill)

    async def _each(self, runs: list[Run], act: Callable[[Run], Awaitable[None]]) -> None:
        """For all of them, even if one fails."""
        ended = await asyncio.gather(*map(act, runs), return_exceptions=True)
        for run, error in zip(runs, ended, strict=True):
            if isinstance(error, Exception):
                self._runs.note(error, run.id)

    async def _in_thread(
        self, act: Callable[..., T], *args: Any, pool: ThreadPoolExecutor | None = None
    ) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(pool or self._threads, act, *args)
