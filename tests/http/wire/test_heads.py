"""A head that two readers could understand in two ways is refused, on every path into us."""

import pytest

from tests.conftest import Service
from tests.http.wire.raw import said_to, statuses

HOST = b"host: localhost\r\n"
CHUNKS = b"2\r\n{}\r\n0\r\n\r\n"
BEHIND = b"GET /time HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
PATHS = (b"/auth/signin", b"/v1/live/log")  # the second may skip the framework

HOSTS: dict[tuple[bytes, bytes], bool] = {
    (b"1.1", b""): False,
    (b"1.1", b"host:\r\n"): False,
    (b"1.1", b"host: \t \r\n"): False,
    (b"1.1", HOST): True,
    (b"1.1", b"HOST:localhost:1 \r\n"): True,
    (b"1.1", HOST + HOST): False,
    (b"1.1", HOST + b"host:\r\n"): False,
    (b"1.0", b""): True,
    (b"1.0", HOST): True,
    (b"1.0", HOST + HOST): False,
}
CODINGS: dict[tuple[bytes, bytes], bool] = {
    (b"1.1", b"transfer-encoding: chunked\r\n"): True,
    (b"1.1", b"Transfer-Encoding:\tCHUNKED\r\n"): True,
    (b"1.1", b"transfer-encoding: gzip, chunked\r\n"): False,
    (b"1.1", b"transfer-encoding: chunked, chunked\r\n"): False,
    (b"1.1", b"transfer-encoding: chunked\r\n" * 2): False,
    (b"1.1", b"transfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n"): False,
    (b"1.1", b"transfer-encoding: chunked, identity\r\n"): False,
    (b"1.1", b"transfer-encoding: identity\r\n"): False,
    (b"1.1", b"transfer-encoding: xchunked\r\n"): False,
    (b"1.1", b"transfer-encoding: chunked;q=1\r\n"): False,
    (b"1.1", b"transfer-encoding:\r\n"): False,
    (b"1.1", b"transfer-encoding: chunked\r\ncontent-length: 2\r\n"): False,
    (b"1.1", b"content-length: 2\r\ntransfer-encoding: chunked\r\n"): False,
    (b"1.0", b"transfer-encoding: chunked\r\n"): False,
}


@pytest.fixture
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.mark.parametrize(("sent", "is_good"), HOSTS.items())
def test_a_request_names_its_host_once(
    service: Service, sent: tuple[bytes, bytes], is_good: bool
) -> None:
    version, hosts = sent
    for start in (b"GET /time", b"GET http://localhost/time", b"POST /v1/live/log"):
        said = start + b" HTTP/" + version + b"\r\n" + hosts + b"connection: close\r\n\r\n"
        assert (statuses(said_to(service.address, said)) == [400]) is not is_good, said


@pytest.mark.parametrize(("sent", "is_good"), CODINGS.items())
def test_a_body_is_framed_in_one_way_only(
    service: Service, sent: tuple[bytes, bytes], is_good: bool
) -> None:
    version, codings = sent
    for path in PATHS:
        head = b"POST " + path + b" HTTP/" + version + b"\r\n" + HOST + codings
        head += b"content-type: application/json\r\n\r\n"
        came = statuses(said_to(service.address, head + CHUNKS + BEHIND))
        if is_good:
            assert came[1:] == [200], (head, came)  # the next request begins where we think
        else:
            assert came == [400], (head, came)  # and is not read at all
