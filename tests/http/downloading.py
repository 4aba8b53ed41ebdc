"""Downloads over real connections that hold little: what was not read was not written either."""

import http.client
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

from tapeline.http.core.endpoint import Endpoint
from tests.conftest import Service

SMALL_BUFFER = 2**15  # bytes


def is_download(row: Endpoint) -> bool:
    """Whatever is neither shown by a page nor a stream of events is a file."""
    shown = {"application/json", "text/html", "text/event-stream"}
    return row.method == "GET" and (row.media not in shown or row.path.endswith("export.json"))


@contextmanager
def begun(
    service: Service, path: str, headers: dict[str, str]
) -> Iterator[http.client.HTTPResponse]:
    """An answer whose head has come."""
    where = urlsplit(service.address)
    line = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)
    line.sock = socket.socket()
    line.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
    line.sock.settimeout(60)
    line.sock.connect((where.hostname, where.port))
    with closing(line):
        line.request("GET", path, headers=headers)
        with closing(line.getresponse()) as answer:
            assert answer.status == 200, answer.read()
            yield answer


def content_of(answer: http.client.HTTPResponse) -> bytes | None:
    """None if it breaks off."""
    try:
        return answer.read()
    except (http.client.IncompleteRead, ConnectionError):
        return None
