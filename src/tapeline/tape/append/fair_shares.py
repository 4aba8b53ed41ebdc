"""How much of a turn each key gets: all of it while it is alone, a share while others write too.

Without shares, the busiest sender decides how long a commit takes, and everybody waits for two
commits: the running one and their own. Large batches have a count of their own, so that single
events behind them are in the same turn.
"""

import time
from collections import deque
from collections.abc import Callable
from typing import Any

from tapeline.tape.events.event import Submission

SHARE = 16 * 1024  # bytes of one key in one turn, but at least one submission
RESTING = 0.2  # seconds before a key that filled its share is answered, so that it sends less
LASTING = 1.0  # seconds for which keys that met count as writing together
COST_OF_EVENT = 200  # bytes on top of its body

Waiting = tuple[Submission, Any]


class Shares:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._together_until = 0.0
        self.filled: frozenset[str | None] = frozenset()
        """Keys that filled their share of the last turn."""

    def portion(self, waiting: deque[Waiting], most: int) -> list[Waiting]:
        """The submissions of the next turn; the rest keeps its order. It stops at the submission
        that reaches so many events, and takes so many events of large batches besides."""
        together = self._clock() < self._together_until
        taken, later = list[Waiting](), list[Waiting]()
        single = large = 0
        sizes: dict[str | None, int] = {}
        full: set[str | None] = set()
        behind: set[str | None] = set()
        while waiting and single < most and len(later) < most:
            one = waiting.popleft()
            submission = one[0]
            key = submission.key_id
            if key in full or key in behind or (submission.is_large and large >= most):
                behind.add(key)
                later.append(one)
                continue
            taken.append(one)
            if submission.is_large:
                large += len(submission.events)
            else:
                single += len(submission.events)
            sizes[key] = sizes.get(key, 0) + (_size(submission) if together else 0)
            if sizes[key] >= SHARE:
                full.add(key)
        if len(sizes) > 1:
            self._together_until = self._clock() + LASTING
        waiting.extendleft(reversed(later))
        self.filled = frozenset(full)
        return taken


def _size(submission: Submission) -> int:
    return sum(COST_OF_EVENT + len(event.body) for event in submission.events)
