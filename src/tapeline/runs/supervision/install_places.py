"""Which installations may run now: a few at once, fewer of one project, and projects take turns.

An installation may run the code of its model for many minutes. Without shares, the builds of one
tenant would keep the models of all others from starting.
"""

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

MOST = 8
PER_PROJECT = 2
PER_OWNER = 4
"""Of all projects of one owner, because anyone can create many projects."""


@dataclass(frozen=True)
class Asked:
    run_id: str
    project: str
    owner: str
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
        per_owner: int = PER_OWNER,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = most
        self._per_project = per_project
        self._per_owner = per_owner
        self._clock = clock
        self._taken: dict[str, Asked] = {}
        self._waiting: dict[str, deque[Asked]] = {}
        """By project; among equals, the first has the next turn."""

    def ask(self, run_id: str, project: str, owner: str) -> None:
        asked = Asked(run_id, project, owner, self._clock())
        self._waiting.setdefault(project, deque()).append(asked)

    def leave(self, run_id: str) -> None:
        """Give the place back, or stop waiting for one."""
        self._taken.pop(run_id, None)
        for project, queue in list(self._waiting.items()):
            kept = deque(one for one in queue if one.run_id != run_id)
            self._waiting[project] = kept
            if not kept:
                del self._waiting[project]

    def admit(self) -> list[str]:
        """The runs that get a place now."""
        admitted = []
        while len(self._taken) < self.most and (project := self._next()) is not None:
            queue = self._waiting.pop(project)
            asked = queue.popleft()
            if queue:
                self._waiting[project] = queue  # at the end: others have their turn first
            self._taken[asked.run_id] = asked
            admitted.append(asked.run_id)
        return admitted

    def queue(self) -> Queue:
        waiting = [one for queue in self._waiting.values() for one in queue]
        oldest = min((one.at for one in waiting), default=self._clock())
        return Queue(len(self._taken), len(waiting), self._clock() - oldest)

    def _next(self) -> str | None:
        """The project with the fewest places that may have another."""
        projects = Counter(one.project for one in self._taken.values())
        owners = Counter(one.owner for one in self._taken.values())
        free = [
            project
            for project, queue in self._waiting.items()
            if projects[project] < self._per_project and owners[queue[0].owner] < self._per_owner
        ]
        return min(free, key=lambda one: projects[one], default=None)
