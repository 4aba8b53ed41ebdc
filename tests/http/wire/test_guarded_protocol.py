"""What strangers send is bounded before any of it becomes a request: size, time and number."""

import re
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tapeline.http.wire.guarded_protocol import MOST_HEAD, MOST_HEADERS, MOST_PIPELINED
from tapeline.settings import Settings
from tests.conftest import Service, running
from tests.http.wire.raw import PATIENCE, connect, refusal, rest, said_to, say, statuses
from tests.waiting import wait_for

GET = b"GET /time HTTP/1.1\r\nhost: 127.0.0.1\r\n"
CLOSING = GET + b"connection: close\r\n\r\n"
SIGN_IN = b"POST /auth/signin HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
CHUNKED = SIGN_IN + b"transfer-encoding: chunked\r\n\r\n"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"  # of HTTP/2


@pytest.fixture
def strict(sqlite_settings: Settings) -> Iterator[Service]:
    """A server whose every patience is a second."""
    quick = replace(
        sqlite_settings, head_seconds=1, body_seconds=1, idle_seconds=1, stalled_seconds=1
    )
    with running(quick) as service:
        yield service


@pytest.fixture
def patient(sqlite_settings: Settings) -> Iterator[Service]:
    with running(sqlite_settings) as service:
        yield service


def metrics(service: Service) -> bytes:
    return service.services.metrics.text()


def test_a_head_without_an_end_is_431(patient: Service) -> None:
    for begun, more in (
        (GET + b"x: ", b"y" * 10_000),
        (GET, b"x: y\r\n" * 1_000),
        (b"GET /", b"a" * 10_000),
        (GET + b"x", b"y" * 10_000),
    ):
        with connect(patient.address) as wire:
            say(wire, begun)
            for _ in range(100):
                say(wire, more)
            status, shape = refusal(rest(wire))
        assert (status, shape["code"]) == (431, "head_too_large")
    assert patient.services.connections.held == 0


def test_a_head_that_comes_at_once_is_as_large_as_one_in_pieces_at_most(patient: Service) -> None:
    allowed = GET + b"x: " + b"y" * (MOST_HEAD - 1_000) + b"\r\nconnection: close\r\n\r\n"
    assert statuses(said_to(patient.address, allowed)) == [200]
    for too_large in (
        GET + b"x: " + b"y" * MOST_HEAD + b"\r\nconnection: close\r\n\r\n",
        GET + b"x: y\r\n" * MOST_HEADERS + b"connection: close\r\n\r\n",
        b"GET /?" + b"y" * MOST_HEAD + b" HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n",
    ):
        assert refusal(said_to(patient.address, too_large))[0] == 431
    assert patient.services.connections.refused["head_too_large"] == 3


def test_a_head_that_takes_too_long_is_408_however_it_drips(strict: Service) -> None:
    with connect(strict.address) as half, connect(strict.address) as dripping:
        say(half, GET)
        say(dripping, GET)
        deadline = time.monotonic() + PATIENCE
        while say(dripping, b"x: y\r\n") and time.monotonic() < deadline:
            time.sleep(0.1)
        for wire in (half, dripping):
            status, shape = refusal(rest(wire))
            assert (status, shape["code"]) == (408, "too_slow")


def test_a_connection_that_asks_for_nothing_is_closed_without_a_word(strict: Service) -> None:
    with connect(strict.address) as silent, connect(strict.address) as idle:
        say(idle, GET + b"\r\n")
        assert rest(silent) == b""
        assert statuses(rest(idle)) == [200]


def test_a_body_that_takes_too_long_is_408_on_every_route(strict: Service) -> None:
    said = said_to(strict.address, SIGN_IN + b'content-length: 50\r\n\r\n{"email":')
    assert statuses(said) == [408]
    assert b'"code":"too_slow"' in said


def test_a_body_that_takes_too_long_ends_its_connection(sqlite_settings: Settings) -> None:
    """However long a connection may idle, and even if its client goes on sending."""
    slow = replace(sqlite_settings, body_seconds=1, idle_seconds=3600)
    page = SIGN_IN.replace(b"signin", b"signin/form").replace(b"json", b"x-www-form-urlencoded")
    with running(slow) as service:
        for head in (SIGN_IN, page + b"sec-fetch-site: same-origin\r\naccept: text/html\r\n"):
            with connect(service.address) as wire:
                say(wire, head + b"content-length: 1000000\r\n\r\n{")
                answer = wire.recv(1 << 16)
                assert say(wire, b"x")  # the client does not lose the answer by it
                answer += rest(wire)
                assert statuses(answer) == [408]
                assert answer.count(b"\r\nconnection: close\r\n") == 1, answer
                wait_for(lambda: len(service.services.connections) == 0)


def test_whoever_goes_on_sending_after_the_answer_is_cut_off(strict: Service) -> None:
    with connect(strict.address) as wire:
        say(wire, b"POST /nowhere HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1000000\r\n\r\n")
        deadline = time.monotonic() + PATIENCE
        while say(wire, b"x") and time.monotonic() < deadline:
            time.sleep(0.05)
        assert statuses(rest(wire)) == [404]


def test_a_body_that_nobody_read_does_not_spoil_the_next_request(patient: Service) -> None:
    head = b"POST /nowhere HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 800000\r\n\r\n"
    with connect(patient.address) as wire:
        say(wire, head)
        assert wire.recv(4096).startswith(b"HTTP/1.1 404 ")
        say(wire, b"x" * 800_000 + CLOSING)
        assert statuses(rest(wire)) == [200]


def test_what_is_not_http_gets_our_error(patient: Service) -> None:
    for garbage in (b"\x16\x03\x01\x02\x00\x01\x00", b"hello\r\n\r\n", PREFACE):
        status, shape = refusal(said_to(patient.address, garbage))
        assert (status, shape["code"]) == (400, "malformed_request")


def test_old_and_upgrading_clients_are_answered_as_others_are(patient: Service) -> None:
    old = said_to(patient.address, b"GET /time HTTP/1.0\r\n\r\n")
    assert statuses(old) == [200]
    upgrading = GET + b"connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\n\r\n"
    with connect(patient.address) as wire:
        say(wire, upgrading)
        assert wire.recv(4096).startswith(b"HTTP/1.1 200 ")
        say(wire, CLOSING)
        assert statuses(rest(wire)) == [200]


def test_chunks_that_are_nearly_all_framing_are_refused(patient: Service) -> None:
    for begun, more in (
        (CHUNKED + b"1;x=", b"y" * 10_000),
        (CHUNKED + b"1\r\nx\r\n0\r\n", b"x: y\r\n" * 1_000),
    ):
        with connect(patient.address) as wire:
            say(wire, begun)
            for _ in range(100):
                say(wire, more)
            assert statuses(rest(wire)) == [431]
    assert patient.services.connections.held == 0


def test_a_body_of_tiny_chunks_is_taken(patient: Service) -> None:
    body = b'{"email": "nobody@example.com", "password": "' + b"x" * 3_000 + b'"}'
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    with connect(patient.address) as wire:
        say(wire, CHUNKED + chunks)
        assert wire.recv(4096).startswith(b"HTTP/1.1 401 ")


def test_requests_that_wait_behind_each_other_are_limited(patient: Service) -> None:
    several = (GET + b"\r\n") * MOST_PIPELINED + CLOSING
    assert statuses(said_to(patient.address, several)) == [200] * (MOST_PIPELINED + 1)
    too_many = said_to(patient.address, (GET + b"\r\n") * 1_000 + CLOSING)
    assert len(statuses(too_many)) < 1_000
    assert patient.services.connections.refused["malformed_request"] == 1
    wait_for(lambda: len(patient.services.connections) == 0)
    assert patient.services.connections.held == 0


def test_garbage_behind_a_request_does_not_spoil_its_answer(patient: Service) -> None:
    answer = said_to(patient.address, GET + b"\r\n" + b"\0\0\0\0\r\n\r\n")
    assert statuses(answer) == [200]
    assert b'"time":' in answer


def test_a_client_that_does_not_read_is_cut_off(strict: Service) -> None:
    ask = b"GET /api/openapi.json HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
    with connect(strict.address, room=4096) as wire:
        say(wire, ask * MOST_PIPELINED)
        wait_for(lambda: len(strict.services.connections) == 1)
        wait_for(lambda: len(strict.services.connections) == 0)
        # Neither we nor the kernel took answers that had nowhere to go.
        found = re.search(rb'route="/api/openapi.json",status="200"} (\d+)', metrics(strict))
        assert found
        assert int(found[1]) < 5
    with strict.client() as client:
        assert client.get("/time").is_success


def test_a_client_that_reads_slowly_gets_all_of_it(sqlite_settings: Settings) -> None:
    ask = b"GET /api/openapi.json HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
    # More than a second: this client, too, is on a slow machine.
    settings = replace(sqlite_settings, stalled_seconds=3)
    with running(settings) as service, connect(service.address, room=4096) as wire:
        say(wire, ask * 20 + CLOSING)
        came, started = b"", time.monotonic()
        while some := wire.recv(1 << 17):
            came += some
            if time.monotonic() < started + 6:  # then it has been slow for long enough
                time.sleep(0.02)
    assert statuses(came) == [200] * 21
