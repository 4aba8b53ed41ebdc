"""A waiting line that is fair at four levels: between tenants, between the projects of a tenant,
between the keys of a project, and between the models of a key.

At each level, the one that was served the fewest bytes goes next (start-time fair queueing).
However many accounts, projects, keys or models a tenant uses, it gets no more than one that uses a
single model. Visitors of its links count as the tenant's, and go after its own people.
"""

from collections import deque
from collections.abc import Hashable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

VISITORS = " visitors"  # no project's id begins with a space


class Owner(NamedTuple):
    """The sender of a piece of work, named from the outside in."""

    tenant: str
    """Or a part of the server itself."""
    project: str = ""
    """Or an account, or the visitors of links."""
    key: str = ""
    tape: int = 0


class FairLine(Generic[T]):
    def __init__(self) -> None:
        self._top: _Level[T] = _Level()
        self._waiting = 0

    def __len__(self) -> int:
        return self._waiting

    def add(self, owner: Owner, item: T) -> None:
        level = self._top
        for name in owner:
            level = level.joined(name)
        level.items.append(item)
        self._waiting += 1

    def first(self) -> T:
        """The one whose turn is next."""
        level = self._top
        while level.inner:
            level = level.inner[level.next()]
        return level.items[0]

    def serve(self, cost: int) -> None:
        """Take the first out, at so many bytes; none for one that gave up."""
        self._top.serve(cost)
        self._waiting -= 1


class _Level(Generic[T]):
    """Those who wait here, by name, and how much each was served."""

    def __init__(self) -> None:
        self.inner: dict[Hashable, _Level[T]] = {}
        self.items: deque[T] = deque()
        """Only at the innermost level."""
        self._served: dict[Hashable, int] = {}
        self._now = 0
        """What the last one served had been served before: newcomers begin here, so that nobody
        saves up turns by being absent."""

    def joined(self, name: Hashable) -> "_Level[T]":
        if name not in self.inner:
            self.inner[name] = _Level()
            self._served[name] = max(self._now, self._served.get(name, 0))
        return self.inner[name]

    def next(self) -> Hashable:
        return min(self.inner, key=lambda name: (name == VISITORS, self._served[name]))

    def serve(self, cost: int) -> bool:
        """Whether nobody waits here any more."""
        if not self.inner:
            self.items.popleft()
            return not self.items
        name = self.next()
        if name != VISITORS:  # they take turns only among themselves
            self._now = self._served[name]
            self._served[name] += cost
        if self.inner[name].serve(cost):
            del self.inner[name]
            # One that left with a debt still has it when it comes back at once.
            kept = self._served.items()
            self._served = {
                who: served for who, served in kept if who in self.inner or served > self._now
            }
        return not self.inner
