"""A client that says exactly what a test wants it to say, byte by byte."""

import json
import re
import socket
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

PATIENCE = 60  # seconds, on a machine that has other things to do


def connect(address: str, *, room: int | None = None) -> socket.socket:
    """`room` is how many bytes the client's side takes before somebody reads them."""
    where = urlsplit(address)
    wire = socket.socket()
    wire.settimeout(PATIENCE)
    if room is not None:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    wire.connect((where.hostname, where.port))
    return wire


def rest(wire: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    came = b""
    with suppress(ConnectionResetError):
        while some := wire.recv(1 << 16):
            came += some
    return came


def say(wire: socket.socket, said: bytes) -> bool:
    """Whether the server still takes it."""
    try:
        wire.sendall(said)
    except (BrokenPipeError, ConnectionResetError):
        return False
    return True


def said_to(address: str, said: bytes) -> bytes:
    """All that the server answers before it closes the connection."""
    with connect(address) as wire:
        say(wire, said)
        return rest(wire)


def refusal(answer: bytes) -> tuple[int, dict[str, Any]]:
    """The status and the error of an answer after which the connection was closed."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"\r\nconnection: close" in head.lower(), answer
    assert b"\r\ncontent-type: application/json" in head.lower(), answer
    shape = json.loads(body)
    assert set(shape) <= {"error", "code", "field"}
    return int(head.split()[1]), shape


def statuses(answer: bytes) -> list[int]:
    return [int(one) for one in re.findall(rb"HTTP/1\.1 (\d{3}) [A-Z]", answer)]
