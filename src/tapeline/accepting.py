"""Accepts connections of which nobody knows yet from whom they come.

Each counts from the moment when the kernel hands it over. Asyncio tells a protocol of a connection
with TLS only after the handshake: until then, silent ones would take any number of descriptors.
"""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

from tapeline import descriptors
from tapeline.logs import Log

log = Log(__name__)

HELLO_SECONDS = 10.0
PAUSE = 1.0  # seconds, when there are no descriptors left
MOST = 256  # connections
SHARE = 4
"""They take at most one of so many descriptors that connections may have."""


class Unnamed:
    """Connections that have not said yet from whom they come, which an honest one does at once.
    Each has some seconds for that. At a limit, the oldest of the origin that has most goes, so that
    a newcomer always gets in, and no flood from elsewhere ends it."""

    def __init__(self) -> None:
        self._origins: dict[socket.socket, str] = {}
        self._of: dict[str, dict[socket.socket, asyncio.TimerHandle]] = {}

    def __len__(self) -> int:
        return len(self._origins)

    def add(self, one: socket.socket, origin: str) -> None:
        if len(self) >= most() or one.fileno() >= descriptors.for_connections():
            self.end_one()
        timer = asyncio.get_running_loop().call_later(HELLO_SECONDS, self._end, one)
        self._put(one, origin, timer)

    def discard(self, one: socket.socket) -> None:
        """It has said it, or has ended."""
        if one in self._origins:
            self._take(one).cancel()

    def comes_from(self, one: socket.socket, origin: str) -> None:
        """It has said it, and goes on to something that takes time too, such as a handshake."""
        if one in self._origins:
            self._put(one, origin, self._take(one))

    def end_one(self) -> None:
        if self._of:
            most_of_one = max(self._of.values(), key=len)
            self._end(next(iter(most_of_one)))

    def _put(self, one: socket.socket, origin: str, timer: asyncio.TimerHandle) -> None:
        self._origins[one] = origin
        self._of.setdefault(origin, {})[one] = timer

    def _take(self, one: socket.socket) -> asyncio.TimerHandle:
        origin = self._origins.pop(one)
        timer = self._of[origin].pop(one)
        if not self._of[origin]:
            del self._of[origin]
        return timer

    def _end(self, one: socket.socket) -> None:
        """Whoever reads from it finds its end, and closes it, whatever TLS is waiting for."""
        self.discard(one)
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


def most() -> int:
    return min(MOST, descriptors.for_connections() // SHARE)


Welcome = Callable[[socket.socket], Coroutine[Any, Any, None]]


class Accepting:
    """On the running loop, until it is closed. One at a time: between two, everybody else has a
    turn, and whoever was accepted before is heard before it may have to go."""

    def __init__(self, listener: socket.socket, unnamed: Unnamed, welcome: Welcome) -> None:
        self._listener, self._unnamed, self._welcome = listener, unnamed, welcome
        self._loop = asyncio.get_running_loop()
        self._welcoming: set[asyncio.Task[None]] = set()
        listener.setblocking(False)
        self._open()

    def close(self) -> None:
        if self._listener.fileno() >= 0:
            self._loop.remove_reader(self._listener)
            self._listener.close()
        for task in self._welcoming:
            task.cancel()

    async def wait_closed(self) -> None:
        await asyncio.gather(*self._welcoming, return_exceptions=True)

    def _open(self) -> None:
        if self._listener.fileno() >= 0:
            self._loop.add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        try:
            connection, address = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as error:
            log.warning("no_connection_accepted", reason=str(error))
            self._unnamed.end_one()
            self._loop.remove_reader(self._listener)
            self._loop.call_later(PAUSE, self._open)
            return
        connection.setblocking(False)
        self._unnamed.add(connection, address[0] if isinstance(address, tuple) else "")
        task = self._loop.create_task(self._carry_out(connection))
        self._welcoming.add(task)
        task.add_done_callback(partial(self._carried_out, connection))

    async def _carry_out(self, connection: socket.socket) -> None:
        try:
            await self._welcome(connection)
        except (OSError, ValueError, TimeoutError) as error:
            # The client does not trust our certificate, was too slow, or went away.
            log.debug("not_welcomed", reason=str(error))
            self._part(connection)
        except Exception as error:
            log.error("bug", exc_info=error)
            self._part(connection)

    def _carried_out(self, connection: socket.socket, task: "asyncio.Task[None]") -> None:
        self._welcoming.discard(task)
        if task.cancelled():  # the listener closes before the client has said hello
            self._part(connection)

    def _part(self, connection: socket.socket) -> None:
        self._unnamed.discard(connection)
        connection.close()
