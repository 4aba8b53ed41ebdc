"""A small cache for threads: what was not used for longest is dropped first."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class RecentlyUsed(Generic[Key, Value]):
    def __init__(self, size: int, weigh: Callable[[Value], int] = lambda _: 1) -> None:
        """`size` is how much all values may weigh together: by default, how many there are."""
        self._size = size
        self._weigh = weigh
        self._weight = 0
        self._known: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The known value, or a new one. It is made outside the lock: two threads that ask at the
        same time may both make it, but nobody waits for another key's value."""
        known = self.find(key)
        if known is not None:
            return known
        made = make()
        self.put(key, made)
        return made

    def find(self, key: Key) -> Value | None:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            before = self._known.pop(key, None)
            self._weight -= 0 if before is None else self._weigh(before)
            self._known[key] = value
            self._weight += self._weigh(value)
            while self._weight > self._size:
                self._weight -= self._weigh(self._known.popitem(last=False)[1])
