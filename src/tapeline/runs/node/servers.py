"""The way from a node to the API servers: to any of them, the one that answered last first."""

import asyncio
import ssl
from collections.abc import Sequence
from contextlib import suppress
from time import CLOCK_BOOTTIME, clock_gettime
from typing import Any

import msgspec

from tapeline.errors import Unavailable
from tapeline.runs.node.frames import Server

NAME = "tapeline"
"""In the certificates of API servers; a node knows each by the certificate itself."""
LARGEST_ANSWER = 10_000_000
CONNECTED_WITHIN = 5.0  # seconds; to one server

Way = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class NoServer(Unavailable):
    """No API server answers this node."""


def elapsed() -> float:
    """Goes on while the machine sleeps, and never jumps."""
    return clock_gettime(CLOCK_BOOTTIME)


class Servers:
    def __init__(self, name: str) -> None:
        self._name = name
        self._token = ""
        self._known: list[tuple[Server, ssl.SSLContext]] = []

    @property
    def are_known(self) -> bool:
        return bool(self._known)

    def set(self, token: str, servers: Sequence[Server]) -> None:
        """The one that answered last stays the first."""
        before = {server: number for number, (server, _) in enumerate(self._known)}
        ordered = sorted(servers, key=lambda one: before.get(one, len(before)))
        self._token = token
        self._known = [(one, _trusting(one.certificate)) for one in ordered]

    async def connect(self, line: str, within: float = CONNECTED_WITHIN) -> Way:
        """A connection whose requests are those of a run (`run ID`), or of this node (`self`)."""
        until, why = elapsed() + within, "it knows of none yet"
        for server, context in list(self._known):
            share = max(0.1, min(CONNECTED_WITHIN, until - elapsed()))
            try:
                async with asyncio.timeout(share):
                    way = await _opened(server, context, share)
            except (OSError, TimeoutError) as error:
                why = f"{server.address}:{server.port} {_said(error)}"
                continue
            self._prefer(server)
            way[1].write(f"node {self._name} {self._token} {line}\n".encode())
            return way
        raise NoServer(f"This node reaches no API server: {why}.")

    async def post(self, path: str, body: object, within: float) -> Any:
        """At any of them. A server that accepts the connection and then says nothing is frozen:
        the next one is asked."""
        until, tried = elapsed() + within, max(1, len(self._known))
        while True:
            share = max(0.2, (until - elapsed()) / tried)
            try:
                async with asyncio.timeout(share):
                    return await self._ask(path, body, share * 0.9)
            except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError) as error:
                tried -= 1
                self._put_last()
                if tried < 1 or elapsed() >= until:
                    raise NoServer(f"No API server answers this node: {_said(error)}.") from error

    async def _ask(self, path: str, body: object, within: float) -> Any:
        reader, writer = await self.connect("self", within)
        try:
            content = msgspec.json.encode(body)
            head = f"POST {path} HTTP/1.1\r\nhost: {NAME}\r\nconnection: close\r\n"
            kind = f"content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
            writer.write(head.encode() + kind.encode() + content)
            await writer.drain()
            said = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.partition(b":")[2])
                for line in said.lower().split(b"\r\n")
                if line.startswith(b"content-length:")
            )
            answer = await reader.readexactly(min(length, LARGEST_ANSWER))
            if b" 200 " not in said.partition(b"\r\n")[0]:
                raise ValueError(answer.decode(errors="replace")[:300])
            return msgspec.json.decode(answer)
        except StopIteration as error:
            raise ValueError("the answer has no length") from error
        finally:
            writer.transport.abort()  # the answer is here: nothing more is said

    def _prefer(self, server: Server) -> None:
        self._known.sort(key=lambda one: one[0] != server)

    def _put_last(self) -> None:
        self._known = [*self._known[1:], *self._known[:1]]


async def _opened(server: Server, context: ssl.SSLContext, within: float) -> Way:
    return await asyncio.open_connection(
        server.address,
        server.port,
        ssl=context,
        server_hostname=NAME,
        # A little sooner: whoever is cancelled in a handshake leaves its connection open.
        ssl_handshake_timeout=within * 0.9,
    )


def _trusting(certificate: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=certificate)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.check_hostname = False  # we trust this one certificate, whatever its server is called
    return context


def _said(error: BaseException) -> str:
    with suppress(AttributeError):
        if text := error.strerror:  # type: ignore[attr-defined]
            return str(text)
    return "does not answer in time" if isinstance(error, TimeoutError) else str(error)
