"""Long answers, streams and downloads: their readers are authorised again every few seconds.

A revoked right must not live on in an answer that has begun. A stream then ends with an event that
says why; a download is cut off, so that nobody takes it for complete. A download begins when there
is memory for it, and keeps that memory until its reader has everything, or until somebody else has
to have its place (`download_places`).
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing

import msgspec
from sqlalchemy import Connection
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from tapeline import turns
from tapeline.errors import Overloaded, Problem, Unavailable
from tapeline.http.core.endpoint import Call
from tapeline.http.core.services import Services
from tapeline.http.wire import guarded_protocol
from tapeline.http.wire.download_places import OF_A_DOWNLOAD, Place
from tapeline.http.wire.errors import ErrorShape
from tapeline.logs import Log
from tapeline.tape import tapes

# Seconds. Servers on PostgreSQL tell each other when a right is lost, and check at once. Otherwise
# we promise 5: a check can become due just after a piece was sent, and is then made with
# the next piece, which in a quiet stream is a comment.
AUTHORISED_EVERY = 2.0
QUIET = 2.5

log = Log(__name__)

Pieces = AsyncGenerator[bytes, None]
MayRead = Callable[[Connection], object]
"""Checks the reader's current right, and raises what the request itself would raise."""


def reading_model(call: Call) -> MayRead:
    """The right to see the model of a call."""
    return lambda connection: tapes.reading(
        connection, call.identified(connection), call.path("model")
    )


def stream(
    services: Services, pieces: Pieces, may_read: MayRead, headers: dict[str, str]
) -> Response:
    """Server-sent events for as long as the reader may see them."""
    return _LongAnswer(
        _with_end(while_allowed(services, pieces, may_read)),
        media_type="text/event-stream",
        headers=headers | {"X-Accel-Buffering": "no"},
    )


def download(
    services: Services,
    pieces: Pieces,
    may_read: MayRead,
    media: str,
    headers: dict[str, str],
) -> Response:
    """A file that is read or generated while it is sent, in the turn of the caller's tenant."""
    return _Download(services, while_allowed(services, pieces, may_read), media, headers)


async def while_allowed(services: Services, pieces: Pieces, may_read: MayRead) -> Pieces:
    """The pieces as they come, each soon after a check of the right to it. A stream sends one at
    least every QUIET seconds, if only a comment, so a silent stream is checked too. When somebody
    lost a right, an empty piece comes at once, which is checked and not sent."""
    looked = time.monotonic()  # the caller was authorised a moment ago
    watchers = services.watchers
    heard = watchers.rights
    async with aclosing(pieces):
        async for piece in pieces:
            if watchers.rights != heard or time.monotonic() >= looked + AUTHORISED_EVERY:
                heard, looked = watchers.rights, time.monotonic()
                await services.store.read(may_read)
            if piece:
                yield piece


async def _with_end(pieces: Pieces) -> AsyncIterator[bytes]:
    """`end` is final: the same request would be refused. A stream that breaks off without it, for
    example because the server stops, may be opened again."""
    async with aclosing(pieces):
        try:
            async for piece in pieces:
                yield piece
        except Unavailable:
            return
        except Problem as problem:
            said = ErrorShape(problem.message, problem.code())
            yield b"event: end\ndata: %s\n\n" % msgspec.json.encode(said)


class _LongAnswer(StreamingResponse):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """HEAD asks for the headers alone. Without this, its pieces would be made and dropped, and
        a stream would hold its connection for ever."""
        if scope["method"] == "HEAD":
            start = {"type": "http.response.start", "status": self.status_code}
            await send(start | {"headers": self.raw_headers})
            await send({"type": "http.response.body"})
        else:
            await super().__call__(scope, receive, send)


class _Download(_LongAnswer):
    def __init__(
        self, services: Services, pieces: Pieces, media: str, headers: dict[str, str]
    ) -> None:
        super().__init__(pieces, media_type=media, headers=headers)
        self._services, self._pieces = services, pieces
        self._owner = turns.sender.get()
        self._place: Place | None = None
        self._has_begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "HEAD":
            await super().__call__(scope, receive, send)
            return
        try:
            await self._send(scope, receive, send)
        except Overloaded as problem:
            if not self._has_begun:
                raise
            log.warning("download_cut_off", code=problem.code())
            # Its reader is slow: what it has not taken yet would stay in memory.
            guarded_protocol.end(scope)

    async def _send(self, scope: Scope, receive: Receive, send: Send) -> None:
        services = self._services
        async with (
            aclosing(self._pieces),
            # Readers may be slow: all downloads together never have the memory that others need.
            services.downloads.take(self._owner) as self._place,
            services.memory.need(self._owner, OF_A_DOWNLOAD),
        ):
            await super().__call__(scope, receive, send)

    async def stream_response(self, send: Send) -> None:
        place = self._place
        assert place is not None

        async def timed(message: Message) -> None:
            self._has_begun = True
            with place.sending(len(message.get("body", b""))):
                await send(message)

        try:
            await super().stream_response(timed)
        except Problem as problem:
            # Without the last chunk the connection closes, and the client knows it is incomplete.
            log.warning("download_cut_off", code=problem.code())
