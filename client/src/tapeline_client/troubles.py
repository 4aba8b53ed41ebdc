"""What went wrong with a queue, noted while its lock is held and told after the lock is released.

Who listens may wait for another thread, and that thread for the lock.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Callable, Deque

Report = Callable[[str, str], None]
_MOST = 1000


class Troubles:
    def __init__(self, lock: threading.RLock, report: Report) -> None:
        self._lock = lock
        self._report = report
        self.noted: Deque[tuple[str, str]] = deque(maxlen=_MOST)

    def note(self, kind: str, message: str) -> None:
        self.noted.append((kind, message))

    def tell(self) -> None:
        """A signal handler may be here while the thread that it interrupted holds the lock; then
        the next turn of the sender tells it."""
        while self.noted and not self._is_locked_here():
            try:
                kind, message = self.noted.popleft()
            except IndexError:
                return  # another thread told it
            self._report(kind, message)

    def _is_locked_here(self) -> bool:
        return bool(self._lock._is_owned())  # type: ignore[attr-defined]  # as Condition asks
