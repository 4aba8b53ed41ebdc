"""Pages from templates, with headers that let a page do nothing but what it is for."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import Response

from tapeline import __version__
from tapeline.errors import Problem
from tapeline.http.errors import status_of

HERE = Path(__file__).parent
STATIC = HERE / "static"


def render(
    template: str,
    *,
    status: int = 200,
    posts_to: str = "",
    problem: Problem | None = None,
    **facts: Any,
) -> Response:
    """A page. `posts_to` is an origin besides ours that its form may lead to."""
    if problem is not None:
        status = status_of(type(problem))
    text = _templates().get_template(template).render(problem=problem, version=__version__, **facts)
    policy = (
        "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none';"
        f" frame-ancestors 'none'; form-action 'self' {posts_to}".rstrip()
    )
    headers = {"Content-Security-Policy": policy, "Cache-Control": "no-store"}
    if problem is not None and problem.retry_after is not None:
        headers["Retry-After"] = str(problem.retry_after)
    return Response(text, status, headers, media_type="text/html")


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["moment"] = _moment
    return environment


def _moment(epoch_seconds: float) -> str:
    """Without JavaScript the reader's zone is unknown, so say which one this is."""
    return datetime.fromtimestamp(epoch_seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
