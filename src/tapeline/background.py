"""The owner of all background work, so that none of it fails silently.

Each work has a name. Its exceptions are logged, counted and shown; a loop continues after a pause
that grows with every failure in a row. A deadline reveals a turn that hangs.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, TypeVar

from tapeline import turns
from tapeline.errors import Problem
from tapeline.fair_line import Owner
from tapeline.leading import LeadsNoMore, as_leader
from tapeline.logs import Log

log = Log(__name__)

T = TypeVar("T")

FIRST_PAUSE = 0.5  # seconds after a failure; doubled by each further one
SHORTEST_LAST_PAUSE, LONGEST_PAUSE = 5.0, 60.0
QUIET = 60.0  # seconds for which a repeated failure is counted but not logged again
LOOKED_EVERY = 1.0
REMEMBERED = 1_000
"""Logged failures that a work remembers."""


@dataclass(frozen=True)
class State:
    """The current state of a work."""

    name: str
    essential: bool
    """Without it the service is not ready."""
    turns: int
    failures: int
    in_a_row: int
    """Failures since it last worked."""
    silent: float
    """Seconds since its last progress; for single tasks, the age of the oldest one running."""
    overdue: bool
    last_error: str
    """The last exception, safe to show to anyone: names of files and rows are only in the log."""

    @property
    def sentence(self) -> str:
        why = f" ({self.last_error})" if self.in_a_row else ""
        return f"the {self.name} has not finished a turn for {self.silent:.0f} s{why}"


class Work:
    """The record of one loop or one kind of task. Thread-safe."""

    def __init__(self, name: str, *, patience: float, essential: bool = False) -> None:
        self.name = name
        self.essential = essential
        self.patience = patience
        self.turns = self.failures = self.in_a_row = 0
        self.last_error = ""
        self._alive_at = monotonic()
        self._told: dict[str, tuple[str, float]] = {}

    def beat(self) -> None:
        """Report that a long turn is still making progress."""
        self._alive_at = monotonic()

    def finished(self) -> None:
        self.turns += 1
        self.recovered()

    def recovered(self) -> None:
        """Report that the last failure is over, in the middle of a turn that may never end."""
        if self.in_a_row:
            log.info("work_goes_on_again", work=self.name, after_failures=self.in_a_row)
        self.in_a_row = 0
        self.beat()

    def failed(self, error: BaseException, about: str = "") -> None:
        """Count a failure of a whole turn."""
        self.in_a_row += 1
        self.note(error, about)

    def note(self, error: BaseException, about: str = "", *, is_ours: bool = True) -> None:
        """Count a failure about one thing, such as a run; the turn continues with the others. That
        of somebody else, who is away or refuses, is one line: no traceback of ours explains it."""
        self.failures += 1
        self.last_error = cause_of(error)
        if self._is_new(_words(error), about):
            facts = ({"about": about} if about else {}) | ({} if is_ours else {"why": str(error)})
            trace = error if is_ours else None
            log.error("work_failed", exc_info=trace, work=self.name, times=self.failures, **facts)

    def silent(self) -> float:
        return max(0.0, monotonic() - self._alive_at)

    def state(self) -> State:
        silent = self.silent()
        return State(
            self.name, self.essential, self.turns, self.failures, self.in_a_row, silent,
            silent > self.patience, self.last_error,
        )  # fmt: skip

    def _put_off(self, seconds: float) -> None:
        self._alive_at = monotonic() + seconds

    def _is_new(self, error: str, about: str) -> bool:
        told, at = self._told.get(about, ("", 0.0))
        if told == error and monotonic() - at < QUIET:
            return False
        if len(self._told) >= REMEMBERED:
            self._told.clear()
        self._told[about] = (error, monotonic())
        return True


class Loop(Work):
    """Runs turns of a coroutine one after another, with a pause between them."""

    def __init__(
        self, name: str, turn: Callable[[], Awaitable[None]], *, every: float, first_after: float,
        within: float, essential: bool,
    ) -> None:  # fmt: skip
        super().__init__(name, patience=every + within, essential=essential)
        self._turn = turn
        self._every = every
        self._first_after = first_after
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Start the next turn now."""
        self._woken.set()

    async def keep(self) -> None:
        """Run until cancelled."""
        turns.sender.set(Owner(turns.SERVER, self.name))
        self._put_off(self._first_after)
        await asyncio.sleep(self._first_after)
        while True:
            self._woken.clear()
            try:
                await self._turn()
            except asyncio.CancelledError as error:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
                self.failed(error)  # the turn awaited a cancelled task; this loop was not cancelled
            except Exception as error:  # noqa: BLE001 - the owner survives any failure
                self.failed(error)
            else:
                self.finished()
            await self._rest()

    async def _rest(self) -> None:
        if self.in_a_row:  # not shortened by `wake`, which may come a thousand times a second
            await asyncio.sleep(pause_after(self.in_a_row, self._every))
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(self._every):
                await self._woken.wait()


class Thread(Work):
    """The same in a separate thread, for work that blocks outside the event loop."""

    def __init__(
        self,
        name: str,
        turn: Callable[[], None],
        *,
        every: float,
        within: float,
        interrupt: Callable[[], None],
    ) -> None:
        super().__init__(name, patience=every + within)
        self._turn = turn
        self._every = every
        self._interrupt = interrupt
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=name, daemon=True)

    def start(self) -> None:
        self.beat()
        self._thread.start()

    def close(self) -> None:
        """Interrupt the turn and wait until it has returned."""
        self._closing.set()
        self._interrupt()
        self._thread.join()

    def _keep(self) -> None:
        while not self._closing.is_set():
            try:
                self._turn()
            except Exception as error:  # noqa: BLE001 - the owner survives any failure
                self.failed(error)
            else:
                self.finished()
            self._closing.wait(pause_after(self.in_a_row, self._every))


class Background:
    """All background work of one service."""

    def __init__(self) -> None:
        self._loops: list[Loop] = []
        self._threads: list[Thread] = []
        self._works: dict[str, Work] = {}
        self._under_way: dict[asyncio.Task[Any], tuple[str, float]] = {}
        self._tasks: list[asyncio.Task[Any]] | None = None
        """While the service runs."""
        self.leads: Callable[[], bool] = lambda: True
        """Whether this server does what is done once among all that share a database."""
        self.term: Callable[[], float] = lambda: 0.0
        """Since when it does, or last did. It changes when another server did in between."""

    def loop(
        self,
        name: str,
        turn: Callable[[], Awaitable[None]],
        *,
        every: float,
        within: float,
        first_after: float = 0.0,
        essential: bool = False,
        once: bool = False,
    ) -> Loop:
        """Take a turn `every` so many seconds while the service runs; each may take `within`. With
        `once`, only on the server that leads. It may be added later, from the event loop."""

        async def turn_of_leader() -> None:
            as_leader.set(True)
            if self.leads():
                with suppress(LeadsNoMore):
                    await turn()

        made = Loop(
            name,
            turn_of_leader if once else turn,
            every=every,
            first_after=first_after,
            within=within,
            essential=essential,
        )
        self._loops.append(made)
        self._works[name] = made
        if self._tasks is not None:
            self._tasks.append(asyncio.create_task(made.keep(), name=name))
        return made

    def thread(
        self,
        name: str,
        turn: Callable[[], None],
        *,
        every: float,
        within: float,
        interrupt: Callable[[], None],
    ) -> Thread:
        """The same in a thread; `interrupt` makes the turn return when the service ends."""
        made = Thread(name, turn, every=every, within=within, interrupt=interrupt)
        if self._tasks is not None:
            made.start()  # first: one that could not be started cannot be waited for at the end
        self._threads.append(made)
        self._works[name] = made
        return made

    def begin(self, name: str, act: Coroutine[Any, Any, T], about: str = "") -> "asyncio.Task[T]":
        """Start a single task about one thing. Its failure is noted, and raised when awaited."""
        task = asyncio.create_task(act, name=f"{name} {about}".strip())
        self._under_way[task] = (name, monotonic())
        task.add_done_callback(partial(self._ended, self.kind(name), about))
        return task

    def begin_in_thread(self, name: str, act: Callable[[], None], about: str = "") -> bool:
        """The same for a function, from any thread. Whether it has begun: what the caller has noted
        of it, and the function would take back, is the caller's to take back otherwise."""
        kind = self.kind(name)

        def carry_out() -> None:
            try:
                act()
            except Exception as error:  # noqa: BLE001 - nothing else would report it
                kind.note(error, about)
            else:
                kind.finished()

        thread = threading.Thread(target=carry_out, name=f"{name} {about}".strip(), daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # the machine has no room for a thread
            kind.note(error, about)
            return False
        return True

    def kind(self, name: str) -> Work:
        """The record of all tasks of one kind, to note a failure of one of them."""
        return self._works.setdefault(name, Work(name, patience=float("inf")))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run all work while the service runs."""
        self._tasks = [asyncio.create_task(one.keep(), name=one.name) for one in self._loops]
        self._tasks.append(asyncio.create_task(self._notice(), name="background"))
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            tasks, self._tasks = self._tasks, None
            await _cancel(tasks)
            await _cancel(list(self._under_way))  # after the loops, which begin them
            for thread in self._threads:
                await asyncio.to_thread(thread.close)

    def states(self) -> list[State]:
        return [self._state(one) for one in list(self._works.values())]

    def trouble(self, *names: str) -> str | None:
        """Why the service is not ready, or why these works are stuck; None if all is well."""
        said = [
            one.sentence
            for one in self.states()
            if one.overdue and (one.name in names if names else one.essential)
        ]
        return "; ".join(said) or None

    def _state(self, work: Work) -> State:
        state = work.state()
        if isinstance(work, Loop | Thread):
            return state
        begun = [at for name, at in list(self._under_way.values()) if name == work.name]
        oldest = monotonic() - min(begun) if begun else 0.0
        return State(
            work.name, False, work.turns, work.failures, 0, oldest, False, work.last_error
        )  # fmt: skip

    def _ended(self, kind: Work, about: str, task: "asyncio.Task[Any]") -> None:
        del self._under_way[task]
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            kind.finished()
        else:
            kind.note(error, about)

    async def _notice(self) -> None:
        """Log once when a work becomes overdue, and once when it recovers."""
        overdue: set[str] = set()
        while True:
            await asyncio.sleep(LOOKED_EVERY)
            late = {one.name: one for one in self.states() if one.overdue}
            for name in late.keys() - overdue:
                log.error("work_overdue", work=name, reason=late[name].sentence)
            for name in overdue - late.keys():
                log.info("work_in_time_again", work=name)
            overdue = set(late)


def pause_after(failures: int, every: float) -> float:
    """Seconds until the next turn: the usual pause, or a longer one after failures in a row."""
    if not failures:
        return every
    longest = min(LONGEST_PAUSE, max(SHORTEST_LAST_PAUSE, every))
    return min(longest, FIRST_PAUSE * 2.0 ** min(failures - 1, 20))


async def _cancel(tasks: list["asyncio.Task[Any]"]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def cause_of(error: BaseException) -> str:
    """What happened, safe to show to anyone: without names of files or rows."""
    if isinstance(error, Problem):
        return error.message
    return (isinstance(error, OSError) and error.strerror) or type(error).__name__


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
