"""The port for models in sandboxes: the events API and `/time`, nothing else, on a socket that only
shims reach. A connection's run is its address, whatever the headers say. The host names of an older
platform lead here too, over https, as its clients expect."""

import asyncio
from functools import partial
from typing import Any, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn.config import Config
from uvicorn.server import ServerState

from tapeline.errors import NoSuchPage, Problem
from tapeline.http.core.dispatch import handler
from tapeline.http.core.services import Services
from tapeline.http.events.api import EventsApi
from tapeline.http.events.protocol import EventProtocol
from tapeline.http.routes import ROUTES
from tapeline.http.wire import errors
from tapeline.http.wire.middleware import Middleware
from tapeline.runs.engines import events_port, older_hosts
from tapeline.runs.engines.events_port import FIRST_LINE, LONGEST_LINE, TlsListener
from tapeline.runs.shim.forward import TLS_SOCKET

TIME = "/time"
OF_EARLIER_VERSION = "a run of an earlier version"


async def serve(services: Services, state: ServerState) -> list[asyncio.Server]:
    """Listen alongside the server whose state this is; that server closes these listeners too."""
    runs, keys = (services.settings.data / name for name in ("runs", "keys"))
    loop, app = asyncio.get_running_loop(), application(services)
    unnamed, named = config(app, RunProtocol), config(app, NamedRunProtocol)

    def speaking(run: str | None = None) -> EventProtocol:
        if run is None:
            return RunProtocol(config=unnamed, server_state=state, app_state={})
        return NamedRunProtocol(config=named, run=run, server_state=state, app_state={})

    authority = older_hosts.authority(keys)
    listener = TlsListener(events_port.listen(runs, TLS_SOCKET), authority.context(), speaking)
    found = [
        await loop.create_unix_server(speaking, sock=events_port.listen(runs)),
        cast("asyncio.Server", listener),  # only close() and wait_closed() are used
    ]
    older = events_port.listen_for_older(runs)
    if older is not None:
        for_older = partial(speaking, OF_EARLIER_VERSION)
        found.append(await loop.create_server(for_older, sock=older))
    return found


def application(services: Services, *more: Route) -> EventsApi:
    (row,) = (row for row in ROUTES if row.path == TIME)
    app = Starlette(
        routes=[Route(TIME, handler(row, services), methods=[row.method]), *more],
        exception_handlers={
            Problem: errors.on_problem,
            Exception: errors.on_bug,
            HTTPException: _nothing_else,
        },
    )
    app.router.redirect_slashes = False
    return EventsApi(Middleware(app, services.metrics), services)


class RunProtocol(EventProtocol):
    """The first line says from whom the requests of a connection come. A shim writes it, before
    anything the model sends."""

    longest_line = LONGEST_LINE
    _line: bytes | None = b""
    """As much of it as has arrived; None once it is read."""

    def named_by(self, line: bytes) -> str | None:
        """Who that is; None ends the connection."""
        return line.decode() if FIRST_LINE.fullmatch(line) else None

    def data_received(self, data: bytes) -> None:
        if self._line is not None:
            line, ended, data = (self._line + data).partition(b"\n")
            if not ended and len(line) <= self.longest_line:
                self._line = line
                return
            if (client := self.named_by(line)) is None:
                self.transport.abort()
                return
            self._line = None
            self.is_from(client)
        if data:
            super().data_received(data)


class NamedRunProtocol(EventProtocol):
    """Which run it is was found out before, or cannot be: earlier versions' shims do not say."""

    def __init__(self, config: Config, *args: Any, run: str, **more: Any) -> None:
        super().__init__(config, *args, **more)
        self._run = run

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.is_from(self._run)


def config(app: EventsApi, protocol: type[EventProtocol]) -> Config:
    made = Config(
        app,
        http=protocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # there is no proxy between a shim and us
    )
    made.load()
    return made


async def _nothing_else(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        return await errors.on_http_exception(request, error)
    return errors.answer(
        NoSuchPage("Models reach the events API and /time from inside, and nothing else.")
    )
