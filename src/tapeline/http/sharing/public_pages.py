"""The pages of a shared link. They need no account, and JavaScript only for live updates and values
under the pointer. One of them may be embedded in frames."""

from typing import Any

from sqlalchemy import Connection
from starlette.responses import Response

from tapeline.errors import (
    CannotCompute,
    NothingToShowYet,
    Problem,
    SharePasswordNeeded,
    StillComputing,
)
from tapeline.http.core.answers import Html
from tapeline.http.core.endpoint import Call, QueryCall
from tapeline.http.core.redirects import see
from tapeline.http.core.rendering import dressed, render
from tapeline.http.core.senders import join_link
from tapeline.http.core.sessions import is_https
from tapeline.http.pages import checker
from tapeline.http.pages.page import Page, Visit
from tapeline.http.pages.web_app import script_of
from tapeline.http.sharing import public_api
from tapeline.http.sharing.links_api import DraftedShare
from tapeline.sharing.exhibits.exhibit import Exhibit
from tapeline.sharing.links import links
from tapeline.sharing.links.passes import LIFETIME

ANYBODY, OURSELVES = "*", "'self'"
SCRIPT = "src/shared-page/main.ts"


async def show_shared_page(visit: Visit) -> Response:
    call = _call(visit)
    token = call.path("token")
    try:
        facts = await _facts(call)
    except SharePasswordNeeded:
        return _hushed(render("shared_password.html", account=None, token=token))
    script = script_of(SCRIPT)
    response = render(
        "shared.html", token=token, link=call.link(f"/s/{token}"), script=script,
        scripted=bool(script), api=call.link(f"/api/shared/{token}"),
        checker=checker.is_built(), **facts,
    )  # fmt: skip
    return _hushed(response)


async def open_with_password(visit: Visit) -> Response:
    call = _call(visit)
    token = call.path("token")
    try:
        await join_link(visit.request, visit.services)
        share, content, _ = await public_api.check_password(
            visit.services, visit.request, token, visit.asked("password")
        )
    except Problem as problem:
        page = render("shared_password.html", account=None, token=token, problem=problem)
        return _hushed(page)
    response = see(f"/s/{token}")
    response.set_cookie(
        public_api.COOKIE + share.id,
        content,
        max_age=LIFETIME,
        httponly=True,
        samesite="lax",
        secure=is_https(visit.request, visit.services),
    )
    return _hushed(response)


async def show_embedded(visit: Visit) -> Response:
    """In a frame of another site the browser sends no cookie, so a link with a password only shows
    that it has one, and the colour scheme comes from the URL."""
    call = _call(visit)
    token, script = call.path("token"), script_of(SCRIPT)
    link = call.link(f"/s/{token}")
    try:
        facts = await _facts(call)
    except Problem as problem:
        page = render("shared_frame.html", framed_by=ANYBODY, problem=problem, link=link, head=None)
    else:
        page = render(
            "shared_frame.html", framed_by=ANYBODY, link=link, token=token, script=script,
            scripted=bool(script), **facts,
        )  # fmt: skip
    return _hushed(dressed(page, {"tapeline_theme": visit.asked("theme")}))


async def preview_page(call: QueryCall[DraftedShare]) -> Html:
    """The page that a visitor would see with these choices, before a link is created."""
    draft = call.query

    def find(connection: Connection) -> links.Share:
        return links.draft(
            connection,
            call.actor,
            call.path("model"),
            backtest_id=draft.backtest_id,
            title=draft.title,
            choices=draft.choices,
        )

    try:
        facts = await public_api.shown(call, find, _written)
    except (NothingToShowYet, CannotCompute, StillComputing) as problem:
        page = render("shared_frame.html", framed_by=OURSELVES, problem=problem, link="", head=None)
    else:
        page = render("shared.html", framed_by=OURSELVES, token="", **facts)
    return _hushed(dressed(page, call.request.cookies))


async def show_picture(visit: Visit) -> Response:
    call = _call(visit)
    find = public_api.found_by(visit.request, visit.services)

    def draw(exhibit: Exhibit) -> bytes:
        from tapeline.sharing.pages.picture import drawn

        # The key holds all inputs: a cached picture never shows what was hidden, renamed or deleted
        # since.
        key = ("picture", exhibit.share.id, exhibit.title, exhibit.edition, exhibit.cut.seq)
        made = visit.services.kept.get(key, lambda: drawn(exhibit))
        assert isinstance(made, bytes)
        return made

    await join_link(visit.request, visit.services)
    try:
        content = await public_api.shown(call, find, draw)
    except SharePasswordNeeded:
        return _hushed(Response(status_code=404, headers=public_api.HEADERS))
    headers = public_api.HEADERS | {"Cache-Control": "private, max-age=300"}
    return Response(content, media_type="image/png", headers=headers)


SHARED_PAGES = (
    Page("GET", "/s/{token}", show_shared_page),
    Page("POST", "/s/{token}", open_with_password),
    Page("GET", "/s/{token}/picture.png", show_picture),
    Page("GET", "/embed/{token}", show_embedded),
)


def _call(visit: Visit) -> Call:
    return Call(services=visit.services, request=visit.request)


async def _facts(call: Call) -> dict[str, Any]:
    await join_link(call.request, call.services)
    find = public_api.found_by(call.request, call.services)
    found: dict[str, Any] = await public_api.shown(call, find, _written)

    def share(connection: Connection) -> links.Share:
        return find(connection)

    await public_api.note_view(call.services, call.request, await call.services.store.read(share))
    return found


def _written(exhibit: Exhibit) -> dict[str, Any]:
    from tapeline.sharing.pages import shared_page

    return shared_page.facts(exhibit)


def _hushed(response: Response) -> Response:
    response.headers["X-Robots-Tag"] = "noindex"
    return response
