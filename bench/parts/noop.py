"""The least a server can do: no key, no body, no store. What HTTP itself costs on our server."""

import sys
from typing import Any

import uvicorn

from tapeline.cli.operator.up import server_config

_START = {
    "type": "http.response.start",
    "status": 200,
    "headers": [
        (b"content-type", b"application/json"),
        (b"content-length", b"20"),
        (b"x-content-type-options", b"nosniff"),
    ],
}
_BODY = {"type": "http.response.body", "body": b'{"status":"success"}'}


async def answer(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await _live(receive, send)
        return
    await receive()
    await send(_START)
    await send(_BODY)


async def _live(receive: Any, send: Any) -> None:
    for what in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{what}.complete"})


if __name__ == "__main__":
    config = server_config(answer, proxies="")
    config.host, config.port = "127.0.0.1", int(sys.argv[1])
    uvicorn.Server(config).run()
