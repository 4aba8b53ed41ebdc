"""Carries bytes between the events port inside the sandbox and the server outside.

The server is looked up for each connection, because it may have restarted. The first line of each
names the run, before anything that the model can send.
"""

import os
import resource
import select
import socket
from collections.abc import Callable

SOCKET, TLS_SOCKET = "events", "events.tls"
"""Where the server listens, in the folder of all runs."""
MOST_HELD = 65_536
MOST_CONNECTIONS = 64
RESERVE = 64
"""Descriptors of the shim that connections never take: the next attempt needs some."""
BROKEN = select.POLLERR | select.POLLNVAL

Watch = Callable[[int, int, Callable[[int], None] | None], None]
"""Watch a descriptor for these poll events; None stops watching."""


class Forwarder:
    def __init__(
        self, listener: socket.socket, runs: str, target: str, name: str, watch: Watch
    ) -> None:
        self._listener = listener
        self._runs, self._target = runs, target
        self._first_line = f"run {name}\n".encode()
        self._watch = watch
        self._open, self._most = 0, _most_connections()
        watch(listener.fileno(), select.POLLIN, self._accept)

    def _accept(self, _events: int) -> None:
        try:
            inside, _ = self._listener.accept()
        except OSError:
            return
        try:
            outside = self._connect()
        except OSError:
            inside.close()  # to the client, the server is down
            return
        self._open += 1
        Pair(inside, outside, self._first_line, self._watch, self._closed)
        if self._open >= self._most:
            self._watch(self._listener.fileno(), 0, None)

    def _connect(self) -> socket.socket:
        outside = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        # Through a descriptor, because a socket's path may have 107 characters at most.
        folder = os.open(self._runs, os.O_PATH | os.O_DIRECTORY)
        try:
            outside.connect(f"/proc/self/fd/{folder}/{self._target}")
        except OSError:
            outside.close()
            raise
        finally:
            os.close(folder)
        return outside

    def _closed(self) -> None:
        self._open -= 1
        self._watch(self._listener.fileno(), select.POLLIN, self._accept)


def _most_connections() -> int:
    """At each of the two ports; a connection takes two descriptors."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(1, min(MOST_CONNECTIONS, (soft - RESERVE) // 4))


class Pair:
    """Two sockets. Each direction holds a bounded number of bytes and ends on its own."""

    def __init__(
        self,
        inside: socket.socket,
        outside: socket.socket,
        first_line: bytes,
        watch: Watch,
        closed: Callable[[], None],
    ) -> None:
        inside.setblocking(False)
        inside.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sockets = (inside, outside)
        self._held = [b"", first_line]  # bytes to be sent to each socket
        self._ended = [False, False]  # which socket will send no more
        self._shut = [False, False]  # sockets that were shut down for writing
        self._watch, self._closed = watch, closed
        self._await()

    def _await(self) -> None:
        for one in (0, 1):
            events = select.POLLOUT if self._held[one] else 0
            if not self._ended[one] and len(self._held[1 - one]) < MOST_HELD:
                events |= select.POLLIN
            # No events means not watched: poll would report a hang-up repeatedly.
            self._watch(self._sockets[one].fileno(), events, self._of(one) if events else None)

    def _of(self, one: int) -> Callable[[int], None]:
        return lambda events: self._happened(one, events)

    def _happened(self, one: int, events: int) -> None:
        try:
            if events & BROKEN:
                raise ConnectionError
            if events & (select.POLLIN | select.POLLHUP):
                self._receive(one)
            for to in (0, 1):
                self._send(to)
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            self._close()
            return
        if all(self._shut):
            self._close()
        else:
            self._await()

    def _receive(self, one: int) -> None:
        if self._ended[one]:
            # Both of its directions are over, so nothing that is held for it can arrive.
            raise ConnectionError
        if len(self._held[1 - one]) < MOST_HELD:
            data = self._sockets[one].recv(MOST_HELD)
            self._held[1 - one] += data
            self._ended[one] = not data

    def _send(self, to: int) -> None:
        if self._held[to]:
            try:
                sent = self._sockets[to].send(self._held[to])
            except BlockingIOError:
                return
            self._held[to] = self._held[to][sent:]
        if self._ended[1 - to] and not self._held[to] and not self._shut[to]:
            self._sockets[to].shutdown(socket.SHUT_WR)
            self._shut[to] = True

    def _close(self) -> None:
        for one in self._sockets:
            self._watch(one.fileno(), 0, None)
            one.close()
        self._closed()
