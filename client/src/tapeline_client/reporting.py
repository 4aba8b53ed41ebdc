"""Reports problems to the user: in plain words, rarely, and never over the failing connection."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any, Callable, NamedTuple

logger = logging.getLogger("tapeline_client")
_SILENCE = 60.0  # seconds between two log lines about the same problem
_LEVELS = {
    "superseded": logging.CRITICAL,
    "halt": logging.CRITICAL,
    "dropped": logging.ERROR,
    "again": logging.INFO,
}
_here = threading.local()


class Problem(NamedTuple):
    """The argument of `on_problem`."""

    kind: str
    """`rejected`, `unreachable`, `again`, `refused`, `superseded`, `full`, `quota`, `dropped`,
    `disk`, `unsent`, `invalid`, `backtest` or `halt`."""
    message: str
    event: dict[str, Any] | None = None
    """The event that was rejected: its path, time and body."""


class Reporter:
    """Calls `on_problem` every time, and logs each kind of problem at most once a minute."""

    def __init__(self, on_problem: Callable[[Problem], object] | None) -> None:
        self._on_problem = on_problem
        self._reported: dict[str, float] = {}

    def report(self, kind: str, message: str, event: dict[str, Any] | None = None) -> None:
        if is_reporting():
            return
        _here.is_reporting = True
        try:
            self._report(Problem(kind, message, event))
        except Exception:
            logger.exception("The on_problem callback failed.")
        finally:
            _here.is_reporting = False

    def _report(self, problem: Problem) -> None:
        now = time.monotonic()
        last = self._reported.get(problem.kind)
        if last is None or now - last > _SILENCE:
            self._reported[problem.kind] = now
            logger.log(_LEVELS.get(problem.kind, logging.WARNING), "%s", problem.message)
        if self._on_problem is not None:
            self._on_problem(problem)


def is_reporting() -> bool:
    """Whether this thread is reporting a problem: its output must not become an event."""
    return getattr(_here, "is_reporting", False)
