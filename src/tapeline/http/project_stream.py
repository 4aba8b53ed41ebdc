"""One stream for all models of a project: which of them changed, so that a list looks again.

A browser opens few connections to one server, so a page with fifty models cannot have fifty.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from sqlalchemy import Connection, select
from starlette.responses import Response, StreamingResponse

from tapeline.accounts import members
from tapeline.accounts.actor import Actor
from tapeline.errors import Missing
from tapeline.http.endpoint import Call
from tapeline.http.stream import HEARTBEAT, LOOKED_EVERY
from tapeline.store.tables import models
from tapeline.store.tape_tables import tapes
from tapeline.tape import kinds
from tapeline.tape.watchers import Watcher

PAUSE = 0.5  # seconds: what comes within them is one notice

Seqs = dict[str, int]


async def stream_project(call: Call[Any]) -> Response:
    """Which models of a project changed, as server-sent events `changed`: {model, kinds}."""
    seqs = await call.services.store.read(_seqs, call.actor, call.path("project"))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_notices(call, seqs), media_type="text/event-stream", headers=headers)


async def _notices(call: Call[Any], seqs: Seqs) -> AsyncIterator[bytes]:
    watchers, store = call.services.watchers, call.services.store
    patience = HEARTBEAT if store.database.file is not None else LOOKED_EVERY
    watched = tuple(seqs)
    watcher = watchers.join(*watched)
    try:
        yield b": connected\n\n"
        while not watchers.closed:
            woken = await _woken(watcher, patience)
            changed = _told(watcher)
            if not woken or watcher.is_behind:
                # Other servers tell us nothing, and a new model has nobody watching it yet.
                watcher.is_behind = False
                now = await store.read(_seqs, call.actor, call.path("project"))
                changed |= {one: [] for one, seq in now.items() if seqs.get(one) != seq}
                changed |= {one: [] for one in seqs if one not in now}
                seqs = now
                if set(now) != set(watched):
                    watchers.leave(watcher, *watched)
                    watched = tuple(now)
                    watcher = watchers.join(*watched)
            for model, names in changed.items():
                said = msgspec.json.encode({"model": model, "kinds": names})
                yield b"event: changed\ndata: %s\n\n" % said
            if not changed:
                yield b": still here\n\n"
            await asyncio.sleep(PAUSE)
    except Missing:
        return  # the project was deleted, or is not this reader's to see any more
    finally:
        watchers.leave(watcher, *watched)


async def _woken(watcher: Watcher, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await watcher.woken.wait()
    except TimeoutError:
        return False
    return True


def _told(watcher: Watcher) -> dict[str, list[str]]:
    found: dict[str, set[int]] = {}
    for news in watcher.take():
        found.setdefault(news.model_id, set()).update(one.kind for one in news.records)
    return {
        model: sorted(kinds.BY_NUMBER[number].name for number in numbers)
        for model, numbers in found.items()
    }


def _seqs(connection: Connection, actor: Actor, project_id: str) -> Seqs:
    members.require(connection, actor, project_id, "see")
    query = (
        select(models.c.id, tapes.c.seq)
        .outerjoin(tapes, tapes.c.model_id == models.c.id)
        .where(models.c.project_id == project_id)
    )
    return {row.id: row.seq or 0 for row in connection.execute(query)}
