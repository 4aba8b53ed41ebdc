"""The short way in: what arrives whole is answered in one write, all else as usual."""

import socket
import time
from urllib.parse import urlsplit

import pytest

from tests.conftest import on_both
from tests.pushing import Model

OK = b'{"status":"success"}'


def request(model: Model, line: str, *more: str, version: str = "1.1", path: str = "live") -> bytes:
    body = f'{{"line":"{line}"}}'
    head = [
        f"POST /v1/{path}/log HTTP/{version}",
        "Host: x",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in model.headers.items()),
        *more,
    ]
    return ("\r\n".join(head) + "\r\n\r\n" + body).encode()


def connected(model: Model) -> socket.socket:
    where = urlsplit(model.service.address)
    return socket.create_connection((where.hostname, where.port), timeout=10)


def answers(connection: socket.socket, count: int) -> bytes:
    got = b""
    while got.count(b"\r\n\r\n") < count or not got.endswith(b"}"):
        chunk = connection.recv(65536)
        if not chunk:
            break
        got += chunk
    return got


def shown(model: Model) -> list[str]:
    return [one["line"] for one in reversed(model.items("/logs"))]


@pytest.fixture
def known(model: Model) -> Model:
    """A model whose key the server remembers, as it must for the short way."""
    model.push("/v1/live/log", {"line": "first"})
    return model


def test_one_connection_after_another_request(known: Model) -> None:
    with connected(known) as wire:
        for number in range(5):
            wire.sendall(request(known, f"l{number}"))
            answer = answers(wire, 1)
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
            assert b"content-length: 20\r\n" in answer
            assert b"\r\ndate: " in answer
            assert answer.endswith(OK)
    assert shown(known) == ["first", *(f"l{number}" for number in range(5))]


def test_pipelined_requests_are_answered_in_their_order(known: Model) -> None:
    with connected(known) as wire:
        bad = request(known, "b").replace(b'{"line":"b"}', b'{"lime":"b"}')
        wire.sendall(request(known, "a") + bad + request(known, "c") + request(known, "d"))
        answer = answers(wire, 4)
    statuses = [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"400", b"200", b"200"]
    assert shown(known) == ["first", "a", "c", "d"]


def test_a_body_in_pieces_takes_the_usual_way(known: Model) -> None:
    whole = request(known, "slow")
    with connected(known) as wire:
        for piece in (whole[:20], whole[20:-5]):
            wire.sendall(piece)
            time.sleep(0.05)
        whole = whole[-5:]
        wire.sendall(whole)
        assert answers(wire, 1).endswith(OK)
        chunked = request(known, "x").partition(b"Content-Length")[0]
        headers = "".join(f"{name}: {value}\r\n" for name, value in known.headers.items()).encode()
        chunked += b"Transfer-Encoding: chunked\r\n" + headers + b"\r\n"
        wire.sendall(chunked + b'8\r\n{"line":\r\n5\r\n"y"} \r\n0\r\n\r\n')
        assert answers(wire, 1).endswith(OK)
        wire.sendall(chunked + b'8\r\n{"line":\r\n')
        time.sleep(0.05)
        wire.sendall(b'5\r\n"z"} \r\n0\r\n\r\n')
        assert answers(wire, 1).endswith(OK)
    assert shown(known) == ["first", "slow", "y", "z"]


def test_who_wants_the_connection_closed_gets_it_closed(known: Model) -> None:
    for sent in (
        request(known, "a", "Connection: close"),
        request(known, "b", version="1.0"),
    ):
        with connected(known) as wire:
            wire.sendall(sent)
            assert answers(wire, 1).endswith(OK)
            assert wire.recv(10) == b""
    with connected(known) as wire:
        wire.sendall(request(known, "c", "Expect: 100-continue"))
        assert answers(wire, 2).endswith(OK)
    assert shown(known) == ["first", "a", "b", "c"]


def test_who_goes_away_without_waiting_harms_nobody(known: Model) -> None:
    for number in range(20):
        with connected(known) as wire:
            wire.sendall(request(known, f"l{number}"))
    known.push("/v1/live/log", {"line": "last"})
    assert "last" in shown(known)
    assert known.first_break() is None


@on_both
def test_a_key_that_is_gone_is_told_so_on_the_short_way_too(known: Model) -> None:
    with connected(known) as wire:
        wire.sendall(request(known, "a"))
        assert answers(wire, 1).endswith(OK)
        known.owner.post(
            "/project/delete-project-token",
            json={"projectId": known.project_id, "tokenId": known.headers["api_key"]},
        )
        for _ in range(2):
            wire.sendall(request(known, "b"))
            assert answers(wire, 1).startswith(b"HTTP/1.1 401 ")
    assert known.get()["counts"] == {"log": 2}
