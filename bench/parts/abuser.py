"""Whoever wants to take a server down, one way at a time, until standard input ends.

`python -m bench.parts.abuser WAY PORT`, with the headers of its own key as JSON in the variable
HEADERS. It prints a line once the attack is in place, and at the end one with what it was answered.
"""

import http.client
import json
import os
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

PATIENCE = 30  # seconds
HALF_OPEN = 2_000
DRIPPING = 500
UNFINISHED, MEGABYTES = 10, 90
UNREAD = 200
FLOODING = 16  # connections
PAUSE = 0.05  # seconds before a connection that was refused is opened again

HEAD = b"GET /time HTTP/1.1\r\nhost: 127.0.0.1\r\n"
SIGN_IN = b"POST /auth/signin HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
EXPENSIVE = b"GET /api/openapi.json HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"


class Abuser:
    def __init__(self, port: int, headers: dict[str, str]) -> None:
        self.headers = headers
        self.answers: Counter[str] = Counter()
        self.port = port
        self.is_over = threading.Event()
        self.wires: list[socket.socket] = []

    def connect(self, room: int | None = None) -> socket.socket:
        wire = socket.socket()
        wire.settimeout(PATIENCE)
        if room is not None:
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        wire.connect(("127.0.0.1", self.port))
        self.wires.append(wire)
        return wire

    def batch(self) -> bytes:
        own = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        head = (
            f"POST /v1/batch HTTP/1.1\r\nhost: 127.0.0.1\r\n{own}content-type: application/json\r\n"
        )
        return f"{head}content-length: {(MEGABYTES + 5) * 1_000_000}\r\n\r\n[".encode()

    def note(self, wire: socket.socket) -> None:
        """What it was answered, if anything."""
        with suppress(OSError):
            said = wire.recv(4096)
            self.answers[said[9:12].decode() or "closed"] += 1

    def drip(self, some: bytes, every: float) -> None:
        """A little on each connection now and then, so that it never looks dead."""
        while not self.is_over.is_set():
            for wire in self.wires:
                if self.is_over.wait(every / len(self.wires)):
                    return
                with suppress(OSError):
                    wire.send(some)


def half_open(abuser: Abuser) -> Callable[[], None]:
    for _ in range(HALF_OPEN):
        abuser.connect().sendall(HEAD)
    return lambda: abuser.drip(b"x: y\r\n", every=5)


def endless_heads(abuser: Abuser) -> Callable[[], None]:
    def one() -> None:
        while not abuser.is_over.wait(PAUSE):
            wire = abuser.connect()
            with suppress(OSError):
                wire.sendall(HEAD + b"x: ")
                for _ in range(300):
                    wire.sendall(b"y" * 1_000_000)
            abuser.note(wire)
            wire.close()

    return lambda: _together(abuser, one, FLOODING)


def slow_bodies(abuser: Abuser) -> Callable[[], None]:
    for _ in range(DRIPPING):
        abuser.connect().sendall(SIGN_IN + b"content-length: 900000\r\n\r\n" + b"x" * 50_000)
    return lambda: abuser.drip(b"x", every=1)


def unfinished_batches(abuser: Abuser) -> Callable[[], None]:
    def fill(wire: socket.socket) -> None:
        with suppress(OSError):
            wire.sendall(abuser.batch())
            for _ in range(MEGABYTES):
                wire.sendall(b" " * 1_000_000)

    for _ in range(UNFINISHED):
        fill(abuser.connect())
    return lambda: abuser.drip(b" ", every=1)


def unread_answers(abuser: Abuser) -> Callable[[], None]:
    for _ in range(UNREAD):
        abuser.connect(room=4096).sendall(EXPENSIVE * 10)
    return lambda: abuser.drip(b"", every=1)


def flood(abuser: Abuser) -> Callable[[], None]:
    """Events of one key, as fast as they are answered."""
    body = json.dumps({"line": "x" * 30_000})
    headers = {"content-type": "application/json", **abuser.headers}

    def one() -> None:
        opened = http.client.HTTPConnection("127.0.0.1", abuser.port, timeout=PATIENCE)
        while not abuser.is_over.is_set():
            try:
                opened.request("POST", "/v1/live/log", body, headers)
                answer = opened.getresponse()
                answer.read()
                abuser.answers[str(answer.status)] += 1
            except (OSError, http.client.HTTPException):
                abuser.answers["closed"] += 1
                opened.close()
                time.sleep(PAUSE)

    return lambda: _together(abuser, one, FLOODING)


def _together(abuser: Abuser, act: Callable[[], None], count: int) -> None:
    threads = [threading.Thread(target=act, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    abuser.is_over.wait()
    for thread in threads:
        thread.join(PATIENCE)


WAYS: dict[str, Callable[[Abuser], Callable[[], None]]] = {
    "half-open": half_open,
    "endless-heads": endless_heads,
    "slow-bodies": slow_bodies,
    "unfinished-batches": unfinished_batches,
    "unread-answers": unread_answers,
    "flood": flood,
}


def main() -> None:
    abuser = Abuser(int(sys.argv[2]), json.loads(os.environ["HEADERS"]))
    go_on = WAYS[sys.argv[1]](abuser)
    print("in place", flush=True)
    going = threading.Thread(target=go_on)
    going.start()
    sys.stdin.read()
    abuser.is_over.set()
    going.join()
    print(json.dumps(abuser.answers), flush=True)


if __name__ == "__main__":
    main()
