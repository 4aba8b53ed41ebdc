"""The port for nodes: whoever keeps it busy keeps no node from renewing its leases."""

import asyncio
import select
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
import uvloop
from uvicorn.server import ServerState

from tapeline import accepting
from tapeline.http import nodes_port
from tapeline.runs.cluster import meeting_point
from tapeline.runs.node.frames import Server
from tapeline.runs.node.renewing import PATH
from tapeline.runs.node.servers import NoServer, Servers
from tapeline.settings import Settings
from tests.conftest import Service
from tests.waiting import SLOW_MACHINE, wait_for

NODE, ITS_ADDRESS, ANOTHER = "n1", "127.0.0.1", "127.0.0.5"
MOST = 20
SILENT, HALF = 2_000, 300
CLOSING = 16  # descriptors that are about to be closed, and those of the node that asks
FLOOD = """
import resource, socket, ssl, sys
port, silent, half = map(int, sys.argv[1:])
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
written = ssl.MemoryBIO()
hello = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), written, server_hostname="x")
try:
    hello.do_handshake()
except ssl.SSLWantReadError:
    begun = written.read()
kept = []
for number in range(silent + half):
    kept.append(socket.create_connection(("127.0.0.1", port), 60))
    if number % ((silent + half) // half) == 0:
        kept[-1].sendall(begun)
print("open", flush=True)
sys.stdin.read()
"""
LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,  # what a server has
}


@pytest.fixture
def settings(sqlite_settings: Settings) -> Settings:
    """Nothing here depends on the database."""
    return sqlite_settings


@pytest.fixture(params=list(LOOPS))
def live(request: pytest.FixtureRequest) -> Iterator[Callable[[Coroutine[Any, Any, None]], None]]:
    with asyncio.Runner(loop_factory=LOOPS[request.param]) as runner:
        yield runner.run


@asynccontextmanager
async def port(service: Service, folder: Path) -> AsyncIterator[Server]:
    context, certificate = meeting_point.certificate(folder / meeting_point.FILE)
    listener = nodes_port.listen("127.0.0.1", 0)
    where = Server("127.0.0.1", listener.getsockname()[1], certificate)
    server = nodes_port.accept(service.services, ServerState(), listener, context)
    try:
        yield where
    finally:
        server.close()
        await server.wait_closed()


async def ask(service: Service, where: Server, body: object) -> Any:
    servers = Servers(NODE)
    servers.set(meeting_point.token_of(service.services.cipher, NODE), [where])
    return await servers.post(PATH, body, SLOW_MACHINE)


def connected(where: Server, address: str) -> socket.socket:
    return socket.create_connection((where.address, where.port), SLOW_MACHINE, (address, 0))


def secured(wire: socket.socket) -> ssl.SSLSocket:
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    return trusting.wrap_socket(wire)


@contextmanager
def silent(where: Server) -> Iterator[None]:
    """More than there may be, of the address that the node has as well."""
    with ExitStack() as stack:
        for _ in range(2 * MOST):
            wire = stack.enter_context(connected(where, ITS_ADDRESS))
            stack.enter_context(secured(wire)).sendall(b"n")
        yield


@contextmanager
def flooding(where: Server) -> Iterator[Callable[[], bool]]:
    """Whether all of them have been opened."""
    numbers = [str(one) for one in (where.port, SILENT, HALF)]
    flood = subprocess.Popen(
        [sys.executable, "-c", FLOOD, *numbers], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with flood:
        assert flood.stdin is not None
        assert flood.stdout is not None
        said = flood.stdout

        def opened() -> bool:
            return can_be_read(said) and said.readline() == b"open\n"

        yield opened
        flood.stdin.close()


def can_be_read(wire: socket.socket | IO[bytes]) -> bool:
    """A server that says nothing has ended a connection of which that is so."""
    return bool(select.select([wire], [], [], 0)[0])


def test_connections_that_name_nobody_keep_no_node_out(
    service: Service,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    live: Callable[[Coroutine[Any, Any, None]], None],
) -> None:
    monkeypatch.setattr(accepting, "MOST", MOST)
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

    live(try_it())


@pytest.mark.parametrize("live", ["uvloop"], indirect=True)
def test_connections_that_never_shake_hands_take_few_descriptors_and_keep_no_node_out(
    service: Service, tmp_path: Path, live: Callable[[Coroutine[Any, Any, None]], None]
) -> None:
    def taken() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    async def try_it() -> None:
        async with port(service, tmp_path) as where:
            await ask(service, where, {"runs": {}})
            with flooding(where) as opened:
                before, most, last = taken(), 0, False
                while not last:
                    last = opened()
                    await ask(service, where, {"runs": {}})
                    most = max(most, taken() - before)
                    await asyncio.sleep(0.1)  # the flood has a turn
                assert MOST < most <= accepting.MOST + CLOSING

    live(try_it())


def test_whoever_says_nothing_has_some_seconds(
    service: Service,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    live: Callable[[Coroutine[Any, Any, None]], None],
) -> None:
    monkeypatch.setattr(accepting, "HELLO_SECONDS", 0.5)

    async def try_it() -> None:
        async with port(service, tmp_path) as where:
            with connected(where, ITS_ADDRESS) as plain, connected(where, ITS_ADDRESS) as wire:
                nameless = await asyncio.to_thread(secured, wire)
                for one in (plain, nameless):
                    with one:
                        assert await asyncio.to_thread(one.recv, 1) == b""

    live(try_it())


def test_a_flood_ends_those_of_its_own_address(
    service: Service,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    live: Callable[[Coroutine[Any, Any, None]], None],
) -> None:
    monkeypatch.setattr(accepting, "MOST", MOST)
    monkeypatch.setattr(accepting, "HELLO_SECONDS", 900.0)

    async def try_it() -> None:
        async with port(service, tmp_path) as where:
            with ExitStack() as stack:
                slow = stack.enter_context(connected(where, ITS_ADDRESS))
                many = [stack.enter_context(connected(where, ANOTHER)) for _ in range(3 * MOST)]
                ended = many[: 2 * MOST + 1]
                await asyncio.to_thread(wait_for, lambda: all(can_be_read(one) for one in ended))
                await ask(service, where, {"runs": {}})
                assert not can_be_read(slow)
                assert not any(can_be_read(one) for one in many[2 * MOST + 2 :])

    live(try_it())


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
