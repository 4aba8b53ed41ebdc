"""A request that only reads ends when its client leaves: what it still waits for is not done."""

import asyncio
from collections.abc import Awaitable

from starlette.requests import Request
from starlette.responses import Response

from tapeline.http.wire.guarded_protocol import ABANDON

ONLY_READ = {"GET", "HEAD"}
CLIENT_LEFT = 499  # for the log and the metrics: nobody receives it


async def while_connected(request: Request, act: Awaitable[Response]) -> Response:
    task = asyncio.current_task()
    if request.method not in ONLY_READ or task is None:
        return await act
    has_left = False

    def abandon() -> None:
        nonlocal has_left
        has_left = True
        task.cancel()

    request.scope[ABANDON] = abandon
    try:
        return await act
    except asyncio.CancelledError:
        if not has_left or task.uncancel():
            raise
        return Response(status_code=CLIENT_LEFT)
    finally:
        del request.scope[ABANDON]
