"""Reads a whole tape in order, many events at a time: for exports, checks and streams.

The channels of a part of the tape are read page by page and sorted by number, which costs a tenth
of merging them event by event.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from operator import attrgetter

from sqlalchemy import Connection

from tapeline import memory
from tapeline.errors import ChangedMeanwhile, Overloaded
from tapeline.store import bulk
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.pages import unpack
from tapeline.tape.proof import removed

FEW, MANY = 50, 10_000
"""Events read at once: few at first, then more, as far as their pages fit in AT_ONCE."""
GROWTH = 15
AT_ONCE = 2_000_000  # bytes of pages
OF_A_BYTE = 6
"""Bytes of memory for each byte of a page: the page, its events, and their lines on their way."""

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

_SIZES = """
select first, length(content) from pages where tape = ? and channel = ? and first > ? and first <= ?
"""

_LAST_PAGE = """
select content from pages where tape = ? and channel = ? order by first desc limit 1
"""

TOO_LONG = (
    "Events that were stored together need more memory than the server has left, so they cannot be"
    " read now. Try again later. The operator can give the server more memory."
)

_number = attrgetter("seq")


def records(
    connection: Connection, tape: int, *, after: int = 0, until: int | None = None
) -> Iterator[StoredEvent]:
    """Every record in order, in bounded memory."""
    return chain.from_iterable(portions(connection, tape, after=after, until=until))


def portions(
    connection: Connection, tape: int, *, after: int = 0, until: int | None = None
) -> Iterator[list[StoredEvent]]:
    """The same, many at a time."""
    if until is None:
        until = _end(connection, tape)
    size = FEW
    while after < until:
        last = _fitting_end(connection, tape, after, min(after + size, until), AT_ONCE)
        yield _between(connection, tape, after, last)
        after, size = last, more(size)


def groups(
    connection: Connection, tape: int, after: int, until: int, size: int
) -> list[Sequence[StoredEvent]]:
    """Complete groups after the end of one, about so many events, not more than AT_ONCE unless one
    group is. A model that is being deleted has lost some, and a reader must not take the rest for
    the whole."""
    most = AT_ONCE
    while True:
        last = _fitting_end(connection, tape, after, min(after + size, until), most)
        found = _between(connection, tape, after, last)
        _require_all(found, after, last)
        complete, _ = removed.grouped(found)
        if complete:
            return complete
        if last == until:  # the last group is cut off, which no caller asks for
            raise ChangedMeanwhile
        size, most = size * 2, most * 2
        if OF_A_BYTE * most > memory.available():
            raise Overloaded(TOO_LONG)


def more(size: int) -> int:
    """How many to read after so many. Pages that do not fit are left for the next time."""
    return min(MANY, size * GROWTH)


def _fitting_end(connection: Connection, tape: int, after: int, until: int, most: int) -> int:
    """How far one can read with pages of so many bytes; at least to the end of the first page."""
    sizes: list[tuple[int, int]] = []
    for channel in _channels(connection, tape):
        found = bulk.fetch(connection, _SIZES, (tape, channel, after, until))
        sizes += [(first, length) for first, length in found]
    read = 0
    for first, length in sorted(sizes):
        read += length
        if read > most and first > after + 1:
            return first - 1
    return until


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
