"""Whole tapes as NDJSON and live changes as server-sent events, each at its reader's own pace."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from functools import partial
from itertools import chain
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection
from starlette.requests import Request

from tapeline import turns
from tapeline.errors import Invalid
from tapeline.http.core import long_answers
from tapeline.http.core.answers import EventStream, Ndjson
from tapeline.http.core.endpoint import Call
from tapeline.http.view.following import follow, woken
from tapeline.http.view.tape_api import exported, reading, shown
from tapeline.tape import tapes
from tapeline.tape.append.watchers import Watcher
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.proof import removed
from tapeline.tape.reading import whole_tape
from tapeline.tape.record import writing

PORTION, PORTION_BYTES = 2_000, 250_000  # records read from the store at once
OF_A_PORTION = whole_tape.OF_A_BYTE * whole_tape.AT_ONCE // 2
"""Bytes of memory: the pages that it is on, unpacked, and its lines."""


async def export_tape(call: Call) -> Ndjson:
    """The model's whole record as NDJSON, oldest first."""
    found = await call.services.store.read(reading, call)
    headers = {"Cache-Control": "no-store", "Tape-Events": str(found.seq)}
    return long_answers.download(
        call.services,
        _lines(call, found),
        long_answers.reading_model(call),
        "application/x-ndjson",
        headers,
    )


async def stream_model(call: Call) -> EventStream:
    """Every change of this model as server-sent events; resumes after `Last-Event-ID`."""
    found = await call.services.store.read(tapes.reading, call.actor, call.path("model"))
    resumed = resumed_after(call.request)
    after = found.seq if resumed is None else min(resumed, found.seq)
    changes, may_read = _changes(call, found.model_id, after), long_answers.reading_model(call)
    return long_answers.stream(call.services, changes, may_read, {"Cache-Control": "no-store"})


def resumed_after(request: Request) -> int | None:
    resumed = request.headers.get("last-event-id")
    if resumed is None:
        return None
    if not (resumed.isascii() and resumed.isdecimal()):
        raise Invalid("`Last-Event-ID` must be the id of an earlier event.", field="Last-Event-ID")
    return int(resumed[:18])


async def _lines(call: Call, found: tapes.Reading) -> AsyncGenerator[bytes, None]:
    store = call.services.store

    def following(connection: Connection, part: Part) -> Part | None:
        return _part(connection, call, part, found.seq) if part.reached < found.seq else None

    async with aclosing(store.read_ahead(following, Part(0, whole_tape.FEW, []))) as parts:
        async for part in parts:
            for piece in part.pieces:
                if isinstance(piece, bytes):
                    yield piece
                    continue
                async for line in writing.lists_of(store, found.tape, piece):
                    yield line


def _changes(call: Call, model_id: str, after: int) -> AsyncGenerator[bytes, None]:
    """Everything on the tape after a number, then new events; a reader who falls behind gets them
    from the tape."""
    watchers = call.services.watchers

    async def changes(watcher: Watcher) -> AsyncGenerator[bytes, None]:
        nonlocal after
        while not watchers.closed:
            if watcher.is_behind:
                watcher.is_behind = False
                async for records in _missed(call, after):
                    after = removed.last(records[-1])
                    yield _sent(records)
            after, written = _written(watcher, after)
            if written:
                yield written
            if not watcher.is_behind:
                return

    return follow(watchers, [model_id], changes, partial(woken, watchers))


def _written(watcher: Watcher, after: int) -> tuple[int, bytes]:
    """The new events, and their last number. Numbers on a tape have no gaps: if one is missing,
    another server wrote in between or we were too slow, and the tape must be read."""
    pieces: list[bytes] = []
    for news in watcher.take():
        first, last = news.records[0].seq, news.records[-1].seq
        if last <= after:
            continue
        if first != after + 1:
            watcher.is_behind = True
            break
        if news.written is None:
            news.written = _sent(news.records)
        pieces.append(news.written)
        after = last
    return after, b"".join(pieces)


async def _missed(call: Call, after: int) -> AsyncIterator[list[StoredEvent]]:
    store = call.services.store
    while True:
        found = await store.read(tapes.reading, call.actor, call.path("model"))
        if found.seq <= after:
            return
        # Only while it is read: a stream whose reader takes nothing keeps no more than its portion.
        async with call.services.memory.need(turns.sender.get(), OF_A_PORTION):
            records = await store.read(_portion, found.tape, after, found.seq)
        if not records:
            return
        after = removed.last(records[-1])
        yield records


class Part(NamedTuple):
    """Some groups of a tape, as far as it is written."""

    reached: int
    size: int
    """How many events to take next."""
    pieces: list[bytes | StoredEvent]
    """Lines, and results in their places."""


def _part(connection: Connection, call: Call, before: Part, until: int) -> Part:
    """Raises if the model has been deleted: its tape may be incomplete."""
    tape, after, size = reading(connection, call).tape, before.reached, before.size
    records = list(chain.from_iterable(whole_tape.groups(connection, tape, after, until, size)))
    pieces: list[bytes | StoredEvent] = []
    start = 0
    for place, one in enumerate(records, 1):
        if one.kind == kinds.BACKTEST_RESULT.number:
            pieces += [exported(records[start:place]), one]
            start = place
    pieces.append(exported(records[start:]))
    return Part(removed.last(records[-1]), whole_tape.more(size), pieces)


def _portion(connection: Connection, tape: int, after: int, until: int) -> list[StoredEvent]:
    """Some records, and not many if they are long: each stream has them in memory."""
    last, size = min(after + PORTION, until), 0
    found: list[StoredEvent] = []
    for record in whole_tape.records(connection, tape, after=after, until=last):
        found.append(record)
        size += len(record.body)
        if size > PORTION_BYTES:
            break
    return found


def _sent(records: list[StoredEvent]) -> bytes:
    return b"".join(
        b"id: %d\nevent: %s\ndata: %s\n\n"
        % (
            record.seq,
            kinds.BY_NUMBER[record.kind].name.encode(),
            msgspec.json.encode(shown(record)),
        )
        for record in records
        if record.kind != removed.KIND
    )
