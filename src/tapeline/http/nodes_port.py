"""The port for the nodes of a cluster: their leases, and the events of the models that run there.

The first line of each connection, inside TLS, names the node, shows its token, and says whose
requests follow: the node's own, or those of one run, which reach what models reach everywhere.
"""

import asyncio
import re
import time
from typing import Any

import msgspec
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn.config import Config
from uvicorn.server import ServerState

from tapeline.errors import Invalid, NoSuchPage
from tapeline.http import run_port
from tapeline.http.core.services import Services
from tapeline.http.events.protocol import EventProtocol
from tapeline.http.run_port import NamingProtocol
from tapeline.runs import heartbeat, leases
from tapeline.runs.cluster import meeting_point, membership
from tapeline.runs.engines.events_port import GOODBYE_SECONDS, HELLO_SECONDS
from tapeline.runs.node.frames import Server
from tapeline.runs.node.renewing import PATH, Renewal, Renewed
from tapeline.store.encryption import Cipher

LINE = re.compile(
    rb"node (?P<node>[0-9A-Za-z_-]{1,64}) (?P<token>[0-9a-f]{64})"
    rb" (?P<whose>self|run [0-9A-Za-z_-]{1,64})"
)
OF_NODE = "node "
SERVERS_KEPT_FOR = 2.0  # seconds
LONGEST_LEASE = 3600.0  # that `lease_seconds` allows


async def serve(services: Services, state: ServerState) -> list[asyncio.Server]:
    """Listen alongside the server whose state this is, and tell the nodes where; nothing without a
    cluster."""
    if services.settings.engine != "ray":
        return []
    settings, loop = services.settings, asyncio.get_running_loop()
    address = await asyncio.to_thread(membership.own_address, settings.ray_address)
    context, certificate = meeting_point.certificate(settings.data / meeting_point.FILE)
    config = run_port.config(application(services), NodeProtocol)

    def speaking() -> EventProtocol:
        own = {"server_state": state, "app_state": {}}
        return NodeProtocol(config, cipher=services.cipher, **own)

    server = await loop.create_server(
        speaking,
        address,
        settings.nodes_port,
        ssl=context,
        ssl_handshake_timeout=HELLO_SECONDS,
        ssl_shutdown_timeout=GOODBYE_SECONDS,
    )
    port = server.sockets[0].getsockname()[1]
    here = Server(address, port, certificate)
    await services.store.write(meeting_point.publish, services.runner.host_name, here)
    return [server]


def application(services: Services) -> Any:
    return run_port.application(services, Route(PATH, Leases(services).answer, methods=["POST"]))


class NodeProtocol(NamingProtocol):
    longest_line = 300

    def __init__(self, config: Config, *args: Any, cipher: Cipher, **more: Any) -> None:
        super().__init__(config, *args, **more)
        self._cipher = cipher

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
            said = msgspec.json.decode(await request.body(), type=Renewal)
        except msgspec.MsgspecError as error:
            raise Invalid(f"This is not a renewal: {error}") from error
        node, seconds = client.removeprefix(OF_NODE), float(self._services.settings.lease_seconds)
        lasting = max(seconds, min(said.left, LONGEST_LEASE))
        renewed = await self._services.store.write(renew, node, said.runs, lasting)
        made = Renewed(seconds, sorted(renewed), await self._known())
        return Response(msgspec.json.encode(made), media_type="application/json")

    async def _known(self) -> list[Server]:
        if time.monotonic() - self._read_at > SERVERS_KEPT_FOR:
            store = self._services.store
            self._servers = await store.read(meeting_point.published, store.database)
            self._read_at = time.monotonic()
        return self._servers


def renew(connection: Connection, node: str, runs: dict[str, int], seconds: float) -> set[str]:
    """And note that the node is there."""
    heartbeat.beat(connection, node)
    return leases.renew(connection, node, runs, seconds) if runs else set()
