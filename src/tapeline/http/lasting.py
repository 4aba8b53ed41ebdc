"""Answers that last, streams and downloads: their readers are authorised again every few seconds.

A right that was taken away must not live on in an answer that has begun. A stream then ends with
an event that says why; a download is cut off, so that nobody takes it for whole.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from typing import Any

import msgspec
from sqlalchemy import Connection
from starlette.responses import Response, StreamingResponse
from starlette.types import Send

from tapeline.errors import Problem, Unavailable
from tapeline.http.endpoint import Call
from tapeline.http.errors import ErrorShape
from tapeline.http.services import Services
from tapeline.logs import Log
from tapeline.tape import tapes

AUTHORISED_EVERY = 4.0  # seconds; 5 are promised, and asking takes a moment

log = Log(__name__)

Pieces = AsyncGenerator[bytes, None]
MayRead = Callable[[Connection], object]
"""Looks up the reader's right as it is now, and raises what the request itself would raise."""


def reading_model(call: Call[Any]) -> MayRead:
    """The right to see the model that a call names."""
    return lambda connection: tapes.reading(
        connection, call.identified(connection), call.path("model")
    )


def stream(
    services: Services, pieces: Pieces, may_read: MayRead, headers: dict[str, str]
) -> Response:
    """Server-sent events for as long as the reader may see them."""
    return StreamingResponse(
        _with_end(while_allowed(services, pieces, may_read)),
        media_type="text/event-stream",
        headers=headers | {"X-Accel-Buffering": "no"},
    )


def download(
    services: Services, pieces: Pieces, may_read: MayRead, media: str, headers: dict[str, str]
) -> Response:
    """A file that is written while it is sent."""
    allowed = while_allowed(services, pieces, may_read)
    return _Download(allowed, media_type=media, headers=headers)


async def while_allowed(services: Services, pieces: Pieces, may_read: MayRead) -> Pieces:
    """The pieces as they come. Whoever asked was authorised a moment ago; from then on nothing is
    passed on, and no silence lasts, for longer than until the next look."""
    looked = time.monotonic()
    coming: asyncio.Future[bytes] | None = None
    try:
        while True:
            coming = coming or asyncio.ensure_future(anext(pieces))
            left = looked + AUTHORISED_EVERY - time.monotonic()
            if left <= 0:
                looked = time.monotonic()
                await services.store.read(may_read)
                continue
            await asyncio.wait((coming,), timeout=left)
            # A reader that took its time with the last piece is looked at before the next.
            if coming.done() and time.monotonic() < looked + AUTHORISED_EVERY:
                try:
                    piece = coming.result()
                except StopAsyncIteration:
                    return
                coming = None
                yield piece
    finally:
        await _let_go(pieces, coming)


async def _let_go(pieces: Pieces, coming: "asyncio.Future[bytes] | None") -> None:
    if coming is not None:
        coming.cancel()
        with suppress(asyncio.CancelledError, StopAsyncIteration, Problem):
            await coming
    await pieces.aclose()


async def _with_end(pieces: Pieces) -> AsyncIterator[bytes]:
    """`end` is final: the same request would be refused. A stream that breaks off without it, as
    when the service ends or its store is away for a moment, may be opened again."""
    async with aclosing(pieces):
        try:
            async for piece in pieces:
                yield piece
        except Unavailable:
            return
        except Problem as problem:
            said = ErrorShape(problem.message, problem.code())
            yield b"event: end\ndata: %s\n\n" % msgspec.json.encode(said)


class _Download(StreamingResponse):
    async def stream_response(self, send: Send) -> None:
        try:
            await super().stream_response(send)
        except Problem as problem:
            # Without its last chunk: the connection closes, and the client knows that it is cut.
            log.warning("download_cut_off", code=problem.code())
