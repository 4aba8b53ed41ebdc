"""Reads a tape: always a bounded part of one channel, never its whole history at once."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, func, select, true

from tapeline.store.portions import batches
from tapeline.store.tables.tape import pages, states, tapes, used
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.pages import length, unpack

PATIENCE = (
    50_000  # events a filter may look at in one request; the answer's cursor goes on from there
)
GLANCED = 20  # this many records of a skipped page cost as much as one that is examined
AT_ONCE = 1_000_000  # bytes of pages read at once, about
LONGEST = 2_000_000  # bytes of records in one answer, about: fewer than asked for, if they are long
FIRST_LOOK, MOST = 4, 1_000  # pages: one may hold one event or a thousand
PLACES, TOGETHER = 1_000, 16  # pages whose places are looked up at once, and that are read at once


class Portion(msgspec.Struct):
    """Part of a list: the records found, and where to go on. `None` means there is no more."""

    records: list[StoredEvent]
    next: int | None


Wanted = Callable[[StoredEvent], bool]
MayHave = Callable[[bytes], bool]
"""Whether a page can have a wanted record, judged by its bytes: most need not be unpacked then."""


def newest(
    connection: Connection,
    tape: int,
    channel: int,
    *,
    before: int | None,
    limit: int,
    wanted: Wanted | None = None,
    may_have: MayHave | None = None,
) -> Portion:
    """The newest records of a channel before a number, at most `limit`."""
    most = limit if wanted is None else MOST
    walk = _before(connection, tape, channel, before, most, may_have)
    return _gathered(walk, before, limit, wanted)


def after(
    connection: Connection,
    tape: int,
    channel: int,
    *,
    after: int,
    limit: int,
    wanted: Wanted | None = None,
    may_have: MayHave | None = None,
) -> Portion:
    """The records after a number, oldest first, for readers who tail a log."""
    most = limit if wanted is None else MOST
    walk = _after(connection, tape, channel, after, most, may_have)
    return _gathered(walk, after, limit, wanted)


def numbered(
    connection: Connection, tape: int, channel: int, seqs: Sequence[int]
) -> Iterator[StoredEvent]:
    """The records of a channel with these numbers, which rise. A page is read once, whatever it
    has of them."""
    at = 0
    while at < len(seqs):
        most = min(PLACES, 1 + 2 * (len(seqs) - at))
        firsts = _firsts(connection, tape, channel, seqs[at], most)
        # Where the last page ends is known only if there is no page after it.
        end = len(seqs) if len(firsts) < most else bisect_left(seqs, firsts[-1], at)
        wanted = {firsts[max(0, bisect_right(firsts, seq) - 1)] for seq in seqs[at:end] if firsts}
        for records in _unpacked(connection, tape, channel, sorted(wanted)):
            by_seq = {record.seq: record for record in records}
            while at < end and seqs[at] <= records[-1].seq:
                if seqs[at] in by_seq:
                    yield by_seq[seqs[at]]
                at += 1
        at = end


def reached(connection: Connection, tape: int, channel: int, moment: float) -> int:
    """The number of the first record of a channel that arrived at a moment or later.

    Numbers rise with arrival, so a binary search finds it with a few pages. Where clocks stepped
    back, several numbers would be right, and it returns one of them.
    """
    here = (pages.c.tape == tape, pages.c.channel == channel)
    ends = select(func.min(pages.c.first), func.max(pages.c.first)).where(*here)
    low, high = connection.execute(ends).one()
    if low is None:
        return 0
    before = select(pages).where(*here).order_by(pages.c.first.desc()).limit(1)
    # The last page that began before the moment has it, or ends right before it.
    page: list[StoredEvent] = []
    while low <= high:
        middle = (low + high) // 2
        row = connection.execute(before.where(pages.c.first <= middle)).one()
        records = unpack(row.content)
        if records[0].received_at < moment:
            page, low = records, max(middle, records[-1].seq) + 1
        else:
            high = row.first - 1
    late = (record.seq for record in page if record.received_at >= moment)
    return next(late, page[-1].seq + 1 if page else 0)


def state(connection: Connection, tape: int, name: str) -> dict[str, Any] | None:
    value = content_of(connection, tape, name)
    return None if value is None else msgspec.json.decode(value, type=dict[str, Any])


def content_of(connection: Connection, tape: int, name: str) -> bytes | None:
    """A state as it is stored: JSON."""
    value: bytes | None = connection.scalar(
        select(states.c.value).where(states.c.tape == tape, states.c.name == name)
    )
    return value


def lifecycles(connection: Connection, model_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The lifecycles of many models in one query; those without events have none."""
    query = (
        select(tapes.c.model_id, states.c.value)
        .join(states, states.c.tape == tapes.c.no)
        .where(tapes.c.model_id.in_(model_ids), states.c.name == "lifecycle")
    )
    return {
        row.model_id: msgspec.json.decode(row.value, type=dict[str, Any])
        for row in connection.execute(query)
    }


def used_names(connection: Connection, tape: int, what: str) -> list[str]:
    query = select(used.c.name).where(used.c.tape == tape, used.c.what == what)
    return list(connection.scalars(query.order_by(used.c.seq)))


# A page: where to go on from it, and its records, or their count if none is wanted.
Page = tuple[int, list[StoredEvent] | int]


def _gathered(
    walk: Iterator[Page], place: int | None, limit: int, wanted: Wanted | None
) -> Portion:
    """The wanted records of a walk in either direction, until there are enough, they are too long
    for one answer, or patience ends."""
    found: list[StoredEvent] = []
    looked = size = 0
    for here, records in walk:
        if looked >= PATIENCE:
            return Portion(found, place)
        if isinstance(records, int):
            looked, place = looked + 1 + records // GLANCED, here
            continue
        for record in records:
            if looked >= PATIENCE:
                return Portion(found, place)
            looked, place = looked + 1, record.seq
            if wanted is None or wanted(record):
                found.append(record)
                size += len(record.body)
                if len(found) == limit or size > LONGEST:
                    return Portion(found, place)
    return Portion(found, None)


def _unpacked(
    connection: Connection, tape: int, channel: int, firsts: Sequence[int]
) -> Iterator[list[StoredEvent]]:
    """The pages that begin there. Several in one statement, which takes longer than a page."""
    here = select(pages.c.content).where(pages.c.tape == tape, pages.c.channel == channel)
    for some in batches(firsts, TOGETHER):
        query = here.where(pages.c.first.in_(some)).order_by(pages.c.first)
        for content in connection.scalars(query):
            yield unpack(content)


def _firsts(connection: Connection, tape: int, channel: int, number: int, most: int) -> list[int]:
    """Where the page of a number begins, and the pages after it."""
    here = (pages.c.tape == tape, pages.c.channel == channel)
    page = select(func.max(pages.c.first)).where(*here, pages.c.first <= number).scalar_subquery()
    query = select(pages.c.first).where(*here, pages.c.first >= func.coalesce(page, 0))
    return list(connection.scalars(query.order_by(pages.c.first).limit(most)))


def _after(
    connection: Connection,
    tape: int,
    channel: int,
    number: int,
    most: int,
    may_have: MayHave | None = None,
) -> Iterator[Page]:
    """Records of a channel that follow a number, oldest first."""
    here = (pages.c.tape == tape, pages.c.channel == channel)
    # The page it is on begins before it.
    page = select(func.max(pages.c.first)).where(*here, pages.c.first <= number).scalar_subquery()
    query = select(pages).where(*here).order_by(pages.c.first)
    start = pages.c.first >= func.coalesce(page, 0)
    for row in _rows(connection, query, start, pages.c.first.__gt__, most):
        if may_have is not None and not may_have(row.content):
            yield max(number, row.first), length(row.content)
        else:
            yield row.first, [record for record in unpack(row.content) if record.seq > number]


def _before(
    connection: Connection,
    tape: int,
    channel: int,
    number: int | None,
    most: int,
    may_have: MayHave | None = None,
) -> Iterator[Page]:
    """Records of a channel before a number, newest first."""
    here = (pages.c.tape == tape, pages.c.channel == channel)
    query = select(pages).where(*here).order_by(pages.c.first.desc())
    start = true() if number is None else pages.c.first < number
    for row in _rows(connection, query, start, pages.c.first.__lt__, most):
        if may_have is not None and not may_have(row.content):
            yield row.first, length(row.content)
            continue
        records = unpack(row.content)
        records.reverse()
        yield row.first, [one for one in records if number is None or one.seq < number]


def _rows(
    connection: Connection, query: Select[Any], start: Any, beyond: Callable[[int], Any], most: int
) -> Iterator[Any]:
    """Pages in bounded memory, as many at once as their size allows."""
    size = min(FIRST_LOOK, most)
    while True:
        rows = connection.execute(query.where(start).limit(size)).all()
        yield from rows
        if len(rows) < size:
            return
        start = beyond(rows[-1].first)
        fitting = AT_ONCE * len(rows) // sum(len(row.content) for row in rows)
        size = max(1, min(most, fitting))
