"""Frames over a socket: four bytes with the length, then so many bytes.

Ray's agent on a node uses it too, and must stay small: the standard library alone.
"""

import socket
import struct
import time

LONGEST = 512_000_000  # bytes, as `frames.LARGEST`; a longer one is not ours
PORTION = 1 << 18
_LENGTH = struct.Struct(">I")


class Torn(OSError):
    """The connection ended before the frame did."""


def send(line: socket.socket, frame: bytes, ends: float) -> None:
    """Until that moment of the monotonic clock; then it is a TimeoutError."""
    line.settimeout(_left(ends))
    line.sendall(_LENGTH.pack(len(frame)))
    line.settimeout(_left(ends))  # it is the limit of the whole `sendall`
    line.sendall(frame)


def receive(line: socket.socket, ends: float) -> bytes:
    (length,) = _LENGTH.unpack(_exactly(line, _LENGTH.size, ends))
    if length > LONGEST:
        raise Torn(f"A frame of {length} bytes is longer than any of ours.")
    return _exactly(line, length, ends)


def _exactly(line: socket.socket, length: int, ends: float) -> bytes:
    found = bytearray()
    while len(found) < length:
        line.settimeout(_left(ends))
        some = line.recv(min(PORTION, length - len(found)))
        if not some:
            raise Torn("The connection ended in the middle of an answer.")
        found += some
    return bytes(found)


def _left(ends: float) -> float:
    left = ends - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
