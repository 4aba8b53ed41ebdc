"""Liveness, readiness and the server's time."""

import time

import msgspec

from tapeline import __version__
from tapeline.errors import NotReady
from tapeline.http.core.endpoint import Call


class Health(msgspec.Struct):
    status: str = "ok"
    version: str = __version__


class ServerTime(msgspec.Struct):
    time: float
    """Epoch seconds."""


async def healthz(_call: Call) -> Health:
    """Whether the process answers."""
    return Health()


async def readyz(call: Call) -> Health:
    """Whether the server stores events, supervises models and keeps books; 503 says what fails."""
    if trouble := await call.services.health.trouble():
        raise NotReady(f"Not ready: {trouble}")
    return Health()


async def server_time(_call: Call) -> ServerTime:
    """The server's time in epoch seconds."""
    return ServerTime(time.time())
