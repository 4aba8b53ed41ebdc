"""How a node keeps its leases, and reaches API servers, some of which are gone or frozen."""

import asyncio
import os
import socket
from collections.abc import Callable, Coroutine, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tapeline.errors import CannotLaunchNow
from tapeline.runs import leases
from tapeline.runs.cluster import meeting_point
from tapeline.runs.node import renewing
from tapeline.runs.node.frames import Server
from tapeline.runs.node.renewing import Renewing
from tapeline.runs.node.servers import NoServer, Servers, elapsed
from tests.runs.engines.node_place import LeaseServer

TOKEN = "0" * 64


@pytest.fixture
def api() -> Iterator[LeaseServer]:
    made = LeaseServer(seconds=60.0)
    yield made
    made.close()


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(renewing, "MEMORY", tmp_path / "there-is-none")


def in_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @wraps(test)
    def run(**given: Any) -> None:
        asyncio.run(test(**given))

    return run


def of_node(folder: Path, *where: Server) -> Renewing:
    servers = Servers("host")
    servers.set(TOKEN, where)
    made = Renewing(folder, servers, f"test-{os.getpid()}")
    made.seconds = 60.0  # a slow machine may take as long for an answer
    return made


def deadlines(made: Renewing) -> dict[str, tuple[int, float]]:
    return msgspec.json.decode(made.file.read_bytes(), type=dict[str, tuple[int, float]])


def frozen(folder: Path) -> tuple[socket.socket, Server]:
    """It takes connections, and never says anything."""
    listener = socket.create_server(("127.0.0.1", 0))
    return listener, Server("127.0.0.1", listener.getsockname()[1], certificate_in(folder))


def certificate_in(folder: Path) -> str:
    return meeting_point.certificate(folder / meeting_point.FILE)[1]


@pytest.mark.usefixtures("on_disk")
@in_a_loop
async def test_a_deadline_is_counted_from_before_the_request(
    api: LeaseServer, tmp_path: Path
) -> None:
    made, began = of_node(tmp_path, api.where), elapsed()
    await made.grant("a", 7)
    assert api.asked == [{"a": 7}]
    assert api.first_lines == [f"node host {TOKEN} self\n"]
    fence, until = deadlines(made)["a"]
    assert fence == 7
    assert began <= until - api.seconds + leases.MARGIN <= elapsed()
    assert made.until("a", 7) == until
    with pytest.raises(CannotLaunchNow):
        made.until("a", 6)


@pytest.mark.usefixtures("on_disk")
@in_a_loop
async def test_a_node_says_what_its_longest_lease_has_left(
    api: LeaseServer, tmp_path: Path
) -> None:
    made, api.seconds = of_node(tmp_path, api.where), 600.0
    await made.grant("a", 7)
    api.seconds = 60.0
    await made.renew()
    await made.renew()
    assert api.left[0] == 0.0
    assert all(500.0 < one <= 600.0 for one in api.left[-2:])
    assert made.until("a", 7) > elapsed() + 500.0, "as its shim has it"


@pytest.mark.usefixtures("on_disk")
@in_a_loop
async def test_what_has_passed_its_deadline_is_not_renewed(
    api: LeaseServer, tmp_path: Path
) -> None:
    made = of_node(tmp_path, api.where)
    await made.grant("a", 7)
    await made.grant("b", 8)
    made._held["a"] = (7, elapsed() - 0.1)  # this process was frozen
    await made.renew()
    assert api.asked[-1] == {"b": 8}
    made.drop("b", 7)
    assert made.until("b", 8), "an earlier launch of it has failed late"


@pytest.mark.usefixtures("on_disk")
@in_a_loop
async def test_what_is_refused_is_neither_started_nor_renewed(
    api: LeaseServer, tmp_path: Path
) -> None:
    made = of_node(tmp_path, api.where)
    await made.grant("a", 1)
    api.refuses = True
    with pytest.raises(CannotLaunchNow):
        await made.grant("b", 1)
    assert deadlines(made) == {}
    await made.renew()
    assert api.asked[-1] == {}, "it still says that it is there"


@pytest.mark.usefixtures("on_disk")
@in_a_loop
async def test_a_process_that_is_started_anew_goes_on_with_what_is_alive(
    api: LeaseServer, tmp_path: Path
) -> None:
    await of_node(tmp_path, api.where).grant("a", 3)
    again = of_node(tmp_path, api.where)
    await again.renew()
    assert api.asked[-1] == {"a": 3}
    again.file.write_text('{"a": [3, 1.0], "b": [4, "never"]')
    assert of_node(tmp_path, api.where)._held == {}


@pytest.mark.usefixtures("on_disk")
@in_a_loop
async def test_servers_that_are_gone_frozen_or_others_are_passed_by(
    api: LeaseServer, tmp_path: Path
) -> None:
    gone, (listener, silent) = Server("127.0.0.1", 1, api.where.certificate), frozen(tmp_path)
    impostor = Server("127.0.0.1", api.where.port, certificate_in(tmp_path))
    with listener:
        made = of_node(tmp_path, gone, silent, impostor, api.where)
        began = elapsed()
        await made.grant("a", 1)
        assert elapsed() - began < made.seconds / 3, "in time for the lease"
        first = len(api.asked)
        await made.renew()
    assert len(api.asked) == first + 1
    assert not made.trouble


@pytest.mark.usefixtures("on_disk")
@in_a_loop
async def test_a_frozen_server_costs_little_of_the_time_that_a_lease_has(
    api: LeaseServer, tmp_path: Path
) -> None:
    listener, silent = frozen(tmp_path)
    with listener:
        made, began = of_node(tmp_path, silent, api.where), elapsed()
        await made.grant("a", 1)
        assert elapsed() - began < made.seconds / 3, "a renewal that is due comes in time"


@in_a_loop
async def test_models_reach_a_server_although_others_are_cut_off(
    api: LeaseServer, tmp_path: Path
) -> None:
    listener, silent = frozen(tmp_path)
    with listener:
        servers, began = Servers("host"), elapsed()
        servers.set(TOKEN, [silent, silent, api.where])
        _, writer = await servers.connect("run r", within=60.0)
        assert elapsed() - began < 20.0
        writer.transport.abort()
        servers.set(TOKEN, [silent])
        with pytest.raises(NoServer):
            await servers.connect("run r", within=0.5)


@pytest.mark.usefixtures("on_disk")
@in_a_loop
async def test_without_any_server_nothing_is_promised(tmp_path: Path) -> None:
    made = of_node(tmp_path, Server("127.0.0.1", 1, certificate_in(tmp_path)))
    with pytest.raises(NoServer):
        await made.renew()
    with pytest.raises(CannotLaunchNow):
        await made.grant("a", 1)
    assert made.trouble
    assert not made.file.exists()


@pytest.mark.usefixtures("on_disk")
@in_a_loop
async def test_a_lease_that_could_not_be_written_down_is_not_renewed(
    api: LeaseServer, tmp_path: Path
) -> None:
    made = of_node(tmp_path, api.where)
    made.file.mkdir()  # nothing can be written there
    with pytest.raises(OSError, match="directory"):
        await made.grant("a", 1)
    made.file.rmdir()
    await made.renew()
    assert api.asked[-1] == {}


@pytest.mark.usefixtures("on_disk")
@in_a_loop
async def test_runs_are_cleared_from_threads_while_leases_are_renewed(
    api: LeaseServer, tmp_path: Path
) -> None:
    made = of_node(tmp_path, api.where)
    for number in range(300):
        made._held[f"r{number}"] = (1, 0.0)

    def clear() -> None:
        for number in range(0, 300, 2):
            made.drop(f"r{number}")

    await asyncio.gather(made.renew(), asyncio.to_thread(clear), made.renew())
    assert set(deadlines(made)) == {f"r{number}" for number in range(1, 300, 2)}


def test_deadlines_are_kept_in_memory_in_a_folder_of_our_own(tmp_path: Path) -> None:
    made = of_node(tmp_path)
    assert made.file.parent.stat().st_mode & 0o077 == 0
    if renewing.MEMORY.is_dir():
        assert made.file.is_relative_to(renewing.MEMORY)
        made.file.parent.rmdir()
