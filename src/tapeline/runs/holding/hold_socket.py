"""Tells a running server of a hold through a socket, for disks that take no file.

The folder of the socket is private, so the server's own user alone reaches it.
"""

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from tapeline import descriptors
from tapeline.background import Background
from tapeline.runs.holding import holds
from tapeline.runs.holding.holds import Hold

NAME = ".server"
LONGEST = 200_000  # bytes of a message
ANSWERED_WITHIN = 5.0  # seconds
LOOKED_EVERY, WITHIN = 2.0, 15.0  # seconds


class Request(msgspec.Struct, frozen=True):
    """Put a hold, lift it, or just ask. The answer is every hold that the server was told of."""

    name: str = ""
    hold: Hold | None = None
    """None lifts the hold of that name."""


Told = dict[str, Hold]


def ask(data: Path, request: Request | None = None) -> Told | None:
    """None if no server answers."""
    try:
        with _socket() as line, _reached(data / holds.FOLDER) as address:
            line.settimeout(ANSWERED_WITHIN)
            line.connect(address)
            line.send(msgspec.json.encode(request or Request()))
            return msgspec.json.decode(line.recv(LONGEST), type=Told)
    except (OSError, msgspec.DecodeError):
        return None


def on_all(data: Path) -> Hold | None:
    """Why nothing runs, whether that is written on the disk or known to the server alone."""
    return holds.on_all(data) or (ask(data) or {}).get(holds.ALL)


class HoldSocket:
    """The server's end. Its thread answers even if the event loop or a disk hangs."""

    def __init__(
        self, data: Path, answer: Callable[[Request], Mapping[str, Hold]], background: Background
    ) -> None:
        self._folder = data / holds.FOLDER
        self._answer = answer
        self._line: socket.socket | None = None
        self._inode = 0
        self._here, self._there = socket.socketpair()
        background.thread(
            "hold socket", self._turn, every=0.0, within=WITHIN, interrupt=self._interrupt
        )

    def close(self) -> None:
        """Call it after the thread has ended with the other background work."""
        for one in (self._line, self._here, self._there):
            if one is not None:
                one.close()

    def _interrupt(self) -> None:
        self._there.send(b".")

    def _turn(self) -> None:
        """Listen for a while, then check that the socket is still where commands look for it."""
        line = self._line
        if line is None or _inode(self._folder) != self._inode:
            line = self._listen()
        if line.fileno() in descriptors.readable(line, self._here, within=LOOKED_EVERY):
            with suppress(OSError, msgspec.DecodeError):  # the caller has gone, or is not ours
                self._hear(line)

    def _listen(self) -> socket.socket:
        if self._line is not None:
            self._line.close()
            self._line = None
        self._folder.mkdir(mode=0o700, exist_ok=True)
        (self._folder / NAME).unlink(missing_ok=True)
        line = _socket()
        with _reached(self._folder) as address:
            line.bind(address)
        line.listen()
        self._line, self._inode = line, _inode(self._folder)
        return line

    def _hear(self, line: socket.socket) -> None:
        caller, _ = line.accept()
        with caller:
            caller.settimeout(ANSWERED_WITHIN)
            request = msgspec.json.decode(caller.recv(LONGEST), type=Request)
            caller.send(msgspec.json.encode(self._answer(request)))


def _socket() -> socket.socket:
    """One message each way."""
    return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)


@contextmanager
def _reached(folder: Path) -> Iterator[str]:
    """The address of the socket, whatever the length of the folder's name."""
    descriptor = os.open(folder, os.O_PATH)
    try:
        yield f"/proc/self/fd/{descriptor}/{NAME}"
    finally:
        os.close(descriptor)


def _inode(folder: Path) -> int:
    try:
        return (folder / NAME).stat().st_ino
    except FileNotFoundError:
        return 0
