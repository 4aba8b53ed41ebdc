"""The socket to which shims forward the requests of models.

It lies in the data directory: only the server's own user has access, and models do not even see
it. So the run that a shim names for a connection can be trusted.
"""

import asyncio
import os
import re
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from tapeline.accepting import Accepting, Unnamed
from tapeline.runs.engines import shims
from tapeline.runs.shim.forward import SOCKET

OLDER = "address"
"""Shims that an older version started read here where the server listens."""
BACKLOG = 2048
FIRST_LINE = re.compile(rb"run [0-9A-Za-z_-]{1,64}")
LONGEST_LINE = 100
GOODBYE_SECONDS = 1.0  # a client that never closes must not delay the server's shutdown


def listen(runs: Path, name: str = SOCKET) -> socket.socket:
    """At the same path as the previous server: shims connect to it for each connection."""
    runs.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = socket.socket(socket.AF_UNIX)
    folder = os.open(runs, os.O_PATH | os.O_DIRECTORY)
    draft = runs / f"{name}.new"
    try:
        draft.unlink(missing_ok=True)
        # Through a descriptor, because a socket's path may have 107 characters at most.
        made.bind(f"/proc/self/fd/{folder}/{draft.name}")
        draft.chmod(0o600)
        made.listen(BACKLOG)
        draft.rename(runs / name)
    except BaseException:
        made.close()
        raise
    finally:
        os.close(folder)
    return made


def listen_for_older(runs: Path) -> socket.socket | None:
    """A port for running shims of an older version. They know no other way; before, they were given
    the server's own port, through which their models reached all of it."""
    if not any(_is_older(folder) for folder in runs.iterdir()):
        (runs / OLDER).unlink(missing_ok=True)
        return None
    made = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
    draft = runs / f"{OLDER}.new"
    draft.write_text(f"127.0.0.1:{made.getsockname()[1]}")
    draft.rename(runs / OLDER)
    return made


def _is_older(folder: Path) -> bool:
    with suppress(OSError, msgspec.DecodeError):
        known = msgspec.json.decode((folder / "shim.json").read_bytes(), type=dict[str, int])
        return "forwards" not in known and shims.is_running(folder)
    return False


class TlsListener:
    """Accepts TLS connections from shims on the running loop until it is closed: a plain first line
    names the run, then the client's handshake follows. Asyncio's own server cannot read a line
    before the handshake."""

    def __init__(
        self,
        listener: socket.socket,
        context: ssl.SSLContext,
        speaking: Callable[[str], asyncio.Protocol],
    ) -> None:
        self._context, self._speaking = context, speaking
        self._loop = asyncio.get_running_loop()
        self._unnamed = Unnamed()
        self._accepting = Accepting(listener, self._unnamed, self._welcome)

    def close(self) -> None:
        self._accepting.close()

    async def wait_closed(self) -> None:
        await self._accepting.wait_closed()

    async def _welcome(self, connection: socket.socket) -> None:
        """Among the unnamed until the handshake is over: only then others count it."""
        run = await self._first_line(connection)
        self._unnamed.comes_from(connection, run)
        await self._loop.connect_accepted_socket(
            lambda: self._speaking(run),
            connection,
            ssl=self._context,
            ssl_shutdown_timeout=GOODBYE_SECONDS,
        )
        self._unnamed.discard(connection)

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
