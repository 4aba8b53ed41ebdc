"""The port for nodes: whoever keeps it busy keeps no node from renewing its leases."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from uvicorn.server import ServerState

from tapeline.http import nodes_port, run_port
from tapeline.http.nodes_port import NodeProtocol, Unnamed
from tapeline.runs.cluster import meeting_point
from tapeline.runs.node.frames import Server
from tapeline.runs.node.renewing import PATH
from tapeline.runs.node.servers import NoServer, Servers
from tapeline.settings import Settings
from tests.conftest import Service

NODE, ITS_ADDRESS = "n1", "127.0.0.5"
MOST = 20


@pytest.fixture
def settings(sqlite_settings: Settings) -> Settings:
    """Nothing here depends on the database."""
    return sqlite_settings


@asynccontextmanager
async def port(service: Service, folder: Path) -> AsyncIterator[Server]:
    services, unnamed = service.services, Unnamed()
    context, certificate = meeting_point.certificate(folder / meeting_point.FILE)
    config = run_port.config(nodes_port.application(services), NodeProtocol)

    def speaking() -> NodeProtocol:
        own = {"server_state": ServerState(), "app_state": {}}
        return NodeProtocol(config, cipher=services.cipher, unnamed=unnamed, **own)

    loop = asyncio.get_running_loop()
    server = await loop.create_server(speaking, "127.0.0.1", 0, ssl=context)
    try:
        yield Server("127.0.0.1", server.sockets[0].getsockname()[1], certificate)
    finally:
        server.close()


async def ask(service: Service, where: Server, body: object) -> Any:
    servers = Servers(NODE)
    servers.set(meeting_point.token_of(service.services.cipher, NODE), [where])
    return await servers.post(PATH, body, 10.0)


@contextmanager
def silent(where: Server) -> Iterator[None]:
    """More than there may be, of the address that the node has as well."""
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with ExitStack() as stack:
        for _ in range(2 * MOST):
            wire = socket.create_connection((where.address, where.port), 10, (ITS_ADDRESS, 0))
            secured = stack.enter_context(trusting.wrap_socket(stack.enter_context(wire)))
            secured.sendall(b"n")
        yield


def test_connections_that_name_nobody_keep_no_node_out(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes_port, "MOST_UNNAMED", MOST)
    connections = service.services.connections
    before = len(connections)

    async def try_it() -> None:
        async with port(service, tmp_path) as where:
            busy = silent(where)
            await asyncio.to_thread(busy.__enter__)
            try:
                assert len(connections) == before, "they take nobody's place"
                said = await ask(service, where, {"runs": {}})
                assert said["seconds"] == service.services.settings.lease_seconds
            finally:
                await asyncio.to_thread(busy.__exit__, None, None, None)

    asyncio.run(try_it())


def test_a_renewal_is_read_within_limits(service: Service, tmp_path: Path) -> None:
    async def try_it() -> None:
        async with port(service, tmp_path) as where:
            many = {f"x{number}": number for number in range(40_000)}
            assert (await ask(service, where, {"runs": many}))["runs"] == []
            for bad, why in (
                ({"runs": {"a\0b": 1}}, "not a renewal"),
                ({"runs": {"a": -1}}, "not a renewal"),
                ({"runs": {"a": 1}, "left": "long"}, "not a renewal"),
                ({"runs": {}, "more": "x" * 1_000_000}, "larger than"),
            ):
                with pytest.raises(NoServer, match=why):
                    await ask(service, where, bad)

    asyncio.run(try_it())
