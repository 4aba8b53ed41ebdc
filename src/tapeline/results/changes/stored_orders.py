"""The orders of a stored tape that may have been changed after the fact, as far as it was read."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from tapeline.fair_threads import checkpoint
from tapeline.results.changes.change import Change, report
from tapeline.results.changes.folding import Standing
from tapeline.results.changes.listing import Listing
from tapeline.results.changes.of_orders import OrderFold
from tapeline.results.rules.rises import TIMES
from tapeline.results.rules.words import moment
from tapeline.store.portions import batches
from tapeline.store.tables.tape import orders
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.reading import channels

TOGETHER = 500  # ids in one statement
AT_ONCE = 10_000
"""Orders that are folded at once. Each time, the pages of the tape with their posts and updates are
unpacked; where these are strewn, that is nearly every page."""
OFTEN = 32  # reports: an order with more is not read again from its beginning
ORDERS = kinds.SPOT_MARKET.channel
_POSTS = frozenset(kind.number for kind in kinds.ORDERS)
_ANNOTATION = kinds.UPDATE_ANNOTATION.number


class _About(msgspec.Struct):
    """All that matters of an event here."""

    id: str
    executionTime: Any = None  # noqa: N815 - as it is on the wire
    executed_time: Any = None


_about = msgspec.json.Decoder(_About)


class Touched(msgspec.Struct, gc=False):
    """An order that is more than one post in time."""

    earliest: float
    """Of all times that were claimed, and of arrivals."""
    latest: float
    seqs: list[int]
    """Of its events, but perhaps for the first post. Of an order that is kept, those to come."""
    listed: int = 0
    """The last event whose changes are listed."""


class StoredOrders:
    def __init__(self, late_after: float, listing: Listing) -> None:
        self.standings: dict[str, Standing] = {}
        """Orders that stand otherwise than they were first reported."""
        self._late_after = late_after
        self._listing = listing
        self._touched: dict[str, Touched] = {}
        self._dirty: set[str] = set()
        self._changed: set[str] = set()
        """Orders with changes."""
        self._often: dict[str, OrderFold] = {}

    @property
    def weight(self) -> int:
        held = sum(one.weight for one in self._often.values())
        return len(self._touched) + len(self.standings) + held

    def note(self, connection: Connection, tape: int, some: Sequence[StoredEvent]) -> None:
        """Which orders have to be folded again."""
        firsts = _first_posts(connection, tape, some[0].seq, some[-1].seq)
        for one in some:
            if one.kind == _ANNOTATION:
                continue
            said = _about.decode(one.body)
            times = [one.time, one.received_at, *_times(said)]
            earliest, latest = min(times), max(times)
            is_out_of_time = latest - earliest > self._late_after
            known = self._touched.get(said.id)
            if known is not None:
                known.earliest = min(known.earliest, earliest)
                known.latest = max(known.latest, latest)
                known.seqs.append(one.seq)
            elif is_out_of_time or one.kind not in _POSTS or one.seq not in firsts:
                self._touched[said.id] = Touched(earliest, latest, [one.seq])
            else:
                continue
            self._dirty.add(said.id)

    def fold(self, connection: Connection, tape: int, until: int) -> None:
        """Every order that needs it."""
        self._fold(connection, tape, until, self._dirty)

    def changes_of(
        self, connection: Connection, tape: int, until: int, ids: Sequence[str]
    ) -> dict[str, list[Change]]:
        self._fold(connection, tape, until, self._dirty.intersection(ids))
        wanted = self._changed.intersection(ids)
        found = {one: self._often[one].changes for one in wanted if one in self._often}
        for some in batches(sorted(wanted - found.keys()), TOGETHER):
            numbers = self._suspicious(connection, tape, until, some)
            folds = {one: OrderFold(self._late_after) for one in numbers}
            for fold, event in _events(connection, tape, folds, numbers):
                fold.take(report(event))
            found |= {one: fold.changes for one, fold in folds.items()}
        return {one: [*changes] for one, changes in found.items()}

    def _fold(self, connection: Connection, tape: int, until: int, ids: Iterable[str]) -> None:
        # Orders of one time are on the same pages of the tape, which are unpacked once. The newest
        # first: most of the others are only counted then.
        for some in batches(sorted(ids, key=self._place, reverse=True), AT_ONCE):
            checkpoint()  # the client may have left
            wanted = self._suspicious(connection, tape, until, some)
            folds = {one: self._often.get(one) or OrderFold(self._late_after) for one in wanted}
            self._follow(connection, tape, folds, wanted)
            for name, fold in folds.items():
                self._settle(name, fold)
            self._dirty.difference_update(some)

    def _place(self, name: str) -> int:
        return next(iter(self._touched[name].seqs), 0)

    def _follow(
        self,
        connection: Connection,
        tape: int,
        folds: dict[str, OrderFold],
        wanted: dict[str, list[int]],
    ) -> None:
        names = {id(fold): name for name, fold in folds.items()}
        for fold, event in _events(connection, tape, folds, wanted):
            name = names[id(fold)]
            # What is kept, is kept with all it says.
            in_brief = len(wanted[name]) <= OFTEN and self._listing.is_full_of_newer(event.seq)
            found = fold.take(report(event), in_brief=in_brief)
            if found is not None and found.seq > self._touched[name].listed:
                self._listing.add([found])
                self._touched[name].listed = found.seq
                self._changed.add(name)
            if fold.weight > OFTEN:
                self._often[name] = fold

    def _settle(self, name: str, fold: OrderFold) -> None:
        standing = Standing.of(fold.history())
        if standing is None:
            self.standings.pop(name, None)
        else:
            self.standings[name] = standing
        if name in self._often:
            self._touched[name].seqs = []

    def _suspicious(
        self, connection: Connection, tape: int, until: int, ids: Sequence[str]
    ) -> dict[str, list[int]]:
        """Orders of which something arrived long after something that they claim, or before it,
        and the numbers of their events."""
        columns = select(orders.c.id, orders.c.seq, orders.c.time, orders.c.received_at)
        here = columns.where(orders.c.tape == tape)
        rows = (
            row
            for some in batches(ids, TOGETHER)
            for row in connection.execute(here.where(orders.c.id.in_(some)))
        )
        found: dict[str, list[int]] = {}
        for row in rows:
            known = self._touched[row.id]
            claims = [one for one in (row.time, row.received_at) if one is not None]
            length = max([known.latest, *claims]) - min([known.earliest, *claims])
            if length > self._late_after:
                is_new = row.id not in self._often
                post = [row.seq] if is_new and row.seq is not None and row.seq <= until else []
                found[row.id] = sorted({*known.seqs, *post})
        return found


def _events(
    connection: Connection, tape: int, folds: dict[str, OrderFold], wanted: dict[str, list[int]]
) -> Iterator[tuple[OrderFold, StoredEvent]]:
    """The events of some orders in the order of their arrival, each with its order."""
    whose = {seq: folds[name] for name, some in wanted.items() for seq in some}
    numbers = sorted(seq for seq, fold in whose.items() if seq > fold.seq)
    for count, event in enumerate(channels.numbered(connection, tape, ORDERS, numbers)):
        if count % TOGETHER == 0:
            checkpoint()
        yield whose[event.seq], event


def _first_posts(connection: Connection, tape: int, first: int, last: int) -> set[int]:
    """The numbers of events with which an order began."""
    query = select(orders.c.seq).where(orders.c.tape == tape, orders.c.seq.between(first, last))
    return set(connection.scalars(query))


def _times(said: _About) -> Iterator[float]:
    for name in TIMES:
        text = getattr(said, name)
        if text is not None and (at := moment(text)) is not None:
            yield at
