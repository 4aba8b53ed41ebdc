"""A world in which the supervisor's decisions come true: rows, launches and a clock, no processes.

Whatever it is told to do it does, at once or at the next tick, and it checks after every step that
no model ever has two live instances.
"""

from dataclasses import dataclass, field
from typing import Any

import msgspec

from tapeline.runs.run import Kind, Run
from tapeline.runs.supervision import supervisor
from tapeline.runs.supervision.supervisor import Action, Seen, View

HOST = "here"
OTHER = "beside"
"""Another host of ours, if there are two."""


def a_run(name: str, *, model: str = "m", kind: Kind = "live", at: float = 0.0, **more: Any) -> Run:
    values: dict[str, Any] = {
        "state": "pending", "desired": "running", "reason": "", "plan": "nano", "memory_mb": 256,
        "cpu_milli": 250, "python_version": "3.11", "created_by": "ada", "version_id": "v",
    }  # fmt: skip
    return Run(id=name, model_id=model, kind=kind, created_at=at, **values | more)


@dataclass
class World:
    slots: int = 2
    now: float = 0.0
    rows: dict[str, Run] = field(default_factory=dict)
    projects: dict[str, str] = field(default_factory=dict)
    tenants: dict[str, str] = field(default_factory=dict)
    alive: set[str] = field(default_factory=set)
    prepared: set[str] = field(default_factory=set)
    preparing: set[str] = field(default_factory=set)
    problems: dict[str, str] = field(default_factory=dict)
    stopping: dict[str, float] = field(default_factory=dict)
    launches: dict[str, list[float]] = field(default_factory=dict)
    failures: dict[str, list[float]] = field(default_factory=dict)
    lease: float | None = None
    """Of each launch; nodes renew it with `renew`."""
    busy: set[str] = field(default_factory=set)
    unanswered: set[str] = field(default_factory=set)
    """Their starts reach no host."""
    fences: dict[str, int] = field(default_factory=dict)
    holds: set[str] = field(default_factory=set)
    hosts: tuple[str, ...] = (HOST,)
    drained: set[str] = field(default_factory=set)
    pythons: frozenset[str] | None = None
    """Of all hosts; None if they have every Python."""
    done: list[str] = field(default_factory=list)
    """What was decided, as words: `start a`, `end a stopped`."""

    def want(self, run: Run, project: str = "p") -> None:
        self.rows[run.id] = run
        self.projects[run.id] = project

    def change(self, name: str, **changes: Any) -> None:
        self.rows[name] = msgspec.structs.replace(self.rows[name], **changes)

    def unwant(self, name: str) -> None:
        self.change(name, desired="stopped")

    def vanish(self, name: str) -> None:
        """The process and its shim are killed by somebody else."""
        self.alive.discard(name)

    def decide(self) -> list[Action]:
        return supervisor.decide(self.view())

    def view(self) -> View:
        rows = sorted(self.rows.values(), key=lambda run: (run.created_at, run.id))
        return View(
            hosts=self.hosts,
            now=self.now,
            slots=self.slots,
            grace=10.0,
            runs=[run for run in rows if run.ended_at is None],
            projects=self.projects,
            tenants=self.tenants,
            seen={run.id: self._seen(run) for run in rows},
            holds=self.holds,
            drained=self.drained,
            lease=self.lease,
        )

    def tick(self, seconds: float = 1.0) -> list[str]:
        """Let decisions come true; what was decided, in words."""
        self.now += seconds
        words = [self._come_true(action) for action in self.decide() if self._can(action)]
        self.done += words
        self._check()
        return words

    def settle(self, ticks: int = 20) -> list[str]:
        before = len(self.done)
        for _ in range(ticks):
            self.tick()
        return self.done[before:]

    def _seen(self, run: Run) -> Seen:
        stopping = self.stopping.get(run.id)
        recent = [at for at in self.failures.get(run.id, []) if self.now - at < 600]
        return Seen(
            alive=run.id in self.alive,
            busy=run.id in self.busy,
            preparing=run.id in self.preparing,
            prepared=run.id in self.prepared,
            problem=self.problems.get(run.id),
            stopping_for=None if stopping is None else self.now - stopping,
            recent_failures=len(recent),
        )

    def place(self, run: Run) -> str | None:
        """As an engine does: on the first host that can take it."""
        if self.pythons is not None and run.python_version not in self.pythons:
            return None
        return next((host for host in self.hosts if host not in self.drained), None)

    def _can(self, action: Action) -> bool:
        is_new = isinstance(action, supervisor.Prepare) and action.run.host is None
        return not is_new or self.place(action.run) is not None

    def _come_true(self, action: Action) -> str:
        name = action.run.id
        match action:
            case supervisor.Prepare():
                host = action.run.host or self.place(action.run)
                self.change(name, host=host, state="installing")
                self.prepared.add(name)
            case supervisor.Move():
                after = msgspec.structs.replace(
                    a_run(f"{name}'", model=action.run.model_id), created_at=self.now
                )
                self.want(after, self.projects[name])
            case supervisor.Start():
                self._start(name)
            case supervisor.Stop() | supervisor.Cancel():
                self.stopping[name] = self.now
            case supervisor.Kill():
                self.alive.discard(name)
            case supervisor.Replace():
                self.unwant(name)
            case supervisor.Relaunch():
                self._relaunch(action.run)
            case supervisor.End(state=state):
                self.change(name, state=state, ended_at=self.now)
                return f"end {name} {state}"
        return f"{type(action).__name__.lower()} {name}"

    def _relaunch(self, run: Run) -> None:
        if run.is_unstarted:
            self.change(run.id, state="pending", fence=None)
            return
        self.failures.setdefault(run.id, []).append(self.now)
        self.change(run.id, state="restarting", fence=None)

    def _start(self, name: str) -> None:
        run = self.rows[name]
        fence = self.fences.get(run.model_id, 0) + 1
        self.fences[run.model_id] = fence
        self.change(name, fence=fence, launches=run.launches + 1)
        self.renew(name)
        self.launches.setdefault(name, []).append(self.now)
        self.stopping.pop(name, None)
        if name not in self.unanswered:
            self.change(name, state="running", started_at=run.started_at or self.now)
            self.alive.add(name)

    def renew(self, name: str) -> None:
        """Its node does, or it is granted with the start."""
        if self.lease is not None:
            self.change(name, lease_until=self.now + self.lease)

    def finish(self, name: str, state: str = "exited") -> None:
        """Its journal said so, and that was taken in."""
        self.alive.discard(name)
        self.change(name, state=state, ended_at=self.now)

    def interrupt(self, name: str) -> None:
        """It stopped, though it is still desired."""
        self.alive.discard(name)
        self.change(name, state="pending", fence=None)

    def _check(self) -> None:
        living = [self.rows[name].model_id for name in self.alive if self.rows[name].is_deployed]
        assert len(living) == len(set(living)), f"two live instances at {self.now}: {self.alive}"
