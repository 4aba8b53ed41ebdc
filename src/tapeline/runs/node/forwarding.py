"""Carries the requests of this node's models to an API server.

Shims connect to the same two sockets as on a server's own machine. What models of the older
platform send over https is opened here, with the authority that their environments trust.
"""

import asyncio
import ssl
from contextlib import suppress
from pathlib import Path

from tapeline import descriptors
from tapeline.accepting import HELLO_SECONDS
from tapeline.errors import Unavailable
from tapeline.logs import Log
from tapeline.runs.engines import events_port
from tapeline.runs.engines.events_port import FIRST_LINE, TlsListener
from tapeline.runs.node.servers import Servers
from tapeline.runs.shim.forward import SOCKET, TLS_SOCKET

log = Log(__name__)

CHUNK = 65_536
LAST_WORDS = 60.0  # seconds for an answer to a client that sends no more


class Forwarding:
    def __init__(self, runs: Path, servers: Servers, for_older: ssl.SSLContext) -> None:
        self._runs, self._servers, self._for_older = runs, servers, for_older
        self._open: list[asyncio.Server | TlsListener] = []
        self._carrying: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        plain, encrypted = (events_port.listen(self._runs, name) for name in (SOCKET, TLS_SOCKET))
        self._open = [
            await asyncio.start_unix_server(self._named, sock=plain, limit=CHUNK),
            TlsListener(encrypted, self._for_older, self._speaking),
        ]

    def close(self) -> None:
        for one in self._open:
            one.close()

    async def _named(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The shim writes the first line, before anything that the model sends."""
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                line = (await reader.readuntil(b"\n")).removesuffix(b"\n")
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            line = b""
        if FIRST_LINE.fullmatch(line):
            await self._carry(line.decode(), reader, writer)
        else:
            writer.close()

    def _speaking(self, line: str) -> asyncio.Protocol:
        def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.get_running_loop().create_task(self._carry(line, reader, writer))
            self._carrying.add(task)
            task.add_done_callback(self._carrying.discard)

        return asyncio.StreamReaderProtocol(asyncio.StreamReader(limit=CHUNK), begin)

    async def _carry(
        self, line: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        outside: asyncio.StreamWriter | None = None
        try:
            if writer.get_extra_info("socket").fileno() >= descriptors.for_connections():
                return  # the rest is kept for what supervises the models
            answers, outside = await self._servers.connect(line)
            sending = asyncio.create_task(_copy(reader, outside))
            try:
                await _answered(sending, asyncio.create_task(_copy(answers, writer)))
            finally:
                sending.cancel()
        except (OSError, TimeoutError, Unavailable):
            pass  # to the model, the server is down
        finally:
            for one in (writer, outside):
                if one is not None:
                    one.close()


async def _answered(sending: "asyncio.Task[None]", answering: "asyncio.Task[None]") -> None:
    """Until the server ends the connection. A client may have ended its own side before."""
    try:
        await asyncio.wait([sending, answering], return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            async with asyncio.timeout(LAST_WORDS):
                await answering
        with suppress(OSError):
            await answering
    finally:
        answering.cancel()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(CHUNK):
        target.write(data)
        await target.drain()
