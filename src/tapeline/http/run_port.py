"""The port of models in sandboxes: the events API, `/time` and nothing else, on a socket that only
shims reach. Whom a connection comes from is the run, whatever the headers say."""

import asyncio
import re
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn.server import ServerState

from tapeline.errors import NoSuchPage, Problem
from tapeline.http import errors
from tapeline.http.dispatch import handler
from tapeline.http.edge import Edge
from tapeline.http.event_protocol import EventProtocol
from tapeline.http.events_api import EventsApi
from tapeline.http.routes import ROUTES
from tapeline.http.services import Services
from tapeline.runs import events_port

TIME = "/time"
FIRST_LINE = re.compile(rb"run [0-9A-Za-z_-]{1,64}")
LONGEST_LINE = 100
OF_EARLIER_VERSION = "a run of an earlier version"


async def serve(services: Services, state: ServerState) -> list[asyncio.Server]:
    """Open it beside the server whose state this is, which closes it with its own."""
    runs = services.settings.data / "runs"
    loop, app = asyncio.get_running_loop(), application(services)

    def speaking(protocol: type[EventProtocol]) -> Callable[[], EventProtocol]:
        config = _config(app, protocol)
        return lambda: protocol(config=config, server_state=state, app_state={})

    found = [await loop.create_unix_server(speaking(RunProtocol), sock=events_port.listen(runs))]
    older = events_port.listen_for_older(runs)
    if older is not None:
        found.append(await loop.create_server(speaking(OlderRunProtocol), sock=older))
    return found


def application(services: Services) -> EventsApi:
    (row,) = (row for row in ROUTES if row.path == TIME)
    app = Starlette(
        routes=[Route(TIME, handler(row, services), methods=[row.method])],
        exception_handlers={
            Problem: errors.on_problem,
            Exception: errors.on_bug,
            HTTPException: _nothing_else,
        },
    )
    app.router.redirect_slashes = False
    return EventsApi(Edge(app, services.metrics), services)


class RunProtocol(EventProtocol):
    """The first line names the run. The shim writes it; what a model sends comes after it."""

    _line: bytes | None = b""
    """As much of it as has arrived; None once it is read."""

    def data_received(self, data: bytes) -> None:
        if self._line is not None:
            line, ended, data = (self._line + data).partition(b"\n")
            if not ended and len(line) <= LONGEST_LINE:
                self._line = line
                return
            if not FIRST_LINE.fullmatch(line):
                self.transport.abort()
                return
            self._line, self.client = None, (line.decode(), 0)
        if data:
            super().data_received(data)


class OlderRunProtocol(EventProtocol):
    """Shims of earlier versions write no such line: it is one of them, and no more is known."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.client = (OF_EARLIER_VERSION, 0)


def _config(app: EventsApi, protocol: type[EventProtocol]) -> uvicorn.Config:
    config = uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nobody stands between a shim and us
        timeout_keep_alive=60,
    )
    config.load()
    return config


async def _nothing_else(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        return await errors.on_http_exception(request, error)
    return errors.answer(
        NoSuchPage("Models reach the events API and /time from inside, and nothing else.")
    )
