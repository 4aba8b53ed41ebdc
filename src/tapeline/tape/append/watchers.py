"""Live streams: watchers of a model get its committed events, and never slow down the writer.

The writer leaves each group of records here once. A watcher takes them at its own pace; one that
falls too far behind reads the tape instead.
"""

import asyncio
import threading
from collections import defaultdict, deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

from tapeline.tape.events.stored_event import StoredEvent

# How far a slow watcher may be behind before it has to read the tape.
KEPT, KEPT_BYTES = 10_000, 1_000_000  # records, and what they say


@dataclass(eq=False)
class News:
    """One group of records, the same for all watchers."""

    model_id: str
    records: list[StoredEvent]
    written: bytes | None = None
    """The records as a stream writes them: the first stream to encode them saves the others the
    work."""

    @cached_property
    def size(self) -> int:
        """Bytes, about."""
        return sum([len(one.body) for one in self.records])


@dataclass(eq=False)
class Watcher:
    """One open stream, of one model or of several."""

    loop: asyncio.AbstractEventLoop
    news: deque[News] = field(default_factory=deque)
    is_behind: bool = False
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    watched: set[str] = field(default_factory=set)

    def has_too_much(self, more: News) -> bool:
        waiting = [*self.news, more]
        return (
            sum([len(one.records) for one in waiting]) > KEPT
            or sum([one.size for one in waiting]) > KEPT_BYTES
        )

    def take(self) -> list[News]:
        """All news; the event is cleared first, so that nothing slips in between."""
        self.woken.clear()
        taken = []
        while self.news:
            taken.append(self.news.popleft())
        return taken


class Watchers:
    """Who watches what, in this process."""

    def __init__(self) -> None:
        self._by_model: dict[str, set[Watcher]] = defaultdict(set)
        # Reentrant: a signal may close us in the very thread that is joining or leaving.
        self._lock = threading.RLock()
        self.closed = False
        self.hears_others = True
        """Whether notices of other servers arrive; if not, streams have to look."""
        self.rights = 0
        """How often somebody lost a right, as far as this server heard."""

    def join(self, *model_ids: str) -> Watcher:
        watcher = Watcher(asyncio.get_running_loop())
        self.follow(watcher, *model_ids)
        return watcher

    def follow(self, watcher: Watcher, *model_ids: str) -> None:
        """Watch these too."""
        with self._lock:
            watcher.watched.update(model_ids)
            for model_id in model_ids:
                self._by_model[model_id].add(watcher)

    def leave(self, watcher: Watcher) -> None:
        with self._lock:
            for model_id in watcher.watched:
                self._by_model[model_id].discard(watcher)
                if not self._by_model[model_id]:
                    del self._by_model[model_id]

    def has_any(self, model_id: str) -> bool:
        """Without the lock: a watcher that joins just now reads from the tape what it misses."""
        return model_id in self._by_model

    def publish(self, model_id: str, records: list[StoredEvent]) -> None:
        """Called by the writer's thread after the commit."""
        with self._lock:
            watchers = list(self._by_model.get(model_id, ()))
        news, by_loop = News(model_id, records), defaultdict(list)
        for watcher in watchers:
            if watcher.has_too_much(news):
                watcher.is_behind = True
                watcher.news.clear()
            else:
                watcher.news.append(news)
            by_loop[watcher.loop].append(watcher)
        # One call wakes all: each call costs the writer more than its content.
        for loop, some in by_loop.items():
            with suppress(RuntimeError):  # the loop has ended, and they with it
                loop.call_soon_threadsafe(_wake, some)

    def wake_readers(self, model_ids: Iterable[str]) -> None:
        """Another server wrote to these tapes: their watchers read them."""
        with self._lock:
            some = [one for name in model_ids for one in self._by_model.get(name, ())]
        _look(some)

    def hear_others(self, hears: bool) -> None:
        """Events written while nobody listened are found by looking."""
        self.hears_others = hears
        _look(self._everyone())

    def authorise_again(self) -> None:
        """Somebody lost a right, here or on another server: each stream checks that of its reader
        now."""
        self.rights += 1
        _wake_all(self._everyone())

    def close(self) -> None:
        """Wake everybody, so that streams notice that the service ends."""
        self.closed = True
        _wake_all(self._everyone())

    def _everyone(self) -> list[Watcher]:
        with self._lock:
            return [one for some in self._by_model.values() for one in some]


def _look(watchers: list[Watcher]) -> None:
    for watcher in watchers:
        watcher.is_behind = True
    _wake_all(watchers)


def _wake_all(watchers: list[Watcher]) -> None:
    for watcher in watchers:
        with suppress(RuntimeError):  # its loop has ended, and it with it
            watcher.loop.call_soon_threadsafe(watcher.woken.set)


def _wake(watchers: list[Watcher]) -> None:
    for watcher in watchers:
        watcher.woken.set()
