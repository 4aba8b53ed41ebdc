"""Turns of supervision: what was decided is carried out, and journals are brought onto their tapes.

It keeps no state that matters in memory: rows, locks and journals are the truth, and after a crash
the next server reads them and goes on.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

from tapeline.background import Background, cause_of, pause_after
from tapeline.errors import Problem
from tapeline.leading import LeadsNoMore
from tapeline.logs import Log
from tapeline.runs import run as run_records
from tapeline.runs.engines.engine import Engine, NotSeenYet, Sights
from tapeline.runs.holding import holds
from tapeline.runs.holding.holds import Hold
from tapeline.runs.holding.server_holds import ServerHolds
from tapeline.runs.run import Run
from tapeline.runs.supervision import desired, late_endings, supervisor, unfinished
from tapeline.runs.supervision.carrying_out import CarryingOut, Memory
from tapeline.runs.supervision.collector import Collector
from tapeline.runs.supervision.install_places import InstallPlaces
from tapeline.runs.supervision.installations import Installations
from tapeline.runs.supervision.rescheduling import Rescheduling
from tapeline.runs.supervision.supervisor import View
from tapeline.runs.unreleased_copy import Copy
from tapeline.store.encryption import Cipher
from tapeline.store.store import Store
from tapeline.thread_pools import in_thread, threads

log = Log(__name__)

T = TypeVar("T")

NAME = "supervisor"
TICK = 2.0  # seconds between polls for changes without a bell: by other servers, or silent deaths
WITHIN = 15.0  # seconds that a turn may take
FORGET_EVERY = 1.0
PASSED_OVER_FOR = 10.0  # seconds that a backtest which no host could take leaves its slot to others


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
        copy: Copy | None = None,
        lease: float | None = None,
        once: bool = False,
    ) -> None:
        """`copy` is there if the data directory may be one. `lease` is for how many seconds a
        launch may live without a renewal. With `once`, only the server that leads takes turns."""
        self._store = store
        self._copy = copy
        self._server_holds = server_holds
        self._holds: Mapping[str, Hold] = {}
        self._engine = engine
        self._collector = collector
        self.slots, self._grace, self._lease = slots, grace, lease
        self._rescheduling = Rescheduling(store)
        self._forgot_at = -FORGET_EVERY
        self._busy: set[str] = set()
        self._known = unfinished.NOTHING
        self._preparing: set[str] = set()
        self._passed_over: dict[str, float] = {}
        self._read_out: dict[str, int | None] = {}
        self._setbacks: defaultdict[str, int] = defaultdict(int)
        self.installations = Installations(engine, InstallPlaces())
        # Separate pools: a stop takes seconds and must not delay the checks of all other runs.
        self._threads = threads(8, "engine")
        self._looking = threads(2, "looking")
        self._acts = CarryingOut(
            store,
            engine,
            collector,
            cipher,
            server_holds,
            self.installations,
            self._threads,
            lease,
        )
        self._unseen: dict[str, Exception] = {}
        self._is_closing = False
        self._background = background
        self._term = background.term()
        self._runs = background.kind("run")
        self._work = background.loop(
            NAME, self._turn, every=TICK, within=WITHIN, essential=True, once=once
        )
        collector.on_change = self.wake

    def trouble(self) -> str | None:
        """Why nothing can be done about any run at the moment."""
        lost = None if self._copy is None else self._copy.displaced
        return lost or self._engine.trouble() or self._background.trouble(NAME)

    def trouble_with(self, run_id: str) -> str | None:
        """Why nothing can be done about this run at the moment."""
        error = self._unseen.get(run_id)
        return None if error is None else f"this run cannot be checked ({cause_of(error)})"

    def wake(self) -> None:
        """The desired state or the state of a run changed."""
        self._work.wake()

    async def stop_all(self) -> None:
        """Stop everything on our hosts; the desired states stay for the next start."""
        self._is_closing = True
        if self._copy is not None and self._copy.is_one:
            return
        runs = await self._launched()
        await self._each(runs, lambda run: in_thread(self._threads, self._engine.stop, run))
        deadline = time.monotonic() + self._grace + supervisor.STUBBORN_AFTER
        while runs and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
            try:
                found = await in_thread(self._threads, self._engine.look, runs)
            except OSError as error:
                self._runs.note(error)  # nothing can be seen; the next start finds them
                break
            runs = [run for run in runs if run.id in found.of and found.of[run.id].alive]
        await self._each(await self._launched(), lambda run: self._collector.collect(run.id))

    def close(self) -> None:
        self.installations.close()
        for pool in (self._threads, self._looking):
            pool.shutdown(wait=False, cancel_futures=True)

    # One turn

    async def _turn(self) -> None:
        if self._is_closing:
            return
        self._forget_earlier_term()
        self.installations.rotate()
        self._holds = await in_thread(self._looking, self._server_holds.all)
        if self._copy is not None and await self._copy.leaves_runs_alone(self._holds):
            return
        # A run that is being started may be seen without a lock below, and be up before we decide:
        # it is not lost.
        busy = set(self._busy)
        await self._record_stops()
        now = await self._rescheduling.turn()
        runs = await self._unfinished()
        found = await self._look(runs)
        if await self._record_stops_on_hosts(runs, found):
            self.wake()
            return  # what has just ended must not start anywhere
        if time.monotonic() - self._forgot_at > FORGET_EVERY:
            await self._clear_unknown(found.left)
            self._forgot_at = time.monotonic()
        # Nearly every live run has rung the bell, except those that wrote while no server ran.
        self._collector.rung({name for name, one in found.of.items() if one.unread})
        self._read_last_words(runs, found, busy)
        view = self._view(now, runs, found, busy | self._busy | found.unknown.keys())
        unplaced = []
        for action in supervisor.decide(view, lambda run, error: self._runs.note(error, run.id)):
            if not isinstance(action, supervisor.Prepare):
                act = self._acts.carry_out(action, self._holds.get(holds.ALL))
                self._begin(action.run.id, act, self._busy)
            elif action.run.host is None:
                unplaced.append(action.run)
            else:
                self._begin_preparing(action.run, action.run.host)
        if unplaced:
            await self._place(unplaced)

    def _forget_earlier_term(self) -> None:
        """Another server led since then: it may have started, stopped and moved the same runs."""
        if self._background.term() == self._term:
            return
        self._term = self._background.term()
        self._acts.memory = Memory()
        for remembered in (self._read_out, self._setbacks, self._passed_over):
            remembered.clear()

    async def _place(self, runs: list[Run]) -> None:
        """Last of all: to find a host for a new run may take longer than anything about others."""
        placed = await in_thread(self._looking, self._engine.place, runs, self._known.drained)
        for run in runs:
            if host := placed.get(run.id):
                self._begin_preparing(run, host)
            elif run.kind == "backtest":
                self._passed_over[run.id] = time.monotonic() + PASSED_OVER_FOR

    async def _record_stops(self) -> None:
        """What was stopped on this machine stays stopped, now that the store knows it."""
        for name in self._holds.keys() - {holds.ALL}:
            why = self._holds[name].why
            if await self._store.write(desired.stop_here, name, why):
                log.info("stop_recorded", stopped=name, why=why)
            try:
                await in_thread(self._threads, self._server_holds.lift, name)
            except OSError as error:  # it stays stopped, and all others are supervised
                self._runs.note(error, name)

    async def _record_stops_on_hosts(self, runs: list[Run], found: Sights) -> bool:
        """The same of other machines that run models for us. Whether any was new."""
        is_new = False
        for host, held in found.holds.items():
            for name in held.keys() - {holds.ALL}:
                is_new |= await self._store.write(desired.stop_here, name, held[name].why)
                try:
                    await in_thread(self._threads, self._engine.lift, host, name)
                except Problem as error:  # the next look finds it again
                    self._runs.note(error, name)
            begun = any(run.host == host and run.desired == "running" for run in runs)
            if begun and (hold := held.get(holds.ALL)):
                is_new |= await self._store.write(desired.stop_on, host, hold.why)
        if is_new:
            log.info("stops_recorded", hosts=sorted(found.holds))
        return is_new

    def _read_last_words(self, runs: list[Run], found: Sights, busy: set[str]) -> None:
        """Check first, read after: the journal of a launch that is gone must be read to its end
        before anything is decided about it. Other runs do not wait for that."""
        for run in runs:
            sight = found.of.get(run.id)
            is_gone = sight is not None and not sight.alive and run.id not in busy | self._busy
            if is_gone and self._read_out.get(run.id) != run.fence:
                self._begin(run.id, self._read_all(run), self._busy)

    async def _read_all(self, run: Run) -> None:
        await self._collector.collect_last(run.id)
        self._read_out[run.id] = run.fence

    def _view(self, now: float, runs: list[Run], found: Sights, busy: set[str]) -> View:
        seen = {}
        for run in runs:
            sight = found.of.get(run.id)
            seen[run.id] = self._acts.memory.seen(
                run,
                # Launched since the check: the next turn will see it.
                alive=run.is_launched if sight is None else sight.alive,
                busy=run.id in busy,
                preparing=run.id in self._preparing,
            )
        return View(
            hosts=self._engine.hosts(),
            now=now,
            slots=self.slots,
            grace=self._grace,
            runs=runs,
            projects=self._known.projects,
            tenants=self._known.tenants,
            seen=seen,
            holds=self._holds.keys(),
            drained=self._known.drained,
            lease=self._lease,
            passed_over=self._passed_over,
        )

    async def _unfinished(self) -> list[Run]:
        now = time.monotonic()
        self._passed_over = {one: at for one, at in self._passed_over.items() if at > now}
        # Those that are passed over must not hide the others of their project.
        self._known = await self._store.read(unfinished.read, self.slots + len(self._passed_over))
        return self._known.runs

    async def _launched(self) -> list[Run]:
        """The runs of our hosts of which something may be alive."""
        return await self._store.read(run_records.launched_on, *self._engine.hosts())

    async def _look(self, runs: list[Run]) -> Sights:
        """A failure about one run is noted, and the others are seen. A host that is late has not
        failed."""
        hosts = self._engine.hosts()
        ours = [run for run in runs if run.host in hosts]
        found = await in_thread(self._looking, self._engine.look, ours)
        self._unseen = {
            run_id: error
            for run_id, error in found.unknown.items()
            if not isinstance(error, NotSeenYet)
        }
        for run_id, error in self._unseen.items():
            self._runs.note(error, run_id)
        return found

    async def _clear_unknown(self, left: Mapping[str, str]) -> None:
        """Remove what is left of runs that have ended, or whose model was deleted."""
        preparing = set(self._preparing)
        known = left.keys() - self._busy - preparing
        if not known | preparing:
            return
        open_ones = await self._store.read(run_records.open_among, known | preparing)
        for deleted in preparing - open_ones:
            self.installations.cancel(deleted)
        for run_id in known - open_ones:
            self._forget(run_id)
            self._begin(run_id, self._clear(left[run_id], run_id), self._busy)

    async def _clear(self, host: str, run_id: str) -> None:
        if await late_endings.are_stored(self._store, self._engine, self._collector, host, run_id):
            await in_thread(self._threads, self._engine.clear, host, run_id)

    def _forget(self, run_id: str) -> None:
        self._acts.memory.forget(run_id)
        self._read_out.pop(run_id, None)
        self._setbacks.pop(run_id, None)

    # Carrying out

    def _begin_preparing(self, run: Run, host: str) -> None:
        """It takes minutes and can be cancelled; other actions run one at a time."""
        self._begin(run.id, self._acts.prepare(run, host), self._preparing)

    def _begin(self, run_id: str, act: Coroutine[Any, Any, Any], doing: set[str]) -> None:
        """Many runs in parallel; `doing` holds a run until its action is done."""
        doing.add(run_id)

        async def carry() -> None:
            try:
                await act
            except LeadsNoMore:
                pass  # the server that leads now does it
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

    async def _each(self, runs: list[Run], act: Callable[[Run], Awaitable[None]]) -> None:
        """For all of them, even if one fails."""
        ended = await asyncio.gather(*map(act, runs), return_exceptions=True)
        for run, error in zip(runs, ended, strict=True):
            if isinstance(error, Exception):
                self._runs.note(error, run.id)
