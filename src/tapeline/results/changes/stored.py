"""Changes after the fact of a stored tape: kept in memory and continued, as far as anyone looks.

Most orders are one post that arrives in time, and cannot have a change. Only the others are
remembered, by the numbers of their events; an order is read again and folded when something new is
said about it long after its first claim. Whoever asks and leaves loses nothing: the next request
goes on where this one was.
"""

import heapq
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from sqlalchemy import Connection

from tapeline.fair_threads import checkpoint
from tapeline.recently_used import RecentlyUsed
from tapeline.results.changes.change import Change, report
from tapeline.results.changes.figures import Assessed
from tapeline.results.changes.folding import Folded, Reports
from tapeline.results.changes.stored_orders import ORDERS, StoredOrders
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.reading import channels

KEPT = 1_000_000  # orders and entries that are remembered, of all models together
LEAST = 1_000  # what a model weighs at least
PORTION = 5_000
PATIENCE = 0.2  # seconds between two looks whether the client is still there
ENTRIES = (kinds.MARK_PRICE.channel, kinds.CASH.channel, kinds.BACKTEST_RESULT.channel)
BEGINNING = frozenset(kind.number for kind in kinds.ORDERS | {kinds.CASH, kinds.POSITION})
OWN = (kinds.SET_PNL.channel, kinds.AUTO_PNL.channel)


class StoredChanges:
    """The changes of one tape up to a place, which only goes forward."""

    def __init__(self, late_after: float) -> None:
        self.seq = 0
        self._late_after = late_after
        self._places = dict.fromkeys((ORDERS, *ENTRIES, OWN[0]), 0)
        """How far each channel was read: the two of own figures together."""
        self._reports = Reports(late_after)
        self._orders = StoredOrders(late_after, self._reports.listing)
        self._folded: Folded | None = None
        self._assessed: tuple[object, Assessed] | None = None

    @property
    def weight(self) -> int:
        return LEAST + self._orders.weight + self._reports.weight

    def is_beyond(self, until: int) -> bool:
        return max(self._places.values()) > until

    @property
    def is_done(self) -> bool:
        """Whether it can answer without a look at the tape."""
        return self._folded is not None

    def advance(self, connection: Connection, tape: int, until: int) -> None:
        """Note which orders have to be folded again; that happens when somebody asks for them."""
        if until == self.seq:
            return
        self._folded = self._assessed = None
        self._begin(connection, tape, until)
        for some in self._portions(connection, tape, ORDERS, until):
            self._orders.note(connection, tape, some)
            for one in some:
                self._reports.arrive(one.seq, one.received_at)
        for channel in ENTRIES:
            for some in self._portions(connection, tape, channel, until):
                for one in some:
                    self._take_entry(one)
        # Last, because it matters whether anything else was counted before.
        self._advance_own(connection, tape, until)
        self.seq = until

    def folded(self, connection: Connection, tape: int) -> Folded:
        """All changes."""
        if self._folded is None:
            self._orders.fold(connection, tape, self.seq)
            self._folded = self._reports.folded(self._orders.standings)
        return self._folded

    def assessed(self, key: object, make: Callable[[], Assessed]) -> Assessed:
        """Made once for what is known now. `key`: whatever else it is made of."""
        if self._assessed is None or self._assessed[0] != key:
            self._assessed = (key, make())
        return self._assessed[1]

    def of_orders(
        self, connection: Connection, tape: int, ids: Iterable[str]
    ) -> dict[str, list[Change]]:
        """The changes of some orders, which cost no look at the others."""
        return self._orders.changes_of(connection, tape, self.seq, list(ids))

    def _take_entry(self, one: StoredEvent) -> None:
        is_price = one.kind == kinds.MARK_PRICE.number
        if is_price and abs(one.received_at - one.time) <= self._late_after:
            return  # a price in time needs no look at what it says
        self._reports.take(report(one))

    def _begin(self, connection: Connection, tape: int, until: int) -> None:
        """Find what counted first: channels are read one after the other."""
        if self._reports.is_begun:
            return
        found = [
            next((one for some in portions for one in some if one.kind in BEGINNING), None)
            for portions in (
                _portions(connection, tape, channel, 0, until)
                for channel in (ORDERS, kinds.CASH.channel)
            )
        ]
        known = [one for one in found if one is not None]
        if known:
            self._reports.begin(min(known, key=lambda one: one.seq).received_at)

    def _advance_own(self, connection: Connection, tape: int, until: int) -> None:
        after = self._places[OWN[0]]
        both = [
            (one for some in _portions(connection, tape, channel, after, until) for one in some)
            for channel in OWN
        ]
        for one in heapq.merge(*both, key=lambda one: one.seq):
            self._reports.take(report(one))
            self._places[OWN[0]] = one.seq
        self._places[OWN[0]] = until

    def _portions(
        self, connection: Connection, tape: int, channel: int, until: int
    ) -> Iterator[list[StoredEvent]]:
        """Each is done before the next is asked for, so that whoever stops in between loses none
        and takes none twice."""
        for some in _portions(connection, tape, channel, self._places[channel], until):
            yield some
            self._places[channel] = some[-1].seq
        self._places[channel] = until


class Place(NamedTuple):
    """How far a reader may look, and what is late for it."""

    tape: int
    until: int
    late_after: float
    delay_hours: int = 0


class Changes:
    """What is known of some tapes, by tape and by how far a reader may look."""

    def __init__(self) -> None:
        self._kept = RecentlyUsed[tuple[int, float, int], _Kept](KEPT, lambda one: one.weight)

    def at(self, connection: Connection, place: Place) -> Folded:
        """Everything up to a place on the tape."""
        with self._known(connection, place) as known:
            return known.folded(connection, place.tape)

    def of_orders(
        self, connection: Connection, place: Place, ids: Iterable[str]
    ) -> dict[str, list[Change]]:
        """The same of some orders alone."""
        with self._known(connection, place) as known:
            return known.of_orders(connection, place.tape, ids)

    def assessed(
        self, connection: Connection, place: Place, key: object, make: Callable[[Folded], Assessed]
    ) -> Assessed:
        """The same with the two figures, made once for a place. `key`: whatever else it is made
        of."""
        with self._known(connection, place) as known:
            return known.assessed(key, lambda: make(known.folded(connection, place.tape)))

    @contextmanager
    def _known(self, connection: Connection, place: Place) -> Iterator[StoredChanges]:
        tape, until, late_after, _ = place
        key = (tape, late_after, place.delay_hours)
        kept = self._kept.get(key, lambda: _Kept(threading.Lock(), StoredChanges(late_after)))
        while not kept.lock.acquire(timeout=PATIENCE):
            checkpoint()  # the client may have left while another one has it computed
        try:
            known = kept.changes
            if not known.is_beyond(until):
                known.advance(connection, tape, until)
            elif place.delay_hours or not known.is_done:
                # Another request, for a later place, was faster, and this one must not see it.
                known = StoredChanges(late_after)
                known.advance(connection, tape, until)
            yield known
        finally:
            weight = kept.changes.weight
            kept.lock.release()
            self._kept.put(key, kept._replace(weight=weight))


class _Kept(NamedTuple):
    lock: threading.Lock
    changes: StoredChanges
    weight: int = LEAST
    """When it was last used: it must not change while it is kept."""


def _portions(
    connection: Connection, tape: int, channel: int, after: int, until: int
) -> Iterator[list[StoredEvent]]:
    place: int | None = after
    while place is not None and place < until:
        some = channels.after(connection, tape, channel, after=place, limit=PORTION)
        checkpoint()
        wanted = [one for one in some.records if one.seq <= until]
        if wanted:
            yield wanted
        place = some.next
