"""What models of a node send to the servers takes no descriptor that supervision needs."""

import asyncio
import ssl
from pathlib import Path

import pytest

from tapeline import descriptors
from tapeline.runs.node.forwarding import Forwarding
from tapeline.runs.node.servers import NoServer, Servers, Way
from tapeline.runs.shim.forward import SOCKET


class Asked(Servers):
    def __init__(self) -> None:
        super().__init__("n1")
        self.lines: list[str] = []

    async def connect(self, line: str, within: float = 1.0) -> Way:  # noqa: ARG002
        self.lines.append(line)
        raise NoServer


def test_a_connection_that_would_need_the_reserve_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = Asked()

    async def say(line: bytes) -> None:
        reader, writer = await asyncio.open_unix_connection(tmp_path / SOCKET)
        writer.write(line)
        assert await reader.read() == b""
        writer.close()

    async def try_it() -> None:
        forwarding = Forwarding(tmp_path, servers, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
        await forwarding.open()
        await say(b"run r1\n")
        monkeypatch.setattr(descriptors, "for_connections", lambda: 4)
        await say(b"run r2\n")
        forwarding.close()

    asyncio.run(try_it())
    assert servers.lines == ["run r1"]
