"""The way from a node to the API servers: to any of them, the one that answered last first."""

import asyncio
import ssl
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from time import CLOCK_BOOTTIME, clock_gettime
from typing import Any, TypeVar

import msgspec

from tapeline.errors import Unavailable
from tapeline.runs.node.frames import Server

NAME = "tapeline"
"""In the certificates of API servers; a node knows each by the certificate itself."""
LARGEST_ANSWER = 10_000_000
CONNECTED_WITHIN = 5.0  # seconds; to one server
NEXT_AFTER = 0.7
"""Seconds without an answer after which the next server is asked too."""

T = TypeVar("T")
Known = tuple[Server, ssl.SSLContext]
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
        self._known: list[Known] = []
        self._asking = set[asyncio.Task[Any]]()

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

        async def attempt(known: Known, left: float) -> Way:
            async with asyncio.timeout(left):
                return await self._connect_to(known, line, left)

        return await self._first(attempt, within, _abandon)

    async def post(self, path: str, body: object, within: float) -> Any:
        """At any of them; what is asked can be asked twice."""

        async def attempt(known: Known, left: float) -> tuple[Server, Any]:
            async with asyncio.timeout(left):
                return known[0], await self._answer(known, path, body, left)

        server, answer = await self._first(attempt, within, lambda _late: None)
        self._prefer(server)
        return answer

    async def _first(
        self,
        attempt: Callable[[Known, float], Coroutine[Any, Any, T]],
        within: float,
        abandon: Callable[[T], None],
    ) -> T:
        """A server that says nothing is frozen, cut off, or waits for a database that is slow:
        nobody knows, so the next one is tried as well, and the first that answers counts."""
        until, why = elapsed() + within, "it knows of none yet"
        waiting, trying = list(self._known), set[asyncio.Task[T]]()
        try:
            while (waiting or trying) and (left := until - elapsed()) > 0:
                if waiting:
                    trying.add(self._begin(attempt(waiting.pop(0), left)))
                done, trying = await asyncio.wait(
                    trying,
                    timeout=min(left, NEXT_AFTER) if waiting else left,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                for one in done:
                    if (error := one.exception()) is None:
                        trying |= done - {one}
                        return one.result()
                    why = _said(error)
                why = why if done else "does not answer in time"
        finally:
            for late in trying:
                late.add_done_callback(partial(_left_over, abandon))
        raise NoServer(f"No API server answers this node: {why}.")

    def _begin(self, asking: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """It ends by itself, also if nobody waits for it any more: whoever is cancelled in a
        handshake leaves its connection open."""
        task = asyncio.create_task(asking)
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)
        task.add_done_callback(lambda one: one.cancelled() or one.exception())
        return task

    async def _connect_to(self, known: Known, line: str, within: float) -> Way:
        server, context = known
        way = await _opened(server, context, within)
        way[1].write(f"node {self._name} {self._token} {line}\n".encode())
        return way

    async def _answer(self, known: Known, path: str, body: object, within: float) -> Any:
        reader, writer = await self._connect_to(known, "self", within)
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
                raise ValueError(_sentence(answer))
            return msgspec.json.decode(answer)
        except StopIteration as error:
            raise ValueError("the answer has no length") from error
        finally:
            writer.transport.abort()  # the answer is here: nothing more is said

    def _prefer(self, server: Server) -> None:
        self._known.sort(key=lambda one: one[0] != server)


def _sentence(answer: bytes) -> str:
    """What a server says of its refusal, as a part of another sentence."""
    try:
        said = str(msgspec.json.decode(answer)["error"])
    except (msgspec.DecodeError, TypeError, KeyError):
        said = answer.decode(errors="replace")[:300]
    return said.rstrip(".")


def _abandon(way: Way) -> None:
    way[1].transport.abort()


def _left_over(abandon: Callable[[T], None], task: asyncio.Task[T]) -> None:
    """Another was faster."""
    if not task.cancelled() and task.exception() is None:
        abandon(task.result())


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
