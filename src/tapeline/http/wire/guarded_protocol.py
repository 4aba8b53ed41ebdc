"""HTTP with limits, enforced on every connection before any other code sees a request.

They are about the head of a request, the time it takes, the memory it holds, the requests that wait
behind it, and an answer that nobody reads. For an honest request all of that is a few comparisons:
the clock is the look that `connections` takes at everybody once a second.
"""

import logging
import re
import socket
import sys
from collections.abc import Callable
from typing import Any

from starlette.responses import Response
from starlette.types import Scope
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from tapeline.errors import HeadTooLarge, MalformedRequest, Problem, TooSlow
from tapeline.http.wire import errors, heads
from tapeline.http.wire.connections import Connections, Stand, Waits

MOST_HEAD = 64 * 1024  # bytes
MOST_HEADERS = 128
COST_OF_HEADER = 160  # bytes of memory in addition to its text
MOST_PIPELINED = 64  # requests queued behind the one being handled
COST_OF_REQUEST = 4 * 1024  # bytes of memory for each queued request
MOST_FRAMING = 8  # bytes on the wire for each byte of a body: a chunk of one byte takes six
MOST_DROPPED = 1_000_000  # bytes that are read and dropped after a refusal
LINGERED = 2.0  # seconds for a refused client to read the error
NOTICED = 5.0  # seconds after which an answer that the client is not reading counts as unread
SLOWEST = 1_000  # bytes a second; a slower client counts as not reading
RESUMED = 1_000_000_000  # bytes: a buffer that was emptied counts as any number
BYTES_ACKED = slice(120, 128)  # of the kernel's `struct tcp_info`
TCP = (socket.AF_INET, socket.AF_INET6)
NOTSENT_LOWAT: int | None = getattr(socket, "TCP_NOTSENT_LOWAT", None)
MOST_UNSENT = 128 * 1024
"""Bytes of an answer that the kernel may buffer. Its default is megabytes for every client that
does not read, and this process would not see that memory."""

CONNECTION = "tapeline.connection"
"""The key of a scope for its connection."""
ABANDON = "tapeline.abandon"
"""The key of a scope for the function to call when its client leaves before the answer."""

_NOTHING_YET: dict[str, Any] = {"method": ""}
# Anyone can send malformed requests: a log line for each would fill the disk.
_logger = logging.getLogger("uvicorn.error.wire")
_logger.setLevel(logging.ERROR)


def hold(scope: Scope, size: int) -> None:
    """Part of a body stays in memory: count it again."""
    if CONNECTION in scope:
        scope[CONNECTION].hold(size)


def release(scope: Scope, size: int) -> None:
    """Part of a body left memory: it was written to disk or dropped."""
    if CONNECTION in scope:
        scope[CONNECTION].release(size)


def end(scope: Scope) -> None:
    """Close the connection now, whatever the client has not read yet."""
    if CONNECTION in scope:
        scope[CONNECTION].end(None)


class GuardedProtocol(HttpToolsProtocol):
    def __init__(self, config: Config, *args: Any, connections: Connections, **more: Any) -> None:
        super().__init__(config, *args, **more)
        self.logger = _logger
        self.scope: Any = _NOTHING_YET
        self.held = self.unread = 0
        self._guests = connections
        self._settings = connections.settings
        self._problem: Problem | None = None
        self._is_deaf = False
        """It was refused: everything it sends now is dropped."""
        self._long_head: Any = None
        """The scope of a request whose head came in several pieces."""
        self._head_size = self._headers_counted = 0
        self._wire_size = self._body_size = 0
        self._seen: tuple[Waits | None, Any] = (None, None)
        self._seen_at = 0.0
        self._unread_since: tuple[float, int] | None = None
        """When the client last read something, and how much it had read by then."""
        self._resumed = self._dropped = 0
        self._active: Any = None
        """The cycle being handled; `cycle` is the newest, which may be queued."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        opened = transport.get_extra_info("socket")
        if opened.family in TCP and NOTSENT_LOWAT is not None:
            opened.setsockopt(socket.IPPROTO_TCP, NOTSENT_LOWAT, MOST_UNSENT)
        self._join()

    def is_from(self, name: str) -> None:
        """Set the real client to count it under, when that is only known later."""
        self.client = (name, 0)
        self._guests.leave(self)
        self._join()

    def _join(self) -> None:
        address = self.client[0] if self.client else ""
        descriptor = self.transport.get_extra_info("socket").fileno()
        try:
            self._guests.join(self, address, descriptor)
        except Problem as problem:
            self.end(problem)

    def connection_lost(self, exc: Exception | None) -> None:
        self._guests.leave(self)
        self.release(self.held)
        self.pipeline.clear()
        self._disconnect(self._active)
        self.scope.pop(
            CONNECTION, None
        )  # a reference cycle, left to the garbage collector otherwise
        super().connection_lost(exc)

    # Receiving

    def data_received(self, data: bytes) -> None:
        if (
            len(data) > MOST_HEAD
        ):  # in pieces, so that no single piece can hold a head that is too large
            for start in range(0, len(data), MOST_HEAD):
                self.data_received(data[start : start + MOST_HEAD])
            return
        if self._is_deaf:
            self._drop(len(data))
            return
        super().data_received(data)
        if "method" not in self.scope:
            self._guarded(self._count_head, len(data))
        elif self.cycle is not None and self.cycle.more_body:
            self._guarded(self._count_framing, len(data))

    def check_head(self) -> None:
        """Call it when a head is complete."""
        try:
            heads.check(self.parser.get_http_version(), self.scope["headers"])
        except MalformedRequest as problem:
            self._stop(problem)
        if len(self.headers) > MOST_HEADERS or self._long_head is self.scope:
            size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
            if size > MOST_HEAD or len(self.headers) > MOST_HEADERS:
                self._stop(HeadTooLarge())

    def on_headers_complete(self) -> None:
        self.check_head()
        self._wire_size = self._body_size = 0
        self.scope[CONNECTION] = self
        if not self.url.startswith((b"/", b"*")):
            # The target itself names a host, as in a request to a proxy: it counts like a Host.
            authority = self.url.partition(b"://")[2] or self.url
            self.headers.append((b"host", re.split(rb"[/?#]", authority)[0]))
        super().on_headers_complete()
        self.headers = []  # trailers are not headers of the request
        if self.pipeline:
            self.hold_or_stop(COST_OF_REQUEST)
            if len(self.pipeline) > MOST_PIPELINED:
                self._stop(MalformedRequest("Wait for answers before you send more requests."))

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        self._body_size += len(body)  # also of one that nobody reads, since the answer is complete
        if not self.cycle.response_complete:
            self.hold_or_stop(len(body))

    def on_response_complete(self) -> None:
        """As in uvicorn, without its timer for every request."""
        self.server_state.total_requests += 1
        if self.held and not self.pipeline:
            self.release(self.held)
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            cycle, app = self.pipeline.pop()
            self._start_asgi_task(cycle, app)

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._active = cycle
        cycle.transport = _Answering(self.transport, self._part)
        super()._start_asgi_task(cycle, app)

    def hold(self, size: int) -> None:
        self.held += size
        self._guests.hold(size)

    def hold_or_stop(self, size: int) -> None:
        """The same while it is parsed."""
        try:
            self.hold(size)
        except Problem as problem:
            self._stop(problem)

    def release(self, size: int) -> None:
        size = min(size, self.held)
        self.held -= size
        self._guests.release(size)

    def _drop(self, size: int) -> None:
        """Read and drop some of it, so a client still sending gets the error; pause a flood."""
        self._dropped += size
        if self._dropped > MOST_DROPPED:
            self.flow.pause_reading()

    def _count_head(self, size: int) -> None:
        if self._long_head is not self.scope:  # its offset in this piece is unknown
            self._long_head, self._head_size, self._headers_counted = self.scope, 0, 0
        else:
            self._head_size += size
        headers = len(self.headers)
        self.hold(size + (headers - self._headers_counted) * COST_OF_HEADER)
        self._headers_counted = headers
        if self._head_size > MOST_HEAD or headers > MOST_HEADERS:
            raise HeadTooLarge

    def _count_framing(self, size: int) -> None:
        """Chunk extensions and trailers have no limit of their own."""
        self._wire_size += size
        framing = self._wire_size - self._body_size
        if framing > 2 * MOST_HEAD + MOST_FRAMING * self._body_size:
            raise HeadTooLarge("The framing of the body is far larger than the body.")
        if len(self.headers) > MOST_HEADERS:
            raise HeadTooLarge

    # Refusing

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        """Called when parsing fails, also when this class stopped it."""
        self._refuse(self._problem or MalformedRequest())

    def end(self, problem: Problem | None) -> None:
        """Close it now."""
        if problem is not None:
            self._refuse(problem)
        if self.transport.get_write_buffer_size():
            self.transport.abort()  # close() would wait for the client to read
        else:
            self.transport.close()

    def _stop(self, problem: Problem) -> None:
        self._problem = problem  # the parser swallows exceptions
        raise problem

    def _guarded(self, act: Callable[..., None], *args: Any) -> None:
        try:
            act(*args)
        except Problem as problem:
            self._refuse(problem)

    def _refuse(self, problem: Problem) -> None:
        """Send the error and stop reading. Closing at once could lose the error."""
        if self._is_deaf or self.transport.is_closing():
            return
        self._is_deaf = True
        self._guests.ended(problem)
        self.release(self.held)
        if self._may_speak():
            self.transport.write(self.written(errors.answer(problem), close=True))
            self._close_our_side()

    def _part(self) -> None:
        """After the last answer. A client that is still sending its body gets a moment to read it:
        the kernel resets a connection that is closed with unread data."""
        if self._active.more_body and self._active.response_complete and not self._is_deaf:
            self._is_deaf = True
            self._close_our_side()
        else:
            self.transport.close()

    def _close_our_side(self) -> None:
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:  # TLS cannot be half-closed
            self.transport.close()
        self._seen_at = self.loop.time()

    def _may_speak(self) -> bool:
        """The error must not land inside another request's answer, nor look like it."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            return True
        if self.pipeline or cycle.response_started:
            self.transport.close()
            return False
        cycle.keep_alive = False
        if cycle.more_body:  # this is the refused request
            self._disconnect(cycle)
        return cycle.more_body

    @staticmethod
    def _disconnect(cycle: Any) -> None:
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
            if abandon := cycle.scope.get(ABANDON):
                abandon()

    def written(self, response: Response, *, close: bool) -> bytes:
        headers = [*self.server_state.default_headers, *response.raw_headers]
        if close and "connection" not in response.headers:
            headers.append((b"connection", b"close"))
        lines = [b"%b: %b\r\n" % header for header in headers]
        return b"".join([STATUS_LINE[response.status_code], *lines, b"\r\n", bytes(response.body)])

    # Once a second

    def look(self, now: float) -> Stand | None:
        """What it makes the server wait for, if anything. Ends a client that takes too long."""
        waits = self._waits()
        if waits is not self._seen[0] or self.scope is not self._seen[1]:
            self._seen, self._seen_at = (waits, self.scope), now
        elif waits is not None and now - self._seen_at > self._patience(waits):
            self._give_up(waits)
        self._look_at_reading(now)
        return None if waits is None else Stand(waits, self._seen_at)

    def resume_writing(self) -> None:
        self._resumed += 1
        super().resume_writing()

    def _waits(self) -> Waits | None:
        cycle = self.cycle
        is_working = cycle is not None and not (cycle.response_complete or cycle.disconnected)
        if self.transport.is_closing() or (self._is_deaf and is_working):
            return None
        if self._is_deaf or "method" not in self.scope or self.scope is _NOTHING_YET:
            return Waits.HEAD
        if not is_working:
            return Waits.NEXT
        # While reading is paused, the client is not the one that delays.
        reads = cycle.more_body and not self.pipeline and not self.flow.read_paused
        return Waits.BODY if reads else None

    def _patience(self, waits: Waits) -> float:
        if waits is Waits.NEXT:
            return self._settings.idle_seconds
        if waits is Waits.BODY:  # body readers have their own, shorter limits
            return max(self._settings.body_seconds, self._settings.upload_seconds)
        return LINGERED if self._is_deaf else self._settings.head_seconds

    def _give_up(self, waits: Waits) -> None:
        if self._is_deaf:
            self.transport.abort()
        elif waits is Waits.NEXT or self.scope is _NOTHING_YET:
            self.end(None)  # no request is open
        else:
            self._refuse(TooSlow())

    def _look_at_reading(self, now: float) -> None:
        """An answer that the client does not read stays in memory."""
        left = self.transport.get_write_buffer_size()
        if not left:
            self._unread_since, self.unread = None, 0
            return
        read = self._read_so_far(left)
        since, before = self._unread_since or (now, read)
        if read - before >= SLOWEST * max(now - since, 1):
            since, before = now, read
        self._unread_since = since, before
        self.unread = left if now - since >= NOTICED else 0
        if now - since > self._settings.stalled_seconds:
            self.transport.abort()

    def _read_so_far(self, left: int) -> int:
        """Bytes that have reached the client. Our own buffer says little: the kernel's is far
        larger, and takes more only when a good part of it is free."""
        opened = self.transport.get_extra_info("socket")
        if sys.platform == "linux" and opened.family in TCP:
            info = opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, BYTES_ACKED.stop)
            return int.from_bytes(info[BYTES_ACKED], sys.byteorder)
        return self._resumed * RESUMED - left


class _Answering:
    """The transport as uvicorn's answer to a request sees it, which closes it too early."""

    def __init__(self, transport: Any, close: Callable[[], None]) -> None:
        self.write = transport.write
        self.is_closing = transport.is_closing
        self.close = close
