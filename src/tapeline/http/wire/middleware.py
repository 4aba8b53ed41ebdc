"""Around every request: security headers, a log line, metrics, and a 500 for our own bugs."""

import time
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tapeline import tracing
from tapeline.errors import Problem
from tapeline.http.wire.errors import answer
from tapeline.http.wire.metrics import Metrics
from tapeline.logs import Log
from tapeline.tracing import Tracer

log = Log("tapeline.requests")

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Same origin rather than none: with none, browsers send our own forms with `Origin: null`.
    "Referrer-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
ANY_FRAME, OUR_FRAME = "frame-ancestors *", "frame-ancestors 'self'"
UNROUTED = "(none)"


class Middleware:
    def __init__(self, app: ASGIApp, metrics: Metrics, tracer: Tracer | None = None) -> None:
        self._app = app
        self._metrics = metrics
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0
        trace = tracing.begun(self._tracer)

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if ANY_FRAME in headers["Content-Security-Policy"]:
                    del headers["X-Frame-Options"]  # it has no value that allows every site
                elif OUR_FRAME in headers["Content-Security-Policy"]:
                    headers["X-Frame-Options"] = "SAMEORIGIN"
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception as error:
            log.error("bug", exc_info=error, method=scope["method"], path=scope["path"])
            if not status:
                await answer(Problem())(scope, receive, send_with_headers)
        finally:
            self._note(scope, status, time.perf_counter() - started)
            named = (scope["method"], _route(scope))
            tracing.finished(self._tracer, trace, named, status, scope["headers"])

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        # The route, not the path: each id in a path would make a new series.
        route = _route(scope)
        self._metrics.answered(scope["method"], route, status, seconds)
        # Never the query: it may carry a token.
        write = log.warning if status >= 500 else log.debug
        write(
            "request",
            method=scope["method"],
            path=scope["path"] if route == UNROUTED else route,
            status=status,
            ms=round(seconds * 1000, 1),
            address=(scope.get("client") or ("",))[0],
        )


def _route(scope: Scope) -> str:
    route: Any = scope.get("route")
    return getattr(route, "path", None) or UNROUTED
