"""Which reservation belongs to which run. Those that nobody needs are kept for a while and given to
the next run of the same size.

Ray's head remembers every reservation that there ever was (17 KB each), so one per backtest would
fill it. So would one per turn in which a run waits for room: the figures say first whether there is
any.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

KEPT = 60.0  # seconds
DOUBTED = 60.0  # seconds in which figures that were wrong about a size are not believed
SETTLES = 5.0  # seconds in which Ray's head may not know yet what its figures say was given back

Held = TypeVar("Held")


class Size(NamedTuple):
    cpu: float
    memory: int


NOTHING = Size(0.0, 0)


@dataclass
class _Slot(Generic[Held]):
    held: Held
    node: str
    size: Size
    free_since: float | None = None


class Slots(Generic[Held]):
    """`make` returns what it reserved and the node, or nothing if there is no room; `remove` ends
    it; `free` says how much each node has left, as of a moment ago. Any number of threads may
    ask."""

    def __init__(
        self,
        make: Callable[[Size, Collection[str]], tuple[Held, str] | None],
        remove: Callable[[Held], None],
        free: Callable[[], Mapping[str, Size]],
    ) -> None:
        self._make, self._remove, self._figures = make, remove, free
        self._turn = Lock()
        self._of: dict[str, _Slot[Held]] = {}
        self._free: list[_Slot[Held]] = []
        self._refused: dict[tuple[Size, frozenset[str]], float] = {}
        """When there was no room among these nodes although the figures said so."""
        self._given_back_at = -float("inf")

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
            doubted = time.monotonic() - DOUBTED
            self._refused = {one: at for one, at in self._refused.items() if at > doubted}
            for run, slot in list(self._of.items()):
                if slot.node not in alive:
                    del self._of[run]
                    self._give_back(slot)
            old = time.monotonic() - KEPT
            for slot in list(self._free):
                if slot.node not in alive or (slot.free_since or 0) < old:
                    self._free.remove(slot)
                    self._give_back(slot)

    def _keep(self, slot: _Slot[Held]) -> None:
        slot.free_since = time.monotonic()
        self._free.append(slot)
        self._refused.clear()

    def _give_back(self, slot: _Slot[Held]) -> None:
        self._given_back_at = time.monotonic()
        self._refused.clear()
        self._remove(slot.held)

    def _kept(self, size: Size, among: Collection[str]) -> _Slot[Held] | None:
        for slot in self._free:
            if slot.size == size and slot.node in among:
                self._free.remove(slot)
                return slot
        return None

    def _made(self, size: Size, among: Collection[str]) -> _Slot[Held] | None:
        figures, idle = self._figures(), self._idle()
        has_room = any(_fits(size, figures.get(node)) for node in among)
        if has_room and (slot := self._tried(size, among)) is not None:
            return slot
        for node in among:
            spare = [figures.get(node, NOTHING), *(one.size for one in idle.get(node, []))]
            if len(spare) > 1 and _fits(size, _sum(spare)):
                for slot in idle[node]:  # their sizes are others, and this run needs the room
                    self._free.remove(slot)
                    self._give_back(slot)
                made = self._make(size, [node])  # Ray may need a moment: the figures tell when
                return None if made is None else _Slot(*made, size)
        return None

    def _tried(self, size: Size, among: Collection[str]) -> _Slot[Held] | None:
        asked, now = (size, frozenset(among)), time.monotonic()
        if now - self._refused.get(asked, -DOUBTED) < DOUBTED:
            return None
        if (made := self._make(size, among)) is None:
            if now - self._given_back_at > SETTLES:
                self._refused[asked] = now
            return None
        return _Slot(*made, size)

    def _idle(self) -> dict[str, list[_Slot[Held]]]:
        found: dict[str, list[_Slot[Held]]] = {}
        for slot in self._free:
            found.setdefault(slot.node, []).append(slot)
        return found


def _fits(size: Size, room: Size | None) -> bool:
    # Ray counts in ten thousandths of a core.
    return room is not None and size.cpu < room.cpu + 1e-4 and size.memory <= room.memory


def _sum(sizes: Iterable[Size]) -> Size:
    listed = list(sizes)
    return Size(sum(one.cpu for one in listed), sum(one.memory for one in listed))
