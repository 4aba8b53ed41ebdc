"""Whose turn is next: tenants share a few places, and none of them can take every place.

The next free place goes to the tenant with the fewest pieces of work under way; among equals, to
the one that used the least time. Strangers (sign-in, links) and the server's own work have one
place each that no tenant can take. Pure: no threads and no clock.
"""

from collections import Counter
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Generic, TypeVar

from tapeline.fair_line import FairLine, Owner

T = TypeVar("T")

SERVER, STRANGERS = " server", " strangers"  # no tenant's id begins with a space
APART = (SERVER, STRANGERS)

_THE_SERVER = Owner(SERVER)
sender: ContextVar[Owner] = ContextVar("sender", default=_THE_SERVER)
"""The owner of the work that this task does."""


class Turns(Generic[T]):
    def __init__(self, places: int, apart: Iterable[str] = APART) -> None:
        """`apart` have one more place each, which nobody else can take."""
        self._places = places
        self._most = max(1, places - 1)
        self._apart = frozenset(apart)
        self._lines: dict[str, FairLine[tuple[Owner, T]]] = {}
        self._under_way: Counter[str] = Counter()
        self._used: dict[str, float] = {}
        self._now = 0.0
        """What the last one to begin had used before: newcomers start here, so that nobody saves
        up turns by being absent."""

    def __len__(self) -> int:
        """How many wait."""
        return sum(map(len, self._lines.values()))

    @property
    def threads(self) -> int:
        """How many pieces of work can be under way at once."""
        return self._places + len(self._apart)

    def add(self, owner: Owner, item: T) -> None:
        name = owner.tenant
        self._used[name] = max(self._now, self._used.get(name, 0.0))
        self._lines.setdefault(name, FairLine()).add(owner, (owner, item))

    def begin(self) -> tuple[Owner, T] | None:
        """The next to begin, if there is a place for anyone who waits."""
        free = [name for name in self._lines if self._has_place(name)]
        if not free:
            return None
        name = min(free, key=lambda one: (self._under_way[one], self._used[one]))
        line = self._lines[name]
        found = line.first()
        line.serve(1)
        if not line:
            del self._lines[name]
        self._now = max(self._now, self._used[name])
        self._under_way[name] += 1
        return found

    def end(self, owner: Owner, seconds: float) -> None:
        """It took so long."""
        name = owner.tenant
        self._used[name] += seconds
        self._under_way[name] -= 1
        if not self._under_way[name]:
            del self._under_way[name]
        self._used = {
            one: used
            for one, used in self._used.items()
            if used > self._now or one in self._lines or one in self._under_way
        }

    def _has_place(self, name: str) -> bool:
        if name in self._apart and not self._under_way[name]:
            return True
        shared = sum(self._shared(one) for one in self._under_way)
        return shared < self._places and self._shared(name) < self._most

    def _shared(self, name: str) -> int:
        """How many of the places that anyone can take it has."""
        return max(0, self._under_way[name] - (name in self._apart))
