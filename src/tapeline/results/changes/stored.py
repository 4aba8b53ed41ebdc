"""Changes after the fact of a stored tape: kept in memory and continued, as far as anyone looks.

Most orders are one post that arrives in time, and cannot have a change. Only the others are
remembered, by the numbers of their events; an order is read again and folded when something new is
said about it long after its first claim.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, select

from tapeline.fair_threads import checkpoint
from tapeline.recently_used import RecentlyUsed
from tapeline.results.changes.change import Change, Report, report
from tapeline.results.changes.folding import Folded, Reports
from tapeline.results.changes.of_orders import History, history
from tapeline.results.rules.rises import TIMES
from tapeline.results.rules.words import moment
from tapeline.store.portions import batches
from tapeline.store.tables.tape import orders
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.reading import channels

KEPT = 1_000_000  # orders and entries that are remembered, of all models together
LEAST = 1_000  # what a model weighs at least
PORTION = 5_000
TOGETHER = 500  # ids in one statement
ORDERS = kinds.SPOT_MARKET.channel
OTHERS = (kinds.MARK_PRICE, kinds.CASH, kinds.SET_PNL, kinds.AUTO_PNL)
_POSTS = frozenset(kind.number for kind in kinds.ORDERS)
_ANNOTATION = kinds.UPDATE_ANNOTATION.number
_ENTRIES = frozenset({kinds.MARK_PRICE.number, kinds.CASH.number, kinds.POSITION.number})


class _About(msgspec.Struct):
    """All that matters of an event here."""

    id: str
    executionTime: Any = None  # noqa: N815 - as it is on the wire
    executed_time: Any = None


_about = msgspec.json.Decoder(_About)


class Touched(msgspec.Struct, gc=False):
    """An order that is more than one post in time."""

    earliest: float
    """Of all times that were claimed."""
    newest: float
    """Arrival of the last event."""
    seqs: list[int]
    """Of its events, but perhaps for the first post."""


class StoredChanges:
    """The changes of one tape up to a place, which only goes forward."""

    def __init__(self, late_after: float) -> None:
        self.seq = 0
        self._late_after = late_after
        self._reports = Reports(late_after)
        self._orders: dict[str, Touched] = {}
        self._dirty: set[str] = set()
        self._histories: dict[str, History] = {}
        self._folded: Folded | None = None

    @property
    def weight(self) -> int:
        return LEAST + len(self._orders) + self._reports.weight

    def advance(self, connection: Connection, tape: int, until: int) -> None:
        """Note which orders have to be folded again; that happens when somebody asks for them."""
        if until == self.seq:
            return
        self._folded = None
        for some in _portions(connection, tape, ORDERS, self.seq, until):
            self._note(connection, tape, some)
        for kind in OTHERS:
            for some in _portions(connection, tape, kind.channel, self.seq, until):
                for one in some:
                    if self._can_matter(one):
                        self._reports.take(report(one))
        self.seq = until

    def folded(self, connection: Connection, tape: int) -> Folded:
        """All changes."""
        if self._folded is None:
            self._fold(connection, tape, self._dirty)
            self._folded = self._reports.folded(self._histories)
        return self._folded

    def of_orders(
        self, connection: Connection, tape: int, ids: Iterable[str]
    ) -> dict[str, list[Change]]:
        """The changes of some orders, which cost no look at the others."""
        wanted = list(ids)
        self._fold(connection, tape, self._dirty.intersection(wanted))
        known = self._histories
        return {one: known[one].changes for one in wanted if one in known}

    def _can_matter(self, one: StoredEvent) -> bool:
        """A price in time needs no look at what it says."""
        if one.kind == kinds.ACCOUNT_SETTINGS.number:
            return False
        is_late = one.received_at - one.time > self._late_after
        return is_late or one.kind not in _ENTRIES or one.kind == kinds.CASH.number

    def _note(self, connection: Connection, tape: int, some: Sequence[StoredEvent]) -> None:
        firsts = _first_posts(connection, tape, some[0].seq, some[-1].seq)
        for one in some:
            if one.kind == _ANNOTATION:
                continue
            said = _about.decode(one.body)
            earliest = min([one.time, one.received_at, *_times(said)])
            is_late = one.received_at - earliest > self._late_after
            known = self._orders.get(said.id)
            if known is not None:
                known.earliest = min(known.earliest, earliest)
                known.newest = max(known.newest, one.received_at)
                known.seqs.append(one.seq)
            elif is_late or one.kind not in _POSTS or one.seq not in firsts:
                self._orders[said.id] = Touched(earliest, one.received_at, [one.seq])
            else:
                continue
            self._dirty.add(said.id)

    def _fold(self, connection: Connection, tape: int, ids: Iterable[str]) -> None:
        for some in batches(sorted(ids), TOGETHER):
            checkpoint()  # the client may have left
            wanted = self._suspicious(connection, tape, some)
            for name, reports in _reports(connection, tape, wanted).items():
                found = history(reports, self._late_after)
                if found.changes or found.first != found.now:
                    self._histories[name] = found
                else:
                    self._histories.pop(name, None)
            self._dirty.difference_update(some)

    def _suspicious(
        self, connection: Connection, tape: int, ids: Sequence[str]
    ) -> dict[str, list[int]]:
        """Orders of which something arrived long after something that they claim, and the numbers
        of their events."""
        query = select(orders.c.id, orders.c.seq, orders.c.time, orders.c.received_at).where(
            orders.c.tape == tape, orders.c.id.in_(ids)
        )
        found: dict[str, list[int]] = {}
        for row in connection.execute(query):
            known = self._orders[row.id]
            claims = [one for one in (row.time, row.received_at) if one is not None]
            if known.newest - min([known.earliest, *claims]) > self._late_after:
                post = [row.seq] if row.seq is not None and row.seq <= self.seq else []
                found[row.id] = sorted({*known.seqs, *post})
        return found


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

    @contextmanager
    def _known(self, connection: Connection, place: Place) -> Iterator[StoredChanges]:
        tape, until, late_after, _ = place
        key = (tape, late_after, place.delay_hours)
        kept = self._kept.get(key, lambda: _Kept(threading.Lock(), StoredChanges(late_after)))
        with kept.lock:
            known = kept.changes
            if known.seq > until:  # another request, for a later place, was faster
                known = StoredChanges(late_after)
            known.advance(connection, tape, until)
            yield known
        self._kept.put(key, kept._replace(weight=kept.changes.weight))


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


def _first_posts(connection: Connection, tape: int, first: int, last: int) -> set[int]:
    """The numbers of events with which an order began."""
    query = select(orders.c.seq).where(orders.c.tape == tape, orders.c.seq.between(first, last))
    return set(connection.scalars(query))


def _times(said: _About) -> list[float]:
    texts = [getattr(said, name) for name in TIMES]
    return [at for text in texts if text is not None and (at := moment(text)) is not None]


def _reports(
    connection: Connection, tape: int, wanted: dict[str, list[int]]
) -> dict[str, list[Report]]:
    seqs = sorted({seq for some in wanted.values() for seq in some})
    by_seq = {one.seq: report(one) for one in channels.numbered(connection, tape, ORDERS, seqs)}
    return {name: [by_seq[seq] for seq in some] for name, some in wanted.items()}
