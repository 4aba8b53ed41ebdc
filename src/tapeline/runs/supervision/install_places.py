"""Which installations may run now: a few at once, fewer of one tenant, and everybody takes turns.

An installation may run the code of its model for many minutes. Without shares, the builds of one
tenant would keep the models of all others from starting. Where anyone can sign up, shares are not
enough, because tenants cost nothing: so a place is given for a slice of time. An installation that
had its slice is put back into the line while a tenant with fewer waits. The next slice is twice as
long, so that a long build ends even on a busy server.
"""

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

MOST = 8
NEW = 4
"""Every fourth place is for installations that were never put back: they do not wait for the long
slices of others."""
PER_PROJECT = 2
PER_TENANT = 4
"""Of all its projects, because anyone can create many projects."""
SLICE = 60.0  # seconds; most installations take less


@dataclass(frozen=True)
class Asked:
    run_id: str
    project: str
    tenant: str
    slices: int = 0
    """How often it was put back."""
    at: float = field(compare=False, default=0.0)


@dataclass(frozen=True)
class Queue:
    """How busy the places are, for operators."""

    running: int = 0
    waiting: int = 0
    longest: float = 0.0
    """Seconds that the oldest has waited."""


class InstallPlaces:
    def __init__(
        self,
        most: int = MOST,
        per_project: int = PER_PROJECT,
        per_tenant: int = PER_TENANT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = most
        self._per_project = per_project
        self._per_tenant = per_tenant
        self._most_old = most - most // NEW
        self._clock = clock
        self._taken: dict[str, Asked] = {}
        self._since: dict[str, float] = {}
        self._ending: str | None = None
        """The one that was told to go back and has not left yet."""
        self._waiting: dict[str, deque[Asked]] = {}
        """By project; among equals, the first has the next turn."""

    def ask(self, run_id: str, project: str, tenant: str, slices: int = 0) -> None:
        asked = Asked(run_id, project, tenant, slices, self._clock())
        self._waiting.setdefault(project, deque()).append(asked)

    def leave(self, run_id: str) -> None:
        """Give the place back, or stop waiting for one."""
        self._taken.pop(run_id, None)
        self._since.pop(run_id, None)
        if self._ending == run_id:
            self._ending = None
        for project, queue in list(self._waiting.items()):
            kept = deque(one for one in queue if one.run_id != run_id)
            self._waiting[project] = kept
            if not kept:
                del self._waiting[project]

    def admit(self) -> list[str]:
        """The runs that get a place now."""
        admitted = []
        while len(self._taken) < self.most and (asked := self._next()) is not None:
            queue = self._waiting.pop(asked.project)
            queue.remove(asked)
            if queue:
                self._waiting[asked.project] = queue  # at the end: others have their turn first
            self._taken[asked.run_id] = asked
            self._since[asked.run_id] = self._clock()
            admitted.append(asked.run_id)
        return admitted

    def overdue(self) -> str | None:
        """An installation that has to go back into the line now: one at a time, until it left."""
        if self._ending is None:
            found = (self._displaced_by(waits) for waits in self._line())
            self._ending = next(filter(None, found), None)
        return self._ending

    def queue(self) -> Queue:
        waiting = [one for queue in self._waiting.values() for one in queue]
        oldest = min((one.at for one in waiting), default=self._clock())
        return Queue(len(self._taken), len(waiting), self._clock() - oldest)

    def _next(self) -> Asked | None:
        is_full = self._old() >= self._most_old
        return next((one for one in self._line() if not (one.slices and is_full)), None)

    def _line(self) -> list[Asked]:
        """Those whose share allows another place, and the one whose turn is next at the front:
        of the tenant with the fewest places, and of its project with the fewest."""
        projects, tenants = self._counts()
        free = [
            one
            for project, queue in self._waiting.items()
            if projects[project] < self._per_project
            for one in queue
            if tenants[one.tenant] < self._per_tenant
        ]
        return sorted(free, key=lambda one: (tenants[one.tenant], projects[one.project]))

    def _displaced_by(self, waits: Asked) -> str | None:
        """The longest one of the tenant with the most places. It must be worth it: not where the
        two would only swap roles, unless one of them has nothing at all."""
        _, tenants = self._counts()
        has, is_full = tenants[waits.tenant], self._old() >= self._most_old
        had_slice = [
            one
            for one in self._taken.values()
            if self._ran(one) >= SLICE * 2**one.slices
            and tenants[one.tenant] > (has + 1 if has else 0)
            and (one.slices or not (waits.slices and is_full))
        ]
        longest = max(
            had_slice, key=lambda one: (tenants[one.tenant], self._ran(one)), default=None
        )
        return None if longest is None else longest.run_id

    def _ran(self, one: Asked) -> float:
        return self._clock() - self._since[one.run_id]

    def _old(self) -> int:
        """Places of installations that were put back before."""
        return sum(bool(one.slices) for one in self._taken.values())

    def _counts(self) -> tuple[Counter[str], Counter[str]]:
        taken = self._taken.values()
        return Counter(one.project for one in taken), Counter(one.tenant for one in taken)
