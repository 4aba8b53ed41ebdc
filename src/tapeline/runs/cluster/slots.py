"""Which reservation belongs to which run. Those that nobody needs are kept for a while and given to
the next run of the same size.

Ray's head remembers every reservation that there ever was (17 KB each), so one per backtest would
fill it.
"""

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

KEPT = 60.0  # seconds

Held = TypeVar("Held")


class Size(NamedTuple):
    cpu: float
    memory: int


@dataclass
class _Slot(Generic[Held]):
    held: Held
    node: str
    size: Size
    free_since: float | None = None


class Slots(Generic[Held]):
    """`make` returns what it reserved and the node, or nothing if there is no room; `remove` ends
    it. Any number of threads may ask."""

    def __init__(
        self,
        make: Callable[[Size, Collection[str]], tuple[Held, str] | None],
        remove: Callable[[Held], None],
    ) -> None:
        self._make, self._remove = make, remove
        self._turn = Lock()
        self._of: dict[str, _Slot[Held]] = {}
        self._free: list[_Slot[Held]] = []

    def reserve(self, run: str, size: Size, among: Collection[str]) -> str | None:
        with self._turn:
            slot = self._of.get(run)
            if slot is not None:
                if slot.node in among and slot.size == size:
                    return slot.node
                del self._of[run]
                self._keep(slot)
            slot = self._kept(size, among) or self._made(size, among)
            if slot is None:
                return None
            self._of[run] = slot
            return slot.node

    def release(self, runs: Iterable[str]) -> None:
        with self._turn:
            for run in runs:
                if (slot := self._of.pop(run, None)) is not None:
                    self._keep(slot)

    def reserved(self) -> dict[str, str]:
        with self._turn:
            return {run: slot.node for run, slot in self._of.items()}

    def tidy(self, alive: Collection[str]) -> None:
        """Called now and then. Ray moves a reservation whose node died; a run cannot follow it."""
        with self._turn:
            for run, slot in list(self._of.items()):
                if slot.node not in alive:
                    del self._of[run]
                    self._remove(slot.held)
            old = time.monotonic() - KEPT
            for slot in list(self._free):
                if slot.node not in alive or (slot.free_since or 0) < old:
                    self._free.remove(slot)
                    self._remove(slot.held)

    def _keep(self, slot: _Slot[Held]) -> None:
        slot.free_since = time.monotonic()
        self._free.append(slot)

    def _kept(self, size: Size, among: Collection[str]) -> _Slot[Held] | None:
        for slot in self._free:
            if slot.size == size and slot.node in among:
                self._free.remove(slot)
                return slot
        return None

    def _made(self, size: Size, among: Collection[str]) -> _Slot[Held] | None:
        made = self._make(size, among) if among else None
        if made is None and (idle := [one for one in self._free if one.node in among]):
            for slot in idle:  # their sizes are others, and this run needs the room
                self._free.remove(slot)
                self._remove(slot.held)
            made = self._make(size, among)
        return None if made is None else _Slot(*made, size)
