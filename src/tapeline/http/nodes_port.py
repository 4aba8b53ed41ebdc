"""The port for the nodes of a cluster: their leases, and the events of the models that run there.

The first line of each connection, inside TLS, names the node, shows its token, and says whose
requests follow: the node's own, or those of one run, which reach what models reach everywhere.
"""

import asyncio
import re
import socket
import ssl
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn.config import Config
from uvicorn.server import ServerState

from tapeline.accepting import Accepting, Unnamed
from tapeline.errors import Invalid, NoSuchPage
from tapeline.http import run_port
from tapeline.http.core.services import Services
from tapeline.http.run_port import RunProtocol
from tapeline.http.wire import body
from tapeline.runs import heartbeat, leases
from tapeline.runs.cluster import meeting_point, membership
from tapeline.runs.engines.events_port import BACKLOG, GOODBYE_SECONDS
from tapeline.runs.node.frames import Server
from tapeline.runs.node.renewing import PATH, Renewal, Renewed
from tapeline.store.encryption import Cipher

LINE = re.compile(
    rb"node (?P<node>[0-9A-Za-z_-]{1,64}) (?P<token>[0-9a-f]{64})"
    rb" (?P<whose>self|run [0-9A-Za-z_-]{1,64})"
)
OF_NODE = "node "
SERVERS_KEPT_FOR = 2.0  # seconds
LARGEST_BODY, LONGEST_BODY = 1_000_000, 5.0  # bytes, for thousands of runs; seconds


async def serve(services: Services, state: ServerState) -> list[Accepting]:
    """Listen alongside the server whose state this is, and tell the nodes where; nothing without a
    cluster."""
    if services.settings.engine != "ray":
        return []
    settings = services.settings
    address = await asyncio.to_thread(membership.own_address, settings.ray_address)
    context, certificate = meeting_point.certificate(settings.data / meeting_point.FILE)
    listener = await asyncio.to_thread(listen, address, settings.nodes_port)
    port = listener.getsockname()[1]
    server = accept(services, state, listener, context)
    here = Server(address, port, certificate)
    await services.store.write(meeting_point.publish, services.runner.host_name, here)
    return [server]


def listen(address: str, port: int) -> socket.socket:
    family, _, _, _, found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
    return socket.create_server(found, family=family, backlog=BACKLOG)


def accept(
    services: Services, state: ServerState, listener: socket.socket, context: ssl.SSLContext
) -> Accepting:
    """On the running loop. A connection is among the unnamed until it says whose it is."""
    config = run_port.config(application(services), NodeProtocol)
    loop, unnamed = asyncio.get_running_loop(), Unnamed()

    async def welcome(connection: socket.socket) -> None:
        def speaking() -> NodeProtocol:
            own = {"server_state": state, "app_state": {}}
            named = partial(unnamed.discard, connection)
            return NodeProtocol(config, cipher=services.cipher, on_named=named, **own)

        await loop.connect_accepted_socket(
            speaking, connection, ssl=context, ssl_shutdown_timeout=GOODBYE_SECONDS
        )

    return Accepting(listener, unnamed, welcome)


def application(services: Services) -> Any:
    return run_port.application(services, Route(PATH, Leases(services).answer, methods=["POST"]))


class NodeProtocol(RunProtocol):
    longest_line = 300

    def __init__(
        self, config: Config, *args: Any, cipher: Cipher, on_named: Callable[[], None], **more: Any
    ) -> None:
        """`on_named` is also called at its end."""
        super().__init__(config, *args, **more)
        self._cipher, self._on_named = cipher, on_named

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_named()
        super().connection_lost(exc)

    def is_from(self, name: str) -> None:
        self._on_named()
        super().is_from(name)

    def _join(self) -> None:
        """Not under its address, which a node shares with the models that run there."""
        if self._line is None:
            super()._join()

    def named_by(self, line: bytes) -> str | None:
        if (found := LINE.fullmatch(line)) is None:
            return None
        node, token, whose = (found[name].decode() for name in ("node", "token", "whose"))
        if not meeting_point.is_token_of(self._cipher, node, token):
            return None
        return f"{OF_NODE}{node}" if whose == "self" else whose


class Leases:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._servers: list[Server] = []
        self._read_at = -SERVERS_KEPT_FOR

    async def answer(self, request: Request) -> Response:
        """Of all runs of one node."""
        client = request.client.host if request.client else ""
        if not client.startswith(OF_NODE):
            raise NoSuchPage
        try:
            said = msgspec.json.decode(await _content(request), type=Renewal)
        except msgspec.MsgspecError as error:
            raise Invalid(f"This is not a renewal: {error}") from error
        node, seconds = client.removeprefix(OF_NODE), float(self._services.settings.lease_seconds)
        renewed = await self._services.store.write(renew, node, said, seconds)
        made = Renewed(seconds, sorted(renewed), await self._known())
        return Response(msgspec.json.encode(made), media_type="application/json")

    async def _known(self) -> list[Server]:
        if time.monotonic() - self._read_at > SERVERS_KEPT_FOR:
            store = self._services.store
            self._servers = await store.read(meeting_point.published, store.database)
            self._read_at = time.monotonic()
        return self._servers


async def _content(request: Request) -> bytes:
    async with body.in_time(LONGEST_BODY):
        return b"".join([part async for part in body.limited(request, LARGEST_BODY)])


def renew(connection: Connection, node: str, said: Renewal, seconds: float) -> set[str]:
    """And note that the node is there."""
    heartbeat.beat(connection, node)
    return leases.renew(connection, node, said.runs, seconds, said.left)
