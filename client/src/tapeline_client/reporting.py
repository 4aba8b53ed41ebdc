"""Telling the person about trouble: in words, rarely, and never by way of what is in trouble."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any, Callable, NamedTuple

logger = logging.getLogger("tapeline_client")
_SILENCE = 60.0  # seconds between two lines about the same
_LEVELS = {"superseded": logging.CRITICAL, "dropped": logging.ERROR, "again": logging.INFO}
_here = threading.local()


class Problem(NamedTuple):
    """What `on_problem` is told."""

    kind: str
    """`rejected`, `unreachable`, `again`, `refused`, `superseded`, `full`, `quota`, `dropped`,
    `disk`, `unsent`, `invalid` or `backtest`."""
    message: str
    event: dict[str, Any] | None = None
    """The event that was rejected: its path, time and body."""


class Reporter:
    """Calls `on_problem` every time, and logs a kind of trouble at most once a minute."""

    def __init__(self, on_problem: Callable[[Problem], object] | None) -> None:
        self._on_problem = on_problem
        self._told: dict[str, float] = {}

    def tell(self, kind: str, message: str, event: dict[str, Any] | None = None) -> None:
        if talking():
            return
        _here.talking = True
        try:
            self._tell(Problem(kind, message, event))
        except Exception:
            logger.exception("The on_problem callback failed.")
        finally:
            _here.talking = False

    def _tell(self, problem: Problem) -> None:
        now = time.monotonic()
        last = self._told.get(problem.kind)
        if last is None or now - last > _SILENCE:
            self._told[problem.kind] = now
            logger.log(_LEVELS.get(problem.kind, logging.WARNING), "%s", problem.message)
        if self._on_problem is not None:
            self._on_problem(problem)


def talking() -> bool:
    """Whether this thread is telling of trouble: what it prints must not become an event."""
    return getattr(_here, "talking", False)
