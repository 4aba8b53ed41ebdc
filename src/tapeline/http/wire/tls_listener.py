"""Accepts TLS connections from shims: a plain first line names the run, then the client's
handshake follows. Asyncio's own server cannot read a line before the handshake."""

import asyncio
import re
import socket
import ssl
from collections.abc import Callable

from tapeline.logs import Log

log = Log(__name__)

FIRST_LINE = re.compile(rb"run [0-9A-Za-z_-]{1,64}")
LONGEST_LINE = 100
HELLO_SECONDS = 10.0
GOODBYE_SECONDS = 1.0  # a client that never closes must not delay the server's shutdown
PAUSE = 1.0  # when there are no descriptors left


class TlsListener:
    """Accepts on the running loop until it is closed."""

    def __init__(
        self,
        listener: socket.socket,
        context: ssl.SSLContext,
        speaking: Callable[[str], asyncio.Protocol],
    ) -> None:
        self._listener, self._context, self._speaking = listener, context, speaking
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
            connection, _ = self._listener.accept()
        except BlockingIOError:
            return
        except OSError as error:
            log.warning("no_connection_accepted", reason=str(error))
            self._loop.remove_reader(self._listener)
            self._loop.call_later(PAUSE, self._open)
            return
        connection.setblocking(False)
        task = self._loop.create_task(self._welcome(connection))
        self._welcoming.add(task)
        task.add_done_callback(self._welcoming.discard)

    async def _welcome(self, connection: socket.socket) -> None:
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                run = await self._first_line(connection)
                await self._loop.connect_accepted_socket(
                    lambda: self._speaking(run),
                    connection,
                    ssl=self._context,
                    ssl_shutdown_timeout=GOODBYE_SECONDS,
                )
        except asyncio.CancelledError:
            connection.close()  # the listener closes before the client has said hello
            raise
        except (OSError, ValueError, TimeoutError) as error:
            # The client does not trust our certificate, or went away.
            log.debug("no_handshake", reason=str(error))
            connection.close()
        except Exception as error:
            log.error("bug", exc_info=error)
            connection.close()

    async def _first_line(self, connection: socket.socket) -> str:
        """Byte by byte: everything after it belongs to the handshake."""
        line = b""
        while len(line) <= LONGEST_LINE:
            byte = await self._loop.sock_recv(connection, 1)
            if byte in (b"", b"\n"):
                break
            line += byte
        if not FIRST_LINE.fullmatch(line):
            raise ValueError("The first line does not name a run.")
        return line.decode()
