"""How much of a turn each key gets: all of it while it is alone, a share while others write too.

Without shares, the busiest sender decides how long a commit takes, and everybody waits for two
commits: the running one and their own. While several projects write, each has a share too, and so
has each tenant while there are several: more keys, projects or accounts do not get more. Large
batches have a count of their own, so that single events behind them are in the same turn.
"""

import time
from collections import deque
from collections.abc import Callable
from typing import Any

from tapeline.tape.events.event import Submission

SHARE = 16 * 1024  # bytes of one key in one turn, but at least one submission
OF_GROUP = 8 * SHARE  # bytes of one project, and of one tenant, in a turn; large batches apart
RESTING = 0.2  # seconds before a key that filled its share is answered, so that it sends less
LASTING = 1.0  # seconds for which keys that met count as writing together
COST_OF_EVENT = 200  # bytes on top of its body

Waiting = tuple[Submission, Any]


class Shares:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._keys_until = self._projects_until = self._tenants_until = 0.0
        """Until when several of them count as writing together."""
        self._turns = 0
        self._served: dict[str | None, int] = {}
        """The last turn of each project and key, while their group fills its share: then projects
        take turns, and the keys of each."""
        self.filled: frozenset[str | None] = frozenset()
        """Keys that filled their share of the last turn."""

    def portion(self, waiting: deque[Waiting], most: int) -> list[Waiting]:
        """The submissions of the next turn; the rest keeps its order, key by key. It stops at the
        submission that reaches so many events, and takes so many events of large batches besides.
        """
        now = self._clock()
        together = now < self._projects_until, now < self._tenants_until
        turn = _Portion(most, now < self._keys_until, together)
        # Others append to it meanwhile: these are taken out one by one.
        queue = [waiting.popleft() for _ in range(len(waiting))]
        if self._served:
            queue.sort(key=self._last_turn)
        for place, one in enumerate(queue):
            if turn.single >= most:
                turn.later += queue[place:]
                break
            turn.offer(one)
        waiting.extendleft(reversed(turn.later))
        self._remember(turn)
        return turn.taken

    def _remember(self, turn: "_Portion") -> None:
        now = self._clock()
        if len(turn.keys) > 1:
            self._keys_until = now + LASTING
        if len(turn.projects) > 1:
            self._projects_until = now + LASTING
        if len(turn.tenants) > 1:
            self._tenants_until = now + LASTING
        self._turns += 1
        self.filled = frozenset(turn.full_keys)
        if not turn.full_projects and not turn.full_tenants:
            self._served.clear()
            return
        for one, _ in turn.taken:
            if one.project_id in turn.full_projects or one.tenant in turn.full_tenants:
                self._served[one.project_id] = self._served[one.key_id] = self._turns

    def _last_turn(self, one: Waiting) -> tuple[int, int]:
        submission = one[0]
        return self._served.get(submission.project_id, 0), self._served.get(submission.key_id, 0)


class _Portion:
    """What one turn takes, and what it leaves for later."""

    def __init__(self, most: int, keys_together: bool, groups_together: tuple[bool, bool]) -> None:
        self.taken: list[Waiting] = []
        self.later: list[Waiting] = []
        self.single = 0
        """Events, without those of large batches."""
        self.keys: dict[str | None, int] = {}
        """Bytes of each; zeros while it is alone."""
        self.projects: dict[str, int] = {}
        self.tenants: dict[str, int] = {}
        self.full_keys: set[str | None] = set()
        self.full_projects: set[str | None] = set()
        self.full_tenants: set[str | None] = set()
        self._most = most
        self._large = 0
        self._keys_together = keys_together
        self._projects_together, self._tenants_together = groups_together
        self._behind: set[str | None] = set()
        """Keys with something left for later: what they sent after it must not pass it."""

    def offer(self, one: Waiting) -> None:
        submission = one[0]
        key, project, tenant = submission.key_id, submission.project_id, submission.tenant
        if (
            key in self.full_keys
            or key in self._behind
            or project in self.full_projects
            or tenant in self.full_tenants
            or (submission.is_large and self._large >= self._most)
        ):
            self._behind.add(key)
            self.later.append(one)
            return
        self.taken.append(one)
        size = _size(submission) if self._keys_together else 0
        self.keys[key] = self.keys.get(key, 0) + size
        if self.keys[key] >= SHARE:
            self.full_keys.add(key)
        if submission.is_large:
            self._large += _count(submission)
            size = 0
        else:
            self.single += _count(submission)
        if _add(self.projects, project, size) >= OF_GROUP and self._projects_together:
            self.full_projects.add(project)
        if _add(self.tenants, tenant, size) >= OF_GROUP and self._tenants_together:
            self.full_tenants.add(tenant)


def _add(sizes: dict[str, int], name: str | None, size: int) -> int:
    """Its sum. What the platform itself stores has no name, and no limit."""
    if name is None:
        return 0
    sizes[name] = sizes.get(name, 0) + size
    return sizes[name]


def _size(submission: Submission) -> int:
    own = sum(COST_OF_EVENT + len(event.body) for event in submission.events)
    return own + sum(map(len, submission.prices))


def _count(submission: Submission) -> int:
    """Its events; prices count as the events that have as many bytes."""
    return len(submission.events) + sum(map(len, submission.prices)) // COST_OF_EVENT
