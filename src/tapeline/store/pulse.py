"""Whether the database answers at all, so that nobody waits long for one that is out of reach.

A server that is cut off from its database waits until its connections give up, which takes up to a
minute; another server could answer at once. Slow answers are no sign: of several questions, one is
answered every moment, if only one of the server's own.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

SILENT_AFTER = 6.0  # seconds
TRIED_EVERY = 1.0


class Pulse:
    """Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: dict[int, float] = {}
        self._next = 0
        self._answered_at = monotonic()
        self._tried_at = 0.0

    @contextmanager
    def asking(self) -> Iterator[None]:
        """While the database is asked something. An error is an answer, too."""
        with self._lock:
            number = self._next = self._next + 1
            self._asked[number] = monotonic()
        try:
            yield
        finally:
            with self._lock:
                del self._asked[number]
                self._answered_at = monotonic()

    def may_ask(self) -> bool:
        """While it is silent, one question a second: else nobody would ever find out that it
        answers again."""
        if not self.is_lost():
            return True
        with self._lock:
            is_time = monotonic() - self._tried_at > TRIED_EVERY
            if is_time:
                self._tried_at = monotonic()
            return is_time

    def is_lost(self) -> bool:
        """Whether everything that was asked lately waits."""
        with self._lock:
            if not self._asked:
                return False
            oldest = next(iter(self._asked.values()))  # they are in the order of their beginning
            return monotonic() - max(oldest, self._answered_at) > SILENT_AFTER
