"""Requests to servers of others: time-stamp authorities, witnesses, logs that we witness.

Their answers are not trusted: one deadline is over the whole exchange, an answer has a largest
size, and no redirect is followed. Blocks; call it in a thread.
"""

import http.client
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from tapeline import __version__
from tapeline.errors import Problem

PATIENCE = 10.0  # seconds for a whole exchange, however it arrives
LARGEST = 100_000  # bytes of an answer
_PORTS = {"http": 80, "https": 443}


class NoAnswer(Problem):
    """The other server did not answer."""


class Answer(NamedTuple):
    status: int
    content: bytes


def get(address: str, *, largest: int = LARGEST) -> Answer:
    return _exchange("GET", address, None, {}, largest)


def post(address: str, body: bytes, media: str, *, largest: int = LARGEST) -> Answer:
    return _exchange("POST", address, body, {"Content-Type": media}, largest)


def _exchange(
    method: str, address: str, body: bytes | None, headers: dict[str, str], largest: int
) -> Answer:
    parts = _parts(address)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = headers | {"User-Agent": f"tapeline/{__version__}", "Connection": "close"}
    connection = http.client.HTTPConnection(parts.hostname or "", _port(parts))
    end = monotonic() + PATIENCE
    try:
        with _connected(parts, end) as plain, _closed_at(plain, end):
            connection.sock = _secured(parts, plain)
            connection.request(method, target, body, headers)
            answer = connection.getresponse()
            content = answer.read(largest + 1)
    except TimeoutError as error:
        raise NoAnswer(f"{address} did not answer within {PATIENCE:.0f} s.") from error
    except ssl.SSLCertVerificationError as error:
        raise NoAnswer(f"{address} has no certificate that is trusted here.") from error
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        raise NoAnswer(f"{address} cannot be reached ({type(error).__name__}).") from error
    finally:
        connection.close()
    if len(content) > largest:
        raise NoAnswer(f"{address} answered with more than {largest:,} bytes.")
    return Answer(answer.status, content)


def _parts(address: str) -> SplitResult:
    with suppress(ValueError):
        parts = urlsplit(address)
        if parts.scheme in _PORTS and parts.hostname and _port(parts):
            return parts
    raise NoAnswer(f"{address} is not an address of the web.")


def _port(parts: SplitResult) -> int:
    return parts.port or _PORTS[parts.scheme]


@contextmanager
def _connected(parts: SplitResult, end: float) -> Iterator[socket.socket]:
    """A connection to one of the addresses that a name has."""
    error: OSError = OSError("no address")
    found = socket.getaddrinfo(parts.hostname, _port(parts), type=socket.SOCK_STREAM)
    for family, kind, protocol, _, place in found:
        made = socket.socket(family, kind, protocol)
        try:
            made.settimeout(max(end - monotonic(), 0.001))
            made.connect(place)
        except OSError as problem:
            made.close()
            error = problem
            continue
        try:
            yield made
        finally:
            made.close()
        return
    raise error


def _secured(parts: SplitResult, plain: socket.socket) -> socket.socket:
    if parts.scheme == "http":
        return plain
    return ssl.create_default_context().wrap_socket(plain, server_hostname=parts.hostname)


@contextmanager
def _closed_at(plain: socket.socket, end: float) -> Iterator[None]:
    """A socket's own timeout begins again with every byte. This one does not: whatever is being
    read then ends, and so does the thread that the server would wait for at its end."""
    same, late = plain.dup(), threading.Event()  # TLS takes the first one over

    def close() -> None:
        late.set()
        with suppress(OSError):
            same.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(max(end - monotonic(), 0.0), close)
    timer.daemon = True
    try:
        timer.start()
    except RuntimeError as error:  # the machine has no room for a thread
        same.close()
        raise OSError(str(error)) from error
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        same.close()
        if late.is_set():
            raise TimeoutError
