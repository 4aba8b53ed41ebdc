"""How a server of others has answered this one: it is asked again after pauses that grow."""

from dataclasses import dataclass, field
from time import monotonic

FIRST_PAUSE, LONGEST_PAUSE = 30.0, 3_600.0  # seconds


@dataclass
class Outsider:
    address: str
    failures: int = 0
    """In a row."""
    last_error: str = ""
    _next: float = field(default=0.0)

    def is_due(self) -> bool:
        return monotonic() >= self._next

    def failed(self, error: str) -> None:
        # Beyond some doublings the pause is the longest anyway, and the number no float.
        pause = min(FIRST_PAUSE * 2 ** min(self.failures, 20), LONGEST_PAUSE)
        self.failures, self.last_error, self._next = self.failures + 1, error, monotonic() + pause

    def worked(self) -> None:
        self.failures, self.last_error, self._next = 0, "", 0.0
