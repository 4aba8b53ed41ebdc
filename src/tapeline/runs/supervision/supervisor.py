"""What to do next about every run: desired against actual state, without acting.

A pure function of the runs' rows, of their state on our hosts, and of the clock. It has no memory,
so a server that was killed at any point goes on where it was.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tapeline.runs.holding.holds import covers
from tapeline.runs.run import Run, State
from tapeline.runs.supervision import backtest_queue

STUBBORN_AFTER = 10.0  # seconds beyond its grace that a launch may take to stop
MOST_FAILURES = 5  # of one run within ten minutes; a run whose shim keeps dying ends


@dataclass(frozen=True)
class Seen:
    """What its host and this server know of one run, besides its row."""

    alive: bool = False
    """Its lock is held, by the shim or by a sandbox that outlived it. If not, its whole journal was
    stored before the row was read."""
    busy: bool = False
    """An action about it is under way."""
    preparing: bool = False
    prepared: bool = False
    problem: str | None = None
    """Why it could not be prepared."""
    trouble: str | None = None
    """Why its last launch did not happen."""
    stopping_for: float | None = None
    """Seconds since it was asked to end."""
    recent_failures: int = 0
    """Launches that did not happen, or were lost with their shim: not those that somebody stopped
    or that ended with their leases."""


@dataclass(frozen=True)
class View:
    """The input of a decision."""

    hosts: Collection[str]
    """Ours: nobody else decides about their runs."""
    now: float
    slots: int
    """Backtests that may be under way at once, on all of our hosts together."""
    grace: float
    runs: Sequence[Run]
    """All that have not ended, the oldest first, of all hosts."""
    projects: Mapping[str, str] = field(default_factory=dict)
    """The project of each run, for a fair queue."""
    tenants: Mapping[str, str] = field(default_factory=dict)
    """The tenant of each project with backtests."""
    seen: Mapping[str, Seen] = field(default_factory=dict)
    holds: Collection[str] = ()
    """Names of locks whose runs must not run, or that of all."""
    drained: Collection[str] = ()
    """Hosts that take no more runs; the live models of each move to others, one at a time."""
    lease: float | None = None
    """For how many seconds a launch may live without a renewal."""
    passed_over: Collection[str] = ()
    """Backtests that no host could take a moment ago."""

    def is_held(self, run: Run) -> bool:
        return covers(self.holds, run.lock_name)

    @cached_property
    def deployed(self) -> Mapping[str, Sequence[Run]]:
        """By model, the oldest first: with thousands of models, none is searched for among all."""
        found: defaultdict[str, list[Run]] = defaultdict(list)
        for run in self.runs:
            if run.is_deployed:
                found[run.model_id].append(run)
        return found

    def rivals_of(self, run: Run) -> list[Run]:
        """The other deployed runs of its model, of which one at a time may live."""
        return [one for one in self.deployed.get(run.model_id, ()) if one.id != run.id]


@dataclass(frozen=True)
class Action:
    run: Run


@dataclass(frozen=True)
class Prepare(Action):
    """Claim it for a host that can take it now, unless it has one, and prepare everything that it
    needs there."""


@dataclass(frozen=True)
class Start(Action):
    """Raise the fence and launch."""


@dataclass(frozen=True)
class Stop(Action):
    """Ask it to end."""


@dataclass(frozen=True)
class Cancel(Action):
    """Cancel its preparation."""


@dataclass(frozen=True)
class Kill(Action):
    """It was asked to end, and did not."""


@dataclass(frozen=True)
class Replace(Action):
    """Desire its end, because `successor` is ready to take its place."""

    successor: Run


@dataclass(frozen=True)
class Move(Action):
    """Have another host prepare its successor, which then takes its place."""


@dataclass(frozen=True)
class Relaunch(Action):
    """It is gone without a record: its shim was killed, or it never started. Start it again."""


@dataclass(frozen=True)
class End(Action):
    state: State
    reason: str


def decide(view: View, undecided: Callable[[Run, Exception], None] | None = None) -> list[Action]:
    """The next actions. `undecided` is called for a run about which nothing could be decided; the
    others are still decided."""
    chosen = backtest_queue.chosen(
        view.runs, view.projects, view.tenants, view.hosts, view.slots, view.passed_over
    )
    drained = sorted(set(view.drained) & set(view.hosts))
    actions = [action for host in drained for action in _moved(view, host)]
    for run in view.runs:
        try:
            action = _next(run, view, chosen)
        except Exception as error:
            if undecided is None:
                raise
            undecided(run, error)
        else:
            if action is not None:
                actions.append(action)
    return actions


def _next(run: Run, view: View, chosen: set[str]) -> Action | None:
    seen = view.seen.get(run.id, Seen())
    is_ours = run.host is None or run.host in view.hosts
    if seen.busy or not is_ours:
        return None
    if seen.alive:
        return _about_living(run, seen, view)
    if run.is_launched:
        return _about_lost(run, seen, view)
    if seen.preparing:
        return _about_preparing(run, seen, view)
    if waiting := _about_waiting(run, view):
        return waiting
    return None if view.is_held(run) else _towards_start(run, seen, view, chosen)


def _about_waiting(run: Run, view: View) -> Action | None:
    """Whether it need not start at all."""
    if run.desired == "stopped":
        return End(run, "stopped", run.reason or "Stopped before it started.")
    if successor := _successor(run, view):
        return End(run, "stopped", f"Run {successor.id} took its place before it started.")
    return None


def _about_preparing(run: Run, seen: Seen, view: View) -> Action | None:
    """An installation that nobody needs any more must not take a place from another."""
    if seen.stopping_for is not None or _about_waiting(run, view) is None:
        return None
    return Cancel(run)


def _about_living(run: Run, seen: Seen, view: View) -> Action | None:
    if run.desired == "running" and not view.is_held(run):
        return None
    if seen.stopping_for is None:
        return Stop(run)
    if seen.stopping_for > view.grace + STUBBORN_AFTER:
        return Kill(run)
    return None


def _about_lost(run: Run, seen: Seen, view: View) -> Action | None:
    if run.desired == "stopped":
        return End(run, "stopped", run.reason or "Stopped.")
    if run.is_unstarted:
        return Relaunch(run)
    if _may_have_ended_with_lease(run, view):
        return None  # with the end of its lease somebody takes it over, and says why
    if run.kind == "live" and seen.recent_failures + 1 < MOST_FAILURES:  # this is one more
        return Relaunch(run)
    return End(run, "crashed", "It was killed from outside, together with its shim.")


def _may_have_ended_with_lease(run: Run, view: View) -> bool:
    """A node renews at a third of a lease. Less than half of it is left only if the node is late,
    and the kernel ends what stands still earlier than the row says: a node does not count what was
    renewed without its knowledge. Either the node renews again, or the lease ends."""
    if run.lease_until is None or view.lease is None:
        return False
    return run.lease_until - view.now < view.lease / 2


def _towards_start(run: Run, seen: Seen, view: View, chosen: set[str]) -> Action | None:
    if seen.problem is not None:
        return End(run, "failed", seen.problem)
    if not seen.prepared:
        is_due = run.due_at is None or run.due_at <= view.now
        may_start = run.kind != "backtest" or run.id in chosen
        return Prepare(run) if is_due and may_start else None
    if seen.recent_failures >= MOST_FAILURES:
        return End(run, "crashed", seen.trouble or "It could not be kept running.")
    if not run.is_deployed:
        return Start(run)
    rivals = [one for one in view.rivals_of(run) if one.is_launched]
    for rival in rivals:
        if rival.desired == "running":
            return Replace(rival, successor=run)
    return None if rivals else Start(run)


def _moved(view: View, host: str) -> list[Action]:
    """The next one of a drained host. Nothing stops before its successor is ready elsewhere."""
    live = [one for one in view.runs if one.host == host and _goes_on(one, view)]
    if any(_successor(one, view) for one in live):
        return []
    return [Move(one) for one in live[:1] if one.is_launched and not view.is_held(one)]


def _goes_on(run: Run, view: View) -> bool:
    is_busy = view.seen.get(run.id, Seen()).busy
    return run.kind == "live" and run.desired == "running" and not is_busy


def _successor(run: Run, view: View) -> Run | None:
    """The newest run of the same model that is newer and desired."""
    if not run.is_deployed:
        return None
    place = (run.created_at, run.id)
    return next(
        (
            one
            for one in reversed(view.rivals_of(run))
            if one.desired == "running" and (one.created_at, one.id) > place
        ),
        None,
    )
