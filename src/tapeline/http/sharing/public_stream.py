"""Live changes for visitors of a shared link: redacted, and delayed as the link says."""

import asyncio
from collections.abc import AsyncGenerator

import msgspec
from sqlalchemy import Connection

from tapeline import turns
from tapeline.errors import NotShared
from tapeline.http.core import long_answers
from tapeline.http.core.answers import EventStream
from tapeline.http.core.endpoint import Call
from tapeline.http.core.services import Services
from tapeline.http.sharing import public_api
from tapeline.http.sharing.public_api import Find
from tapeline.http.view import stream
from tapeline.http.view.following import follow, woken
from tapeline.sharing.exhibits import redaction
from tapeline.tape.append.watchers import Watcher
from tapeline.tape.proof import removed
from tapeline.tape.reading import whole_tape

PORTION, PORTION_BYTES = 1_000, 250_000  # events looked at together
OF_A_PORTION = whole_tape.OF_A_BYTE * whole_tape.AT_ONCE // 2  # bytes of memory
STEP = 0.25  # seconds until it is noticed that the service ends


async def shared_stream(call: Call) -> EventStream:
    """Changes of a live model as server-sent events; resumes after `Last-Event-ID`."""
    services, find = call.services, public_api.found_by(call.request, call.services)
    share = await services.store.read(find)
    if share.backtest_id is not None:
        raise NotShared
    resumed = stream.resumed_after(call.request)
    end = await services.store.read(_end, find, services)
    after = end if resumed is None else min(resumed, end)
    changes = _changes(services, find, share.model_id, after)
    return long_answers.stream(services, changes, find, public_api.HEADERS)


def _changes(
    services: Services, find: Find, model_id: str, after: int
) -> AsyncGenerator[bytes, None]:
    is_delayed = False

    async def changes(watcher: Watcher) -> AsyncGenerator[bytes, None]:
        nonlocal after, is_delayed
        watcher.take()
        watcher.is_behind = False
        # The link is looked up each time: its choices may have changed.
        share = await services.store.read(find)
        await public_api.catch_up(services, share)
        is_delayed = bool(share.choices.delay_hours)
        while True:
            async with services.memory.need(turns.sender.get(), OF_A_PORTION):
                last, content = await services.store.compute(_portion, find, services, after)
            if content:
                yield content
            if last == after:
                return
            after = last

    async def wait(watcher: Watcher) -> bool:
        if is_delayed:
            # By the clock alone: the time of an answer must not show that something happened.
            return await _rest(services)
        return await woken(services.watchers, watcher)

    return follow(services.watchers, [model_id], changes, wait)


async def _rest(services: Services) -> bool:
    watchers, left = services.watchers, long_answers.QUIET
    heard = watchers.rights
    while left > 0 and not watchers.closed:
        await asyncio.sleep(min(STEP, left))
        left -= STEP
        if watchers.rights != heard:
            return True
    return False


def _end(connection: Connection, find: Find, services: Services) -> int:
    return public_api.opened(connection, find(connection), services).cut.seq


def _portion(
    connection: Connection, find: Find, services: Services, after: int
) -> tuple[int, bytes]:
    """How far it read, and the part of it that is shown."""
    from tapeline.sharing.exhibits.live import LiveExhibit

    exhibit = public_api.opened(connection, find(connection), services)
    assert isinstance(exhibit, LiveExhibit)
    until = min(after + PORTION, exhibit.cut.seq)
    if until <= after:
        return after, b""
    pieces, size = list[bytes](), 0
    for record in whole_tape.records(connection, exhibit.found.tape, after=after, until=until):
        if record.kind == removed.KIND:
            continue
        late_after = exhibit.context.late_after
        change = redaction.change(record, late_after, exhibit.choices, exhibit.names)
        if change is not None:
            said = msgspec.json.encode(change[1])
            pieces.append(
                b"id: %d\nevent: %s\ndata: %s\n\n" % (record.seq, change[0].encode(), said)
            )
            size += len(said)
        if size > PORTION_BYTES:
            return record.seq, b"".join(pieces)
    return until, b"".join(pieces)
