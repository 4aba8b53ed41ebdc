"""Is it there, is it well, what time is it."""

import time
from typing import Any

import msgspec
from sqlalchemy import Connection

from tapeline import __version__
from tapeline.http.endpoint import Call
from tapeline.store import facts


class Health(msgspec.Struct):
    status: str = "ok"
    version: str = __version__


class ServerTime(msgspec.Struct):
    time: float
    """Epoch seconds."""


async def healthz(_call: Call[Any]) -> Health:
    """Whether the process answers."""
    return Health()


def readyz(connection: Connection, _call: Call[Any]) -> Health:
    """Whether the store takes writes: it does one."""
    facts.prove_writable(connection)
    return Health()


async def server_time(_call: Call[Any]) -> ServerTime:
    """The server's time in epoch seconds."""
    return ServerTime(time.time())
