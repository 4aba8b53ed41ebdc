"""The slowest statements of the last hour, for the operator: their text, never their values."""

import re
import threading
from time import monotonic
from typing import Any

import msgspec
from sqlalchemy import Engine, event

HOUR = 3600.0
KEPT = 20
SLOW = 0.05  # seconds: quicker ones are not worth a lock
LONGEST = 400  # characters of a statement
VALUES = re.compile(r"'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b")


class Slow(msgspec.Struct, frozen=True):
    """A statement, and the longest that it took within the last hour."""

    statement: str
    seconds: float
    ago: float
    """Seconds since then."""


class Slowest:
    """Bounded, and safe to use from every thread that asks the database."""

    def __init__(self) -> None:
        self._worst: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def watch(self, engine: Engine) -> None:
        """Measure every statement of this engine."""
        event.listen(engine, "before_cursor_execute", _begin)
        event.listen(engine, "after_cursor_execute", self._end)

    def note(self, statement: str, seconds: float) -> None:
        if seconds < SLOW:
            return
        words, now = _without_values(statement), monotonic()
        with self._lock:
            self._worst = {one: at for one, at in self._worst.items() if now - at[1] < HOUR}
            if seconds >= self._worst.get(words, (0.0, 0.0))[0]:
                self._worst[words] = (seconds, now)
            if len(self._worst) > KEPT:
                del self._worst[min(self._worst, key=lambda one: self._worst[one][0])]

    def list(self) -> "list[Slow]":
        """The slowest first."""
        now = monotonic()
        with self._lock:
            found = [Slow(one, took, now - at) for one, (took, at) in self._worst.items()]
        return sorted(
            (one for one in found if one.ago < HOUR), key=lambda one: one.seconds, reverse=True
        )

    def _end(
        self, _connection: Any, _cursor: Any, statement: str, _values: Any, context: Any, _many: Any
    ) -> None:
        self.note(statement, monotonic() - context.began_at)


def _begin(
    _connection: Any, _cursor: Any, _statement: str, _values: Any, context: Any, _many: Any
) -> None:
    context.began_at = monotonic()


def _without_values(statement: str) -> str:
    """Values are sent apart from the text; this is for those that a driver wrote into it."""
    return " ".join(VALUES.sub("?", statement).split())[:LONGEST]
