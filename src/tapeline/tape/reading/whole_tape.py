"""Reads a whole tape in order, many events at a time: for exports, checks and streams.

The channels of a part of the tape are read page by page and sorted by number, which costs a tenth
of merging them event by event.
"""

from collections.abc import Iterator
from itertools import chain
from operator import attrgetter

from sqlalchemy import Connection

from tapeline.errors import ChangedMeanwhile
from tapeline.store import bulk
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.pages import unpack
from tapeline.tape.proof import removed

FEW, MANY = 50, 4_000
"""Events read at once: few at first, because each may be long; then as many as fit in AT_ONCE, if
they are as long. Not more: they may be long after all."""
AT_ONCE = 4_000_000  # bytes of bodies, about

_PAGES = """
select content from pages where tape = ? and channel = ? and first <= ? and first >= coalesce(
    (select max(first) from pages where tape = ? and channel = ? and first <= ?), 0)
order by first
"""

# One step in the index for each channel that has pages: most of them have none.
_CHANNELS = """
with recursive found(channel) as (
    select min(channel) from pages where tape = ?
    union all
    select (select min(channel) from pages where tape = ? and channel > found.channel)
    from found where found.channel is not null)
select channel from found where channel is not null
"""

_LAST_PAGE = """
select content from pages where tape = ? and channel = ? order by first desc limit 1
"""

_number = attrgetter("seq")


def records(
    connection: Connection, tape: int, *, after: int = 0, until: int | None = None
) -> Iterator[StoredEvent]:
    """Every record in order, in bounded memory."""
    if until is None:
        until = _end(connection, tape)
    size = FEW
    while after < until:
        last = min(after + size, until)
        found = _between(connection, tape, after, last)
        yield from found
        after, size = last, fitting(found)


def groups(
    connection: Connection, tape: int, after: int, until: int, size: int
) -> list[list[StoredEvent]]:
    """Complete groups after the end of one, about so many events. A model that is being deleted has
    lost some, and a reader must not take the rest for the whole."""
    while True:
        last = min(after + size, until)
        found = _between(connection, tape, after, last)
        _require_all(found, after, last)
        ends = [
            place
            for place, one in enumerate(found, 1)
            if one.link is not None or (not one.kind and removed.ends_group(one))
        ]
        if ends:
            return [found[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        if last == until:  # the last group is cut off, which no caller asks for
            raise ChangedMeanwhile
        size *= 2


def fitting(read: list[StoredEvent]) -> int:
    """How many to read next, if they are as long as these."""
    size = sum([len(one.body) for one in read])
    return max(1, min(MANY, AT_ONCE * len(read) // size)) if size else FEW


def _between(connection: Connection, tape: int, after: int, until: int) -> list[StoredEvent]:
    found: list[StoredEvent] = []
    for channel in _channels(connection, tape):
        place = (tape, channel)
        # The page that the first event is on may begin before it.
        for (content,) in bulk.fetch(connection, _PAGES, (*place, until, *place, after + 1)):
            page = unpack(content)
            if channel == removed.CHANNEL:
                page = list(chain.from_iterable(map(removed.spans, page)))
            if page[0].seq <= after or page[-1].seq > until:
                page = [one for one in page if after < one.seq <= until]
            found += page
    found.sort(key=_number)
    return found


def _require_all(found: list[StoredEvent], after: int, until: int) -> None:
    """Removed spans stand for several events each."""
    if len(found) == until - after:
        return
    if after + sum([removed.last(one) - one.seq + 1 for one in found]) < until:
        raise ChangedMeanwhile


def _end(connection: Connection, tape: int) -> int:
    """The number of the last record that is there, whatever the tape's row says."""
    last = [0]
    for channel in _channels(connection, tape):
        for (content,) in bulk.fetch(connection, _LAST_PAGE, (tape, channel)):
            end = unpack(content)[-1]
            spans = removed.spans(end) if channel == removed.CHANNEL else [end]
            last += [removed.last(one) for one in spans]
    return max(last)


def _channels(connection: Connection, tape: int) -> list[int]:
    return [channel for (channel,) in bulk.fetch(connection, _CHANNELS, (tape, tape))]
