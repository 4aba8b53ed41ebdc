"""Reading a tape: always a bounded stretch of one channel, never its whole history at once."""

import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from tapeline.store.tape_tables import backtests, events, states, tapes, used
from tapeline.tape import kinds
from tapeline.tape.seals import Record

STRETCH = 1_000  # rows read at once
PATIENCE = (
    50_000  # rows a filter may look at in one request; the answer's cursor goes on from there
)

_COLUMNS = [events.c[name] for name in Record.__struct_fields__]


class Stretch(msgspec.Struct):
    """Part of a list: what was found, and where to go on. `None` means there is no more."""

    records: list[Record]
    next: int | None


Wanted = Callable[[Record], bool]


def newest(
    connection: Connection,
    tape: int,
    channel: int,
    *,
    before: int | None,
    limit: int,
    wanted: Wanted | None = None,
) -> Stretch:
    """The newest records of a channel before a number, at most `limit`."""
    found: list[Record] = []
    looked = 0
    size = limit if wanted is None else STRETCH
    while looked < PATIENCE:
        rows = _before(connection, tape, channel, before, size)
        for record in rows:
            before = record.seq
            if wanted is None or wanted(record):
                found.append(record)
                if len(found) == limit:
                    return Stretch(found, before)
        looked += len(rows)
        if len(rows) < size:
            return Stretch(found, None)
    return Stretch(found, before)


def after(
    connection: Connection,
    tape: int,
    channel: int,
    *,
    after: int,
    limit: int,
    wanted: Wanted | None = None,
) -> Stretch:
    """The records that follow a number, oldest first: for those who tail a log."""
    query = _of(tape, channel).where(events.c.seq > after).order_by(events.c.seq).limit(limit)
    rows = [_record(row) for row in connection.execute(query)]
    found = [record for record in rows if wanted is None or wanted(record)]
    return Stretch(found, rows[-1].seq if len(rows) == limit else None)


def whole(
    connection: Connection, tape: int, *, after: int = 0, until: int | None = None
) -> Iterator[Record]:
    """Every record in order, in bounded memory: the channels merged by their numbers."""
    streams = [
        _channel(connection, tape, channel, after, until) for channel in _channels(connection, tape)
    ]
    yield from heapq.merge(*streams, key=lambda record: record.seq)


def state(connection: Connection, tape: int, name: str) -> dict[str, Any] | None:
    value = connection.scalar(
        select(states.c.value).where(states.c.tape == tape, states.c.name == name)
    )
    return None if value is None else msgspec.json.decode(value, type=dict[str, Any])


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


def _channels(connection: Connection, tape: int) -> list[int]:
    numbers = connection.scalars(select(backtests.c.no).where(backtests.c.tape == tape))
    fixed = {kind.channel for kind in kinds.KINDS}
    return sorted(fixed) + [kinds.CHANNELS_OF_BACKTESTS + number for number in numbers]


def _channel(
    connection: Connection, tape: int, channel: int, after_seq: int, until: int | None
) -> Iterator[Record]:
    size = 50  # most channels are short; a long one grows to whole stretches
    while True:
        query = _of(tape, channel).where(events.c.seq > after_seq).order_by(events.c.seq)
        if until is not None:
            query = query.where(events.c.seq <= until)
        rows = [_record(row) for row in connection.execute(query.limit(size))]
        yield from rows
        if len(rows) < size:
            return
        after_seq, size = rows[-1].seq, STRETCH


def _before(
    connection: Connection, tape: int, channel: int, before: int | None, limit: int
) -> list[Record]:
    query = _of(tape, channel).order_by(events.c.seq.desc()).limit(limit)
    if before is not None:
        query = query.where(events.c.seq < before)
    return [_record(row) for row in connection.execute(query)]


def _of(tape: int, channel: int) -> Any:
    return select(*_COLUMNS).where(events.c.tape == tape, events.c.channel == channel)


def _record(row: Any) -> Record:
    return Record(**row._mapping)
