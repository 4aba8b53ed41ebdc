"""Whole tapes as NDJSON and live changes as server-sent events, each at its reader's own pace."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

import msgspec
from sqlalchemy import Connection
from starlette.requests import Request

from tapeline.errors import Invalid
from tapeline.http.core import lasting
from tapeline.http.core.answers import EventStream, Ndjson
from tapeline.http.core.endpoint import Call
from tapeline.http.core.services import Services
from tapeline.http.view.tape_api import exported, reading, shown
from tapeline.tape import tapes
from tapeline.tape.append.watchers import Watcher
from tapeline.tape.backtest_results import result_pieces
from tapeline.tape.events import kinds
from tapeline.tape.events.stored_event import StoredEvent
from tapeline.tape.reading import channels
from tapeline.tape.record import writing

PORTION = 2_000  # records read from the store at once
TOGETHER = 0.01  # seconds: what comes within them is sent in one piece
LOOKED_EVERY = 1.0  # seconds between looks at a tape while other servers' words do not reach us


async def export_tape(call: Call) -> Ndjson:
    """The model's whole record as NDJSON, oldest first."""
    found = await call.services.store.read(reading, call)
    headers = {"Cache-Control": "no-store", "Tape-Events": str(found.seq)}
    lines, may_read = _lines(call, found), lasting.reading_model(call)
    return lasting.download(call.services, lines, may_read, "application/x-ndjson", headers)


async def stream_model(call: Call) -> EventStream:
    """Every change of this model as server-sent events; resumes after `Last-Event-ID`."""
    found = await call.services.store.read(tapes.reading, call.actor, call.path("model"))
    resumed = resumed_after(call.request)
    after = found.seq if resumed is None else min(resumed, found.seq)
    changes, may_read = _changes(call, found.model_id, after), lasting.reading_model(call)
    return lasting.stream(call.services, changes, may_read, {"Cache-Control": "no-store"})


def resumed_after(request: Request) -> int | None:
    resumed = request.headers.get("last-event-id")
    if resumed is None:
        return None
    if not (resumed.isascii() and resumed.isdecimal()):
        raise Invalid("`Last-Event-ID` must be the id of an earlier event.", field="Last-Event-ID")
    return int(resumed[:18])


async def _lines(call: Call, found: tapes.Reading) -> AsyncGenerator[bytes, None]:
    seq = 0
    while seq < found.seq:
        until = min(seq + PORTION, found.seq)
        records = await call.services.store.read(_all, call, seq, until)
        yield b"".join(exported(record) + b"\n" for record in records)
        for record in records:
            if record.kind == kinds.BACKTEST_RESULT.number:
                async for line in _lists(call, found, record):
                    yield line
        seq = until


async def _lists(call: Call, found: tapes.Reading, record: StoredEvent) -> AsyncIterator[bytes]:
    """The long lists of the result that stands now, piece by piece, after its own line."""
    store = call.services.store
    upload = await store.read(result_pieces.current, found.tape, record.seq, record.backtest_id)
    if upload is None:
        return
    for name in await store.read(result_pieces.names, upload):
        piece = 0
        while (
            found_piece := await store.read(result_pieces.piece, upload, name, piece)
        ) is not None:
            yield writing.list_line(record.seq, name, piece, *found_piece)
            piece += 1
    await store.read(result_pieces.require, upload)


async def _changes(call: Call, model_id: str, after: int) -> AsyncGenerator[bytes, None]:
    """What is on the tape since `after`, then what comes; who falls behind reads the tape."""
    services = call.services
    watcher = services.watchers.join(model_id)
    try:
        yield b": connected\n\n"
        watcher.is_behind = True
        while not services.watchers.closed:
            if watcher.is_behind:
                watcher.is_behind = False
                async for records in _missed(call, after):
                    after = records[-1].seq
                    yield _sent(records)
            after, written = _written(watcher, after)
            if written:
                yield written
            if watcher.is_behind:
                continue
            if not await woken(watcher.woken, patience(services)):
                watcher.is_behind = True
                yield b": still here\n\n"
    finally:
        services.watchers.leave(watcher, model_id)


def _written(watcher: Watcher, after: int) -> tuple[int, bytes]:
    """What is new, and its last number. Numbers on a tape have no gaps; where one is missing,
    another server wrote in between or we were too slow, and the tape has to be read."""
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


def patience(services: Services) -> float:
    """Seconds of silence before a comment, which keeps proxies from closing a stream too."""
    return lasting.QUIET if services.watchers.hears_others else LOOKED_EVERY


async def woken(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    await asyncio.sleep(TOGETHER)
    return True


async def _missed(call: Call, after: int) -> AsyncIterator[list[StoredEvent]]:
    store = call.services.store
    while True:
        found = await store.read(tapes.reading, call.actor, call.path("model"))
        if found.seq <= after:
            return
        records = await store.read(_portion, found.tape, after, found.seq)
        if not records:
            return
        after = records[-1].seq
        yield records


def _all(connection: Connection, call: Call, after: int, until: int) -> list[StoredEvent]:
    """Of a model that was deleted meanwhile not all is left."""
    return channels.between(connection, reading(connection, call).tape, after, until)


def _portion(connection: Connection, tape: int, after: int, until: int) -> list[StoredEvent]:
    last = min(after + PORTION, until)
    return list(channels.whole(connection, tape, after=after, until=last))


def _sent(records: list[StoredEvent]) -> bytes:
    return b"".join(
        b"id: %d\nevent: %s\ndata: %s\n\n"
        % (
            record.seq,
            kinds.BY_NUMBER[record.kind].name.encode(),
            msgspec.json.encode(shown(record)),
        )
        for record in records
    )
