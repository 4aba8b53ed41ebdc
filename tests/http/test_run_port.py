"""The port of models in sandboxes takes events, tells the time, and knows nothing else."""

import gc
import os
import socket
import ssl
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import httpx
import msgspec
import pytest
from sqlalchemy import Connection, select

from tapeline import accepting
from tapeline.accounts import guesses, limits
from tapeline.http.events.api import PATHS
from tapeline.http.page_routes import PAGES
from tapeline.http.routes import ROUTES
from tapeline.http.run_port import OF_EARLIER_VERSION
from tapeline.runs.engines import older_hosts
from tapeline.runs.engines.older_hosts import HOSTS
from tapeline.runs.shim import tree
from tapeline.settings import Settings
from tapeline.store.tables.core import attempts
from tests.conftest import Service, running
from tests.pushing import Model

RUN = b"run r1\n"
OTHERS = ["/", "/metrics", "/docs", "/api/openapi.json", "/static/mark.svg", "/app/assets/x.js"]


@pytest.fixture
def settings(sqlite_settings: Settings) -> Settings:
    """Nothing here depends on the database."""
    return sqlite_settings


@contextmanager
def port(service: Service, first: bytes = RUN, name: str = "events") -> Iterator[socket.socket]:
    """A connection as a shim makes it."""
    folder = os.open(service.services.settings.data / "runs", os.O_PATH)
    with socket.socket(socket.AF_UNIX) as wire:
        wire.settimeout(10)
        wire.connect(f"/proc/self/fd/{folder}/{name}")
        os.close(folder)
        wire.sendall(first)
        yield wire


def ask(
    wire: socket.socket, method: str, path: str, body: str = "", **headers: str
) -> httpx.Response:
    head = [f"{method} {path} HTTP/1.1", "Host: model", f"Content-Length: {len(body)}"]
    head += ["Connection: close", *(f"{name}: {value}" for name, value in headers.items())]
    wire.sendall(("\r\n".join(head) + "\r\n\r\n" + body).encode())
    top, _, content = wire.makefile("rb").read().partition(b"\r\n\r\n")
    return httpx.Response(int(top.split()[1]), content=content)


def push(service: Service, model: Model, first: bytes = RUN, **headers: str) -> httpx.Response:
    with port(service, first) as wire:
        said = {"Content-Type": "application/json"} | model.headers | headers
        return ask(wire, "POST", "/v1/live/log", '{"line":"hello"}', **said)


def test_events_and_the_time_are_served(service: Service, model: Model) -> None:
    assert push(service, model).json() == {"status": "success"}
    with port(service) as wire:
        assert abs(ask(wire, "GET", "/time").json()["time"] - time.time()) < 3600
    assert [one["line"] for one in model.items("/logs")] == ["hello"]


def test_nothing_else_is(service: Service) -> None:
    rows = {(row.method, row.path) for row in ROUTES} - {("GET", "/time")}
    rows |= {(page.method, page.path) for page in PAGES} | {("GET", one) for one in OTHERS}
    for method, path in sorted(rows):
        if path not in PATHS:
            with port(service) as wire:
                answer = ask(wire, method, path)
            assert answer.status_code == (405 if path == "/time" else 404), path
            assert set(answer.json()) == {"error", "code"}, path


@pytest.mark.parametrize("proxies", ["", "*"])
def test_whom_it_comes_from_is_the_run_whatever_the_headers_say(
    sqlite_settings: Settings, proxies: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SHORTEST_WAIT", 600.0)
    strict = replace(sqlite_settings, trusted_proxies=proxies, signin_limit_address=3)
    with running(strict) as service:
        claims = {"X-Forwarded-For": "8.8.8.8", "Forwarded": "for=8.8.8.8", "X-Real-IP": "8.8.8.8"}
        wrong = {"model_id": "m", "api_key": "k", "api_pass": "p"}
        allowed = service.services.settings.signin_limit_address
        for _ in range(allowed):
            with port(service) as wire:
                assert ask(wire, "POST", "/v1/live/log", "{}", **wrong, **claims).status_code == 401
        with port(service) as wire:
            assert ask(wire, "POST", "/v1/live/log", "{}", **wrong).status_code == 429
        # Neither the one that was claimed nor another run pays for it.
        with port(service, b"run r2\n") as wire:
            assert ask(wire, "POST", "/v1/live/log", "{}", **wrong).status_code == 401
        claimed = guesses.at_key(service.services.settings, "8.8.8.8", "k")
        service.store.read_now(limits.refuse_if_over, [claimed])
        with service.client(**wrong) as outside:
            assert outside.post("/v1/live/log", json={}).status_code == 401


@pytest.mark.parametrize(
    "first",
    [b"GET /time HTTP/1.1\r\n\r\n", b"run \n", b"run ../x\n", b"run r1 8.8.8.8\n", b"x" * 5000],
)
def test_a_connection_that_names_no_run_is_ended(service: Service, first: bytes) -> None:
    # Reset, when what it sent was not even read.
    with port(service, first) as wire, suppress(ConnectionResetError):
        assert wire.recv(100) == b""


def test_the_first_line_may_come_in_pieces_and_is_the_only_one(
    service: Service, model: Model
) -> None:
    with port(service, b"ru") as wire:
        wire.sendall(b"n r1\nGET /time")
        assert ask(wire, "", "").status_code == 200
    with port(service) as wire:
        wire.sendall(b"run r2\n")
        assert wire.recv(100).startswith(b"HTTP/1.1 400 "), "to the server that is no HTTP"


@contextmanager
def https(service: Service, host: str = HOSTS[0], first: bytes = RUN) -> Iterator[ssl.SSLSocket]:
    """As a client of the older platform: it knows the name, and trusts what its sandbox trusts."""
    keys = service.services.settings.data / "keys"
    trust = ssl.create_default_context(cadata=older_hosts.authority(keys).pem().decode())
    with (
        port(service, first, "events.tls") as wire,
        trust.wrap_socket(wire, server_hostname=host) as spoken,
    ):
        yield spoken


@pytest.mark.parametrize("host", HOSTS)
def test_names_of_the_older_platform_are_answered_by_https(
    service: Service, model: Model, host: str
) -> None:
    with https(service, host) as wire:
        said = {"Content-Type": "application/json"} | model.headers
        answer = ask(wire, "POST", "/v1/live/log", '{"line":"hello"}', **said)
        assert answer.json() == {"status": "success"}
    with https(service, host) as wire:
        assert ask(wire, "POST", "/auth/token").status_code == 404
    assert [one["line"] for one in model.items("/logs")] == ["hello"]


def test_by_https_too_it_comes_from_the_run(service: Service) -> None:
    wrong = {"model_id": "m", "api_key": "k", "api_pass": "p", "X-Forwarded-For": "8.8.8.8"}
    with https(service, first=b"run r7\n") as wire:
        assert ask(wire, "POST", "/v1/live/log", "{}", **wrong).status_code == 401
    settings = service.services.settings
    assert service.store.read_now(_guesses, settings, "run r7")
    assert not service.store.read_now(_guesses, settings, "8.8.8.8")


def test_nobody_waits_for_a_client_that_does_not_say_hello(service: Service) -> None:
    with (
        port(service, b"", "events.tls"),
        port(service, b"ru", "events.tls"),
        port(service, RUN, "events.tls"),
        port(service, RUN + b"\x16\x03\x01", "events.tls"),
        https(service) as wire,
    ):
        assert ask(wire, "GET", "/time").status_code == 200


def test_half_handshakes_of_one_run_take_nobody_elses_place(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accepting, "MOST", 20)
    monkeypatch.setattr(accepting, "HELLO_SECONDS", 900.0)
    with ExitStack() as kept:
        other = kept.enter_context(port(service, b"run r2\n", "events.tls"))
        many = [kept.enter_context(port(service, RUN, "events.tls")) for _ in range(60)]
        assert {wire.recv(1) for wire in many[:40]} == {b""}
        with https(service, first=b"run r3\n") as wire:
            assert ask(wire, "GET", "/time").status_code == 200
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.recv(1)


def test_a_server_that_stops_closes_connections_that_have_not_said_hello(
    sqlite_settings: Settings,
) -> None:
    starts = (b"", b"ru", RUN, RUN + b"\x16\x03\x01")
    with ExitStack() as kept:
        with running(sqlite_settings) as service:
            wires = [kept.enter_context(port(service, one, "events.tls")) for one in starts]
            with https(service) as wire:  # the server has accepted all of them
                assert ask(wire, "GET", "/time").status_code == 200
        gc.collect()  # a socket that nobody closed would warn here
        assert [wire.recv(1) for wire in wires] == [b""] * len(starts)


@pytest.mark.parametrize(
    "first", [b"GET /time HTTP/1.1\r\n\r\n", b"run \n", b"x" * 5000, RUN + b"GET /time\r\n\r\n"]
)
def test_what_is_no_handshake_is_ended(service: Service, first: bytes) -> None:
    with port(service, first, "events.tls") as wire, suppress(ConnectionResetError):
        assert b"HTTP" not in wire.recv(100)
    with https(service) as wire:
        assert ask(wire, "GET", "/time").status_code == 200


def test_nobody_else_of_the_machine_may_connect(service: Service) -> None:
    runs = service.services.settings.data / "runs"
    for name in ("events", "events.tls"):
        assert stat.S_IMODE((runs / name).stat().st_mode) == 0o600
    assert stat.S_IMODE(runs.stat().st_mode) == 0o700


def test_a_server_that_restarts_listens_at_the_same_place(
    sqlite_settings: Settings, tmp_path: Path
) -> None:
    """Also far below the root, where the path of a socket is too long for the kernel."""
    deep = tmp_path / ("deep" * 30)
    sqlite_settings.data.rename(deep)
    for _ in range(2):
        with running(replace(sqlite_settings, data=deep)) as service, port(service) as wire:
            assert ask(wire, "GET", "/time").status_code == 200
            assert not (deep / "runs" / "address").exists()


def test_shims_of_an_earlier_version_find_a_port_for_events_alone(
    sqlite_settings: Settings,
) -> None:
    """They read its address anew for each connection, so an upgrade does not end their models."""
    folder = sqlite_settings.data / "runs" / "older"
    folder.mkdir(mode=0o700, parents=True)
    with (
        (folder / "shim.log").open("wb") as log,  # as every shim has it open
        subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=log
        ) as shim,
    ):
        known = {"pid": shim.pid, "started": tree.started(shim.pid)}
        (folder / "shim.json").write_bytes(msgspec.json.encode(known))
        with running(sqlite_settings) as service:
            address = (folder.parent / "address").read_text()
            assert address != service.address.removeprefix("http://")
            with httpx.Client(base_url=f"http://{address}") as client:
                assert client.get("/time").status_code == 200
                assert client.post("/auth/signin", json={}).status_code == 404
                wrong = {"model_id": "m", "api_key": "k", "api_pass": "p"}
                assert client.post("/v1/live/log", json={}, headers=wrong).status_code == 401
            assert service.store.read_now(_guesses, sqlite_settings, OF_EARLIER_VERSION)
        shim.communicate()
    with running(sqlite_settings):
        assert not (folder.parent / "address").exists()


def _guesses(connection: Connection, settings: Settings, address: str) -> int | None:
    """At the key `k` from there, however they are counted."""
    name = guesses.at_key(settings, address, "k").name
    return connection.scalar(select(attempts.c.count).where(attempts.c.name == name))
