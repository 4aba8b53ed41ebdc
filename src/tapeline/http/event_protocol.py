"""The short way in: an event that arrives in one piece goes from the parser straight to the inbox.

As an ASGI request it would cost a task, three dictionaries and two writes, more than all the rest
of taking it. Here it costs one call and one write. Whatever is not whole at once, or in any way not
as usual, becomes an ASGI request like all others.
"""

import asyncio
from typing import Any

from starlette.responses import Response
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from tapeline.http.events_api import STAGED, EventsApi, Whole
from tapeline.tape.kinds import BY_PATH

_SHORT = {path.encode(): path for path in BY_PATH if path not in STAGED}


class EventProtocol(HttpToolsProtocol):
    """Needs the events API as the outermost application."""

    def __init__(self, config: Config, *args: Any, **more: Any) -> None:
        super().__init__(config, *args, **more)
        assert isinstance(config.app, EventsApi)
        self._events = config.app
        self._express = _Express()
        self._held: bytes | None = None
        """The body so far of a request that may yet be whole."""
        self._last: tuple[Any, Any, bytes] = (None, None, b"")
        """What was answered last: within a second it is the same answer with the same date."""

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._held is not None:  # the rest is still to come, and may take its time
            content, self._held = self._held, None
            super().on_headers_complete()
            super().on_body(content)

    def on_headers_complete(self) -> None:
        if self.url in _SHORT and self._is_plain():
            self._held = b""
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if self._held is None:
            super().on_body(body)
        else:
            self._held += body

    def on_message_complete(self) -> None:
        if self._held is not None:
            content, self._held = self._held, None
            if self._take(content):
                return
            super().on_headers_complete()
            super().on_body(content)
        super().on_message_complete()

    def _is_plain(self) -> bool:
        """Nothing before it is under way, and nothing is wanted but an answer."""
        return (
            (self.cycle is None or self.cycle.response_complete)
            and not self.flow.write_paused
            and not self.expect_100_continue
            and self.parser.get_method() == b"POST"
            and self.parser.should_keep_alive()
            and not self.parser.should_upgrade()
        )

    def _take(self, content: bytes) -> bool:
        address = self.client[0] if self.client else ""
        whole = Whole(_SHORT[self.url], self.headers, content, address, self._answer)
        if not self._events.take_whole(whole):
            return False
        self._express.response_complete = False
        self.cycle = self._express  # type: ignore[assignment]
        return True

    def _answer(self, response: Response) -> None:
        self._express.response_complete = True
        if self.transport.is_closing():
            return
        self.transport.write(self._written(response))
        if not self._express.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def _written(self, response: Response) -> bytes:
        own = self.server_state.default_headers
        if not self._express.keep_alive:
            own = [*own, (b"connection", b"close")]
        if self._last[0] is not response or self._last[1] is not own:
            lines = [b"%b: %b\r\n" % header for header in (*own, *response.raw_headers)]
            head = b"".join([STATUS_LINE[response.status_code], *lines, b"\r\n"])
            self._last = (response, own, head + response.body)
        return self._last[2]


class _Express:
    """What the rest of the protocol wants to know of a request under way."""

    def __init__(self) -> None:
        self.response_complete = True
        self.disconnected = False
        self.keep_alive = True
        self.message_event = asyncio.Event()
