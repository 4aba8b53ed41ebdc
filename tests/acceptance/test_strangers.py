"""A stranger with a socket, against the real command: memory, connections and descriptors."""

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import psutil
import pytest

from tapeline import deep_folders
from tests import needs
from tests.acceptance.conftest import PASSWORD, Home, Server
from tests.http.wire.raw import connect, refusal, rest, said_to, say, statuses
from tests.waiting import wait_for

GET = b"GET /time HTTP/1.1\r\nhost: 127.0.0.1\r\n"
CLOSING = GET + b"connection: close\r\n\r\n"
MEGABYTE = 1_000_000


@pytest.fixture
def home(used_home: Home) -> Home:
    return used_home


def memory(server: Server) -> int:
    return int(psutil.Process(server.process.pid).memory_info().rss)


@contextmanager
def no_more_than(server: Server, megabytes: int) -> Iterator[None]:
    """What the server takes at the end of the block, beside what it took before."""
    before = memory(server)
    yield
    assert memory(server) - before < megabytes * MEGABYTE


def key_of(server: Server) -> dict[str, str]:
    """The headers of a model that may push events."""
    with server.client() as client:
        account = {"email": "ada@example.com", "password": PASSWORD}
        came = client.post("/auth/signup", json=account).json()
        client.headers["token"] = came["idToken"]
        project = {"projectId": came["userId"]}
        made = client.post("/model/create-model", json={**project, "name": "m"}).json()
        key = client.post("/project/generate-project-token", json=project).json()
    return {"model_id": made["modelId"], "api_key": key["apiKey"], "api_pass": key["apiPass"]}


def is_taken(server: Server, headers: dict[str, str]) -> bool:
    event: dict[str, Any] = {"line": "hello"}
    with server.client() as client:
        return client.post("/v1/live/log", json=event, headers=headers).is_success


@pytest.mark.heavy
def test_neither_heads_nor_bodies_nor_connections_take_the_memory(home: Home) -> None:
    server = home.up()
    headers = key_of(server)
    with no_more_than(server, 30), connect(server.address) as wire:
        say(wire, GET + b"x: ")
        for _ in range(1_000):
            say(wire, b"y" * 100_000)
        assert refusal(rest(wire))[0] == 431
    with no_more_than(server, 100), ExitStack() as opened:
        for _ in range(1_000):
            say(opened.enter_context(connect(server.address)), GET)
        assert is_taken(server, headers)
    with no_more_than(server, 100), ExitStack() as opened:
        unfinished = GET + b"x: " + b"y" * 60_000
        for _ in range(1_000):
            say(opened.enter_context(connect(server.address)), unfinished)
        assert is_taken(server, headers)
    with no_more_than(server, 100), ExitStack() as opened:
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        batch = f"POST /v1/batch HTTP/1.1\r\nhost: 127.0.0.1\r\n{lines}"
        batch += "content-type: application/json\r\ncontent-length: 99000000\r\n\r\n["
        wires = [opened.enter_context(connect(server.address)) for _ in range(4)]
        for wire in wires:
            say(wire, batch.encode())
            for _ in range(90):
                say(wire, b" " * MEGABYTE)
        spool = home.data / "spool"
        wait_for(lambda: deep_folders.size(spool) > 3.5e8)
        assert is_taken(server, headers)
    wait_for(lambda: not any((home.data / "spool").iterdir()))
    assert server.log.count("\n") < 20, server.log


@needs.that(shutil.which("prlimit") is not None, "util-linux is not here")
def test_connections_leave_descriptors_for_everything_else(home: Home) -> None:
    server = home.up_in("prlimit", "--nofile=400:400")
    headers = key_of(server)
    process = psutil.Process(server.process.pid)
    with ExitStack() as opened:
        for _ in range(600):
            say(opened.enter_context(connect(server.address)), GET)
        wait_for(lambda: process.num_fds() >= 150)
        wait_for(lambda: _is_answered(server))
        wait_for(lambda: process.num_fds() < 300)  # those it refused are closed by and by
        wait_for(lambda: is_taken(server, headers))
    wait_for(lambda: process.num_fds() < 100)
    assert is_taken(server, headers)


def _is_answered(server: Server) -> bool:
    try:
        return statuses(said_to(server.address, CLOSING)) == [200]
    except OSError:
        return False


@pytest.mark.heavy
def test_answers_that_nobody_reads_do_not_stay(home: Home) -> None:
    server = home.up(TAPELINE_STALLED_SECONDS="2")
    key_of(server)
    with no_more_than(server, 100), ExitStack() as opened:
        for _ in range(50):
            wire = opened.enter_context(connect(server.address, room=4096))
            say(wire, b"GET /api/openapi.json HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n" * 60)
        process = psutil.Process(server.process.pid)
        wait_for(lambda: len(process.net_connections("tcp")) < 10)
    assert json.loads(httpx.get(f"{server.address}/time", verify=False).content)["time"] > 0
