"""Pages from templates, with headers that allow each page only what it needs."""

import re
import shlex
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import Response

from tapeline import __version__, moments
from tapeline.errors import (
    AlreadyMember,
    CrossSiteRequest,
    DocsNotBuilt,
    Forbidden,
    ForeignHost,
    Invalid,
    Limited,
    Missing,
    NoSuchInvitation,
    NoSuchShare,
    NotBuilt,
    NothingToShowYet,
    Problem,
    SharePasswordNeeded,
    SignUpClosed,
    Unavailable,
    Unidentified,
)
from tapeline.http.core import agents
from tapeline.http.core.redirects import here, see, sign_in_first
from tapeline.http.wire.errors import answer, headers_of, status_of

HERE = Path(__file__).parents[1]
STATIC = HERE / "static"

# Choices of the account page and the app: the colour scheme, and the colour of a rise.
LOOKS = {"theme": ("light", "dark"), "rising": ("red", "blue")}
BARE = b'<!doctype html>\n<html lang="en">'

HEADLINES: dict[type[Problem], str] = {
    AlreadyMember: "You are in already",
    CrossSiteRequest: "That came from another site",
    DocsNotBuilt: "The documentation is not built",
    ForeignHost: "Nothing answers to this name",
    NoSuchInvitation: "This invitation does not work",
    NoSuchShare: "This link does not work",
    NothingToShowYet: "Nothing to show yet",
    SignUpClosed: "Sign-up is closed",
    Forbidden: "You may not do that",
    Invalid: "That request is not right",
    Limited: "Too many attempts",
    Missing: "There is nothing here",
    NotBuilt: "The pages are not built",
    Unavailable: "Please try again",
    Problem: "That did not work",
}
# Labels of the pages for field names in errors.
LABELS = {
    "email": "The email address",
    "name": "The name",
    "new_password": "The new password",
    "password": "The password",
    "setup_code": "The setup code",
}


def render(
    template: str,
    *,
    status: int = 200,
    posts_to: str = "",
    framed_by: str = "'none'",
    scripted: bool = False,
    problem: Problem | None = None,
    **facts: Any,
) -> Response:
    """A page. `posts_to` is an origin besides ours that its form may lead to; `framed_by`, pages
    that may have it in a frame; `scripted`, whether scripts of ours make it better."""
    if problem is not None:
        status = status_of(type(problem))
    text = _templates().get_template(template).render(problem=problem, version=__version__, **facts)
    scripts = " script-src 'self'; connect-src 'self';" if scripted else ""
    policy = (
        f"default-src 'none';{scripts} style-src 'self'; img-src 'self'; base-uri 'none';"
        f" frame-ancestors {framed_by}; form-action 'self' {posts_to}".rstrip()
    )
    headers = {"Content-Security-Policy": policy, "Cache-Control": "no-store"}
    if problem is not None:
        headers |= headers_of(problem)
    return Response(text, status, headers, media_type="text/html")


def render_alone(template: str, **facts: Any) -> Response:
    """A self-contained page: it can be saved, sent and printed. No script runs in it."""
    text = _templates().get_template(template).render(version=__version__, **facts)
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    headers = {"Content-Security-Policy": policy, "Cache-Control": "no-store"}
    return Response(text, 200, headers, media_type="text/html")


def dressed(page: Response, cookies: Mapping[str, str]) -> Response:
    """A page in the look that its reader chose, from the first paint on and without a script.
    Known words only: anyone can write a cookie."""
    worn = [
        f' data-{name}="{word}"'.encode()
        for name, words in LOOKS.items()
        if (word := cookies.get(f"tapeline_{name}")) in words
    ]
    body = bytes(page.body)
    if worn and body.startswith(BARE):
        page.body = BARE[:-1] + b"".join(worn) + body[len(BARE) - 1 :]
        page.headers["Content-Length"] = str(len(page.body))
    return page


def problem_for(request: Request, problem: Problem) -> Response:
    """An error outside of all pages and routes: a page for a browser, our shape for a program."""
    if "text/html" not in request.headers.get("accept", ""):
        return answer(problem)
    return dressed(render("problem.html", problem=problem, account=None), request.cookies)


def is_for_reader(request: Request) -> bool:
    """Whether a person opens this address in a window. A frame of ours shows errors itself."""
    is_window = request.headers.get("sec-fetch-dest", "document") == "document"
    return is_window and "text/html" in request.headers.get("accept", "")


def problem_for_reader(request: Request, problem: Problem) -> Response:
    """An error of a page that a route of the API makes. Signing in leads back to it; the password
    of a link is asked for by the link's own page."""
    if isinstance(problem, SharePasswordNeeded):
        return see(f"/s/{request.path_params['token']}")
    if isinstance(problem, Unidentified):
        return see(sign_in_first(here(request)))
    return problem_for(request, problem)


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "ago": ago,
        "headline": headline,
        "machine_time": machine_time,
        "moment": moment,
        "plain": plain,
        "program": agents.describe,
        "shell": shlex.quote,
    }
    return environment


def headline(problem: Problem) -> str:
    return next(HEADLINES[branch] for branch in type(problem).__mro__ if branch in HEADLINES)


def plain(sentence: str) -> str:
    """An error as a page says it: `email` must … is The email address must …"""
    return re.sub(r"`([^`]*)`", lambda found: LABELS.get(found[1]) or _named(found[1]), sentence)


def _named(name: str) -> str:
    """A command is more than one word, which quotes hold together."""
    return f"“{name}”" if " " in name else name


def ago(epoch_seconds: float) -> str:
    """How long ago, which needs no time zone; from a month on, the day."""
    seconds = max(0, time.time() - epoch_seconds)
    for size, unit, most in ((60, "minute", 60), (3600, "hour", 24), (86400, "day", 30)):
        count = int(seconds // size)
        if count < 1:
            return "just now"
        if count < most:
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return f"on {moments.written(epoch_seconds, '%Y-%m-%d')}"


def moment(epoch_seconds: float) -> str:
    """Without JavaScript the reader's zone is unknown, so say which one this is."""
    return moments.written(epoch_seconds, "%Y-%m-%d %H:%M UTC")


def machine_time(epoch_seconds: float) -> str:
    return moments.written(epoch_seconds, "%Y-%m-%dT%H:%M:%SZ")
