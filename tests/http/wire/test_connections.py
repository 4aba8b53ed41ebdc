"""How many connections there may be, and how much memory: newcomers go before those who dawdle."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest

from tapeline.errors import Problem, TooManyConnections
from tapeline.http.wire.connections import Connections, Stand
from tapeline.settings import Settings
from tests.conftest import Service, let_in, run, running
from tests.http.wire.raw import connect, refusal, rest, said_to, say, statuses
from tests.http.wire.test_guarded_protocol import CLOSING, GET
from tests.pushing import pushing
from tests.waiting import wait_for


class Guest:
    held = unread = 0

    def look(self, now: float) -> Stand | None: ...
    def end(self, problem: Problem | None) -> None: ...


@contextmanager
def sending(settings: Settings, password_hash: str) -> Iterator[tuple[Service, bytes]]:
    """And the head of an event of somebody who may send: no stranger's body may be large."""
    with running(settings) as service:
        owner = let_in(service, "ada@example.com", password_hash)
        with owner.client, pushing(service, owner) as model:
            headers = {"content-type": "application/json"} | model.headers
            lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
            head = "POST /v1/live/event HTTP/1.1\r\nhost: 127.0.0.1\r\n" + "".join(lines)
            yield service, head.encode()


@contextmanager
def half_open(service: Service, count: int, said: bytes = GET) -> Iterator[None]:
    with ExitStack() as opened:
        before = len(service.services.connections)
        for _ in range(count):
            say(opened.enter_context(connect(service.address)), said)
        wait_for(lambda: len(service.services.connections) >= before + count)
        yield


def test_an_address_has_so_many_connections(sqlite_settings: Settings) -> None:
    few = replace(sqlite_settings, max_connections_address=3, uncounted_addresses="")
    with running(few) as service:
        with half_open(service, 3):
            status, shape = refusal(said_to(service.address, CLOSING))
            assert (status, shape["code"]) == (429, "too_many_connections")
        wait_for(lambda: len(service.services.connections) == 0)
        assert statuses(said_to(service.address, CLOSING)) == [200]


def test_a_trusted_proxy_brings_as_many_as_it_likes(sqlite_settings: Settings) -> None:
    behind = replace(
        sqlite_settings,
        max_connections_address=3,
        uncounted_addresses="",
        trusted_proxies="10.0.0.1, 127.0.0.0/8",
    )
    with running(behind) as service, half_open(service, 5):
        assert statuses(said_to(service.address, CLOSING)) == [200]


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff::7", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
    ],
)
def test_an_address_is_what_one_customer_has(
    sqlite_settings: Settings, one: str, other: str, *, is_same: bool
) -> None:
    async def both() -> bool:
        connections = Connections(replace(sqlite_settings, max_connections_address=1))
        connections.join(Guest(), one, 0)
        try:
            connections.join(Guest(), other, 0)
        except TooManyConnections:
            return True
        return False

    assert run(both()) is is_same


def test_a_newcomer_takes_the_place_of_a_half_open_request(sqlite_settings: Settings) -> None:
    with running(replace(sqlite_settings, max_connections=20)) as service:
        with half_open(service, 20):
            # At the next look it is known which of them dawdle.
            wait_for(lambda: statuses(said_to(service.address, CLOSING)) == [200])
            assert service.services.connections.refused["overloaded"] > 0
        wait_for(lambda: len(service.services.connections) == 0)


def test_a_request_that_is_carried_out_keeps_its_place(sqlite_settings: Settings) -> None:
    with running(replace(sqlite_settings, max_connections=3)) as service:
        services = service.services
        with ExitStack() as opened:
            working = [opened.enter_context(connect(service.address)) for _ in range(3)]
            # Nobody reads these answers, so they stay under way.
            for wire in working:
                say(wire, b"GET /api/openapi.json HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n" * 60)
            wait_for(lambda: len(services.connections) == 3)
            status, shape = refusal(said_to(service.address, CLOSING))
            assert (status, shape["code"]) == (503, "overloaded")
            assert len(services.connections) == 3


def test_unfinished_bodies_share_so_much_memory(
    sqlite_settings: Settings, password_hash: str
) -> None:
    small = replace(sqlite_settings, max_held=1_000_000)
    with sending(small, password_hash) as (service, head):
        begun = head + b"content-length: 900000\r\n\r\n" + b"x" * 400_000
        connections = service.services.connections
        with half_open(service, 2, begun):
            wait_for(lambda: connections.held >= 800_000)
            status, shape = refusal(said_to(service.address, begun))
            assert (status, shape["code"]) == (503, "overloaded")
            assert len(connections) >= 2
            # Those who have dawdled for a while make room for a newcomer.
            wait_for(lambda: _is_taken(service, begun))
        wait_for(lambda: connections.held == 0)
    assert connections.refused["overloaded"] > 1


def _is_taken(service: Service, begun: bytes) -> bool:
    with connect(service.address) as wire:
        say(wire, begun + b"x" * 500_000)
        return statuses(wire.recv(4096)) == [400]


def test_heads_under_way_count_as_memory(sqlite_settings: Settings) -> None:
    with running(replace(sqlite_settings, max_held=1_000_000)) as service:
        connections = service.services.connections
        with half_open(service, 60, GET + b"x: " + b"y" * 30_000):
            wait_for(lambda: connections.refused["overloaded"] > 0)
            assert connections.held <= 1_000_000
        wait_for(lambda: connections.held == 0)


def test_a_whole_request_needs_no_place_in_the_memory_of_the_unfinished(
    sqlite_settings: Settings, password_hash: str
) -> None:
    small = replace(sqlite_settings, max_held=1_000_000)
    with sending(small, password_hash) as (service, head):
        begun = head + b"content-length: 990000\r\n\r\n" + b"x" * 980_000
        with half_open(service, 1, begun):
            wait_for(lambda: service.services.connections.held >= 980_000)
            assert statuses(said_to(service.address, CLOSING)) == [200]


def test_a_connection_that_ends_gives_everything_back(
    sqlite_settings: Settings, password_hash: str
) -> None:
    with sending(sqlite_settings, password_hash) as (service, head):
        begun = head + b"content-length: 900000\r\n\r\n" + b"x" * 400_000
        connections = service.services.connections
        for _ in range(3):
            with half_open(service, 5, begun):
                wait_for(lambda: connections.held >= 2_000_000)
            wait_for(lambda: len(connections) == 0 and connections.held == 0)


def test_those_who_are_refused_can_read_why(sqlite_settings: Settings) -> None:
    """Closing at once would reset the connection, and the reset would overtake the answer."""
    with running(sqlite_settings) as service, connect(service.address) as wire:
        say(wire, GET + b"x: " + b"y" * 70_000)
        for _ in range(50):
            say(wire, b"y" * 50_000)
        assert refusal(rest(wire))[0] == 431
