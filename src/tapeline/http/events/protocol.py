"""The fast path: an event that arrives in one piece goes from the parser straight to the inbox.

As an ASGI request it would cost a task, three dictionaries and two writes, more than all the rest
of taking it. Here it costs one call and one write. Whatever is not whole at once, or in any way not
as usual, becomes an ASGI request like all others.
"""

import asyncio
from typing import Any

from starlette.responses import Response
from uvicorn.config import Config

from tapeline.http.events.api import STAGED, TURNED, EventsApi, Whole
from tapeline.http.wire.guarded_protocol import COST_OF_REQUEST, GuardedProtocol
from tapeline.tape.events.kinds import BY_PATH

_SHORT = {path.encode(): path for path in BY_PATH if path not in STAGED | TURNED}


class EventProtocol(GuardedProtocol):
    """Needs the events API as the outermost application."""

    def __init__(self, config: Config, *args: Any, **more: Any) -> None:
        assert isinstance(config.app, EventsApi)
        super().__init__(config, *args, connections=config.app.connections, **more)
        self._events = config.app
        self._express = _Express()
        self._fields: list[tuple[bytes, bytes]] = []
        """Its headers, without any that may follow the body."""
        self._held: bytes | None = None
        """The body so far of a request that may still arrive in one piece."""
        self._last: tuple[Any, Any, bytes] = (None, None, b"")
        """The last answer: within a second it is repeated with the same date."""

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._held is not None:  # the rest may arrive much later
            content, self._held = self._held, None
            self._guarded(self._begin_usual, content)

    def on_headers_complete(self) -> None:
        if self.url in _SHORT and self._is_plain():
            self.check_head()
            self.scope["method"] = "POST"
            self._fields, self.headers = self.headers, []
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
            self._begin_usual(content)
        super().on_message_complete()

    def _begin_usual(self, content: bytes) -> None:
        super().on_headers_complete()
        super().on_body(content)

    def _is_plain(self) -> bool:
        """No earlier request is in progress, and this one needs nothing but an answer."""
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
        whole = Whole(_SHORT[self.url], self._fields, content, address, self._answer)
        if len(content) > COST_OF_REQUEST:
            self.hold_or_stop(len(content))
        if not self._events.take_whole(whole):
            self.release(self.held)
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
        if not self._express.keep_alive:
            return self.written(response, close=True)
        own = self.server_state.default_headers
        if self._last[0] is not response or self._last[1] is not own:
            self._last = (response, own, self.written(response, close=False))
        return self._last[2]


class _Express:
    """The state of a request in progress that the rest of the protocol reads."""

    def __init__(self) -> None:
        self.response_complete = True
        self.disconnected = False
        self.keep_alive = True
        self.more_body = self.response_started = False
        self.message_event = asyncio.Event()
