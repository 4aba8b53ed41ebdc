"""Carries out what was decided about one run, and remembers what the next decision needs."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from tapeline.errors import (
    CannotInstall,
    CannotLaunch,
    CannotLaunchNow,
    CannotPrepareNow,
    Problem,
)
from tapeline.logs import Log
from tapeline.runs import run as run_records
from tapeline.runs.engines.engine import Engine, Job
from tapeline.runs.holding import holds
from tapeline.runs.holding.holds import Hold
from tapeline.runs.holding.server_holds import ServerHolds
from tapeline.runs.journals.meaning import RunUpdate
from tapeline.runs.run import Run
from tapeline.runs.supervision import desired, last_seen, launching, supervisor
from tapeline.runs.supervision.collector import Collector
from tapeline.runs.supervision.install_progress import InstallProgress
from tapeline.runs.supervision.installations import Installations
from tapeline.runs.supervision.supervisor import Action, Seen
from tapeline.store.encryption import Cipher
from tapeline.store.store import Store
from tapeline.thread_pools import in_thread

log = Log(__name__)

T = TypeVar("T")

FAILURES_COUNT_FOR = 600.0
RETRY = 1.0


class Ready(NamedTuple):
    """A run that can be launched."""

    job: Job
    host: str
    confinement: str


@dataclass
class Memory:
    """Of runs, by their id. A server that forgets it prepares them again, and asks again. It is
    right for as long as no other server decides about them."""

    ready: dict[str, Ready] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    troubles: dict[str, str] = field(default_factory=dict)
    stopping: dict[str, float] = field(default_factory=dict)
    failures: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    answered: dict[str, int | None] = field(default_factory=dict)
    """The fence of the newest launch that its host has confirmed."""

    def seen(self, run: Run, *, alive: bool, busy: bool, preparing: bool) -> Seen:
        ticks = time.monotonic()
        failures = [at for at in self.failures[run.id] if ticks - at < FAILURES_COUNT_FOR]
        self.failures[run.id] = failures
        stopping, ready = self.stopping.get(run.id), self.ready.get(run.id)
        return Seen(
            alive=alive,
            busy=busy,
            preparing=preparing,
            # The row may have been read just before its host claimed it.
            prepared=ready is not None and run.host in (None, ready.host),
            problem=self.problems.get(run.id),
            trouble=self.troubles.get(run.id),
            stopping_for=None if stopping is None else ticks - stopping,
            recent_failures=len(failures),
        )

    def forget(self, run_id: str) -> None:
        memories: tuple[dict[str, Any], ...] = (
            self.ready, self.problems, self.troubles, self.stopping, self.failures, self.answered,
        )  # fmt: skip
        for one in memories:
            one.pop(run_id, None)


class CarryingOut:
    def __init__(
        self,
        store: Store,
        engine: Engine,
        collector: Collector,
        cipher: Cipher,
        server_holds: ServerHolds,
        installations: Installations,
        pool: ThreadPoolExecutor,
        lease: float | None,
    ) -> None:
        self.memory = Memory()
        self._store = store
        self._engine = engine
        self._collector = collector
        self._cipher = cipher
        self._server_holds = server_holds
        self._installations = installations
        self._pool = pool
        self._lease = lease

    async def carry_out(self, action: Action, on_hold: Hold | None) -> None:
        """Everything but a preparation, which needs a host first. `on_hold` is why nothing may run
        now, if that is so."""
        run = action.run
        match action:
            case supervisor.Start():
                await self._start(run)
            case supervisor.Stop():
                self.memory.stopping[run.id] = time.monotonic()
                await self._update(run, lambda update: _stopping(update, run, on_hold))
                await in_thread(self._pool, self._engine.stop, run)
            case supervisor.Cancel():
                self.memory.stopping[run.id] = time.monotonic()
                self._installations.cancel(run.id)
            case supervisor.Kill():
                await in_thread(self._pool, lambda: self._engine.stop(run, now=True))
            case supervisor.Move():
                await self._store.write(desired.succeed, run)
            case supervisor.Replace(successor=successor):
                await self._store.write(desired.replace, run, successor)
            case supervisor.Relaunch():
                await self._relaunch(run)
            case supervisor.End(state=state, reason=reason):
                await self._end(run, state, reason)

    async def prepare(self, run: Run, host: str) -> None:
        memory = self.memory  # of this term: an installation may take longer than that
        claimed = await self._store.write(launching.claim, run, host)
        if not claimed:
            return
        if run.launches == 0 and run.state == "pending":
            await self._update(run, lambda update: update.lifecycle("Deploying", time.time()))
        job = await self._store.read(launching.job_of, run.id)
        if job is None:
            return
        progress = InstallProgress(self._store, self._collector, run.id)
        try:
            prepared = await self._installations.prepare(job, progress)
        except CannotInstall as error:
            await in_thread(self._pool, progress.because, error.message)
            memory.stopping.pop(run.id, None)
            if not progress.is_cancelled():
                memory.problems[run.id] = error.message
            return
        except CannotPrepareNow as error:
            await self._log_wait(run, error)
            await self._let_others_try(run)
            raise
        if job.version.lock != prepared.lock:
            await self._store.write(launching.remember_lock, job.version, prepared.lock)
        memory.ready[run.id] = Ready(job, host, prepared.confinement)

    async def _start(self, run: Run) -> None:
        memory = self.memory
        ready = memory.ready[run.id]
        # Once more: an operator may have put it on hold since this turn began.
        if holds.covers(await in_thread(self._pool, self._server_holds.all), run.lock_name):
            return
        memory.stopping.pop(run.id, None)  # that was the launch before
        launched = run
        try:
            raised = await self._store.write(
                launching.raise_fence,
                self._cipher,
                ready.job,
                ready.host,
                ready.confinement,
                self._lease,
            )
            if raised is None:
                if run.host is None:  # it was given back: any host may prepare it
                    memory.ready.pop(run.id, None)
                return
            launched, given = raised
            await in_thread(
                self._pool, self._engine.start, launching.of(ready.job, launched), given
            )
        except CannotLaunchNow as error:
            # The host's fault: it is retried without a limit, and does not count as a crash.
            await self._store.write(launching.withdraw, launched)
            await self._log_wait(run, error)
            await self._let_others_try(run)
            raise
        except CannotLaunch as error:
            log.error("run_not_launched", run=run.id, reason=error.message)
            memory.failures[run.id].append(time.monotonic())
            memory.troubles[run.id] = error.message
            await self._store.write(launching.withdraw, launched)
            await asyncio.sleep(RETRY)
        else:
            memory.answered[run.id] = launched.fence

    async def _relaunch(self, run: Run) -> None:
        memory, seen = self.memory, await last_seen.find(self._store, self._engine, run)
        await self._update(run, lambda update: update.relaunching(seen, time.time()))
        # A start that nobody has answered is not the run's fault.
        if not run.is_unstarted or memory.answered.get(run.id) == run.fence:
            memory.failures[run.id].append(time.monotonic())

    async def _let_others_try(self, run: Run) -> None:
        """Where there are others: a run with a lease may start on any node."""
        if self._lease is not None:
            self.memory.ready.pop(run.id, None)
            await self._store.write(launching.give_back, run)

    async def _log_wait(self, run: Run, error: Problem) -> None:
        """Once for each reason."""
        if self.memory.troubles.get(run.id) != error.message:
            self.memory.troubles[run.id] = error.message
            line = f"The server cannot start it now and will retry: {error.message}"
            await self._update(run, lambda update: update.line(line, "system", time.time()))

    async def _end(self, run: Run, state: run_records.State, reason: str) -> None:
        at = time.time()
        if run.is_launched:
            at = await last_seen.find(self._store, self._engine, run)

        def fill(update: RunUpdate) -> None:
            if state == "failed":
                update.failed(reason, at)
            else:
                update.gave_up(state, reason, at)

        await self._update(run, fill)
        self.memory.forget(run.id)

    async def _update(self, run: Run, fill: Callable[[RunUpdate], None]) -> None:
        await self._collector.update(run.id, fill)


def _stopping(update: RunUpdate, run: Run, hold: Hold | None) -> None:
    update.changes["state"] = "stopping"
    if run.desired == "running" and hold is not None:
        update.line(f"Stopped, because this server is {hold.sentence()}", "system", time.time())
