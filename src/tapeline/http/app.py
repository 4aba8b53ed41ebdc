"""The application: rows and pages in, one ASGI callable out. Assembly only."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import cache

import msgspec
from sqlalchemy.exc import IntegrityError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from tapeline.errors import NoSuchPage, Problem, StoreUnavailable
from tapeline.health import fleet
from tapeline.http import openapi, page_routes
from tapeline.http.core.dispatch import Handler, handler
from tapeline.http.core.hosts import OurHosts
from tapeline.http.core.rendering import STATIC, problem_for
from tapeline.http.core.services import Services
from tapeline.http.events.api import EventsApi
from tapeline.http.pages.checker import show_checker
from tapeline.http.pages.docs import show_docs
from tapeline.http.pages.page import handler as page_handler
from tapeline.http.pages.web_app import BuiltFiles
from tapeline.http.routes import ROUTES
from tapeline.http.wire import errors
from tapeline.http.wire.metrics import CONTENT_TYPE, require_token
from tapeline.http.wire.middleware import Middleware


def build(services: Services) -> ASGIApp:
    by_path: dict[str, dict[str, Handler]] = {}
    for row in ROUTES:
        by_path.setdefault(row.path, {})[row.method] = handler(row, services)
    for page in page_routes.PAGES:
        by_path.setdefault(page.path, {})[page.method] = page_handler(page, services)
    by_path["/metrics"] = {"GET": _metrics(services)}
    by_path["/api/openapi.json"] = {"GET": _openapi()}
    by_path["/docs"] = by_path["/docs/{path:path}"] = {"GET": show_docs}
    by_path["/checker.html"] = {"GET": show_checker}
    app = Starlette(
        routes=[
            *(_route(path, handlers) for path, handlers in by_path.items()),
            Mount("/static", StaticFiles(directory=STATIC)),
            Mount("/app/assets", BuiltFiles()),
        ],
        lifespan=_beside(services),
        exception_handlers={
            Problem: errors.on_problem,
            IntegrityError: errors.on_broken_reference,
            OSError: errors.on_host_fault,
            Exception: errors.on_bug,
            HTTPException: _no_such_route,
        },
    )
    app.router.redirect_slashes = False
    return EventsApi(
        Middleware(OurHosts(app, services.settings), services.metrics, services.tracer), services
    )


def _beside(services: Services) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """Background work, while the service runs. What it left in threads may wait for Ray."""

    @asynccontextmanager
    async def running(_app: Starlette) -> AsyncIterator[None]:
        async with services.background.running():
            yield
        await asyncio.to_thread(services.runner.leave)

    return running


def _route(path: str, handlers: dict[str, Handler]) -> BaseRoute:
    """One route per path, so that a 405 can list every allowed method."""

    async def by_method(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        return await handlers[method](request)

    return Route(path, by_method, methods=list(handlers))


async def _no_such_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return problem_for(request, NoSuchPage())
    return await errors.on_http_exception(request, error)


def _metrics(services: Services) -> Handler:
    async def show(request: Request) -> Response:
        settings = services.settings
        require_token(settings.metrics_token, request.headers.get("authorization", ""))
        found, models = await services.health.examine(), None
        with suppress(StoreUnavailable):  # an outage is when the other numbers are needed most
            models = await services.store.read(fleet.look)
        text = services.metrics.text(found, models, names=settings.metrics_names)
        return Response(text, headers={"Content-Type": CONTENT_TYPE})

    return show


def _openapi() -> Handler:
    @cache
    def document() -> bytes:
        return msgspec.json.encode(openapi.document(ROUTES))

    async def show(_request: Request) -> Response:
        return Response(document(), media_type="application/json")

    return show
