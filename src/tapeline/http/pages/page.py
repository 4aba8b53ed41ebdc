"""What all pages share: the signed-in user, the fields of a form, and the check of its origin.

A page identifies a person only by the browser's session, and renews that while it is used.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from tapeline.accounts import sign_ins
from tapeline.accounts.actor import Actor
from tapeline.accounts.sign_ins import Origin
from tapeline.errors import (
    CrossSiteRequest,
    InvalidToken,
    MalformedBody,
    NoSuchPage,
    Problem,
    Unidentified,
    UnknownEncoding,
)
from tapeline.http.core import auth
from tapeline.http.core.dispatch import Handler
from tapeline.http.core.endpoint import OF_STRANGERS, address_of
from tapeline.http.core.redirects import here, local_path, see, sign_in_first
from tapeline.http.core.rendering import dressed, render
from tapeline.http.core.senders import come_as_stranger
from tapeline.http.core.services import Services
from tapeline.http.core.sessions import live_on
from tapeline.http.wire import abandoning, body


@dataclass(frozen=True)
class Visit:
    """One request for a page. `actor` is None if nobody is signed in."""

    services: Services
    request: Request
    actor: Actor | None
    form: dict[str, Any]

    def asked(self, name: str) -> str:
        """A field of the form or of the address, as one text."""
        value = self.form.get(name, self.request.query_params.get(name, ""))
        return value if isinstance(value, str) else ""

    @property
    def next_path(self) -> str:
        return local_path(self.asked("redirectUrl"))

    @property
    def origin(self) -> Origin:
        return Origin(address_of(self.request), self.request.headers.get("user-agent", ""))

    def account(self) -> Actor:
        """The signed-in user; anyone else is redirected to sign in first."""
        if self.actor is None:
            raise Unidentified
        return self.actor


@dataclass(frozen=True)
class Page:
    method: str
    path: str
    show: Callable[[Visit], Awaitable[Response]]


def handler(page: Page, services: Services) -> Handler:
    async def handle(request: Request) -> Response:
        come_as_stranger(request, page.path)
        return await abandoning.while_connected(request, answer(request))

    async def answer(request: Request) -> Response:
        actor = None
        try:
            form = await _form(request, services) if page.method == "POST" else {}
            # No id of ours has a NUL, and PostgreSQL refuses to compare with it.
            if any("\0" in str(value) for value in request.path_params.values()):
                raise NoSuchPage
            actor = await _actor(request, services)
            response = await page.show(Visit(services, request, actor, form))
        except Unidentified:
            return see(sign_in_first(here(request)))
        except Problem as problem:
            return dressed(render("problem.html", problem=problem, account=actor), request.cookies)
        if actor is not None and page.method == "GET":
            await live_on(request, services, actor, response)
        return dressed(response, request.cookies)

    return handle


async def _form(request: Request, services: Services) -> dict[str, Any]:
    if not auth.is_same_origin(request, services):
        raise CrossSiteRequest
    try:
        content = await body.read(request, services.settings, OF_STRANGERS)
    except ClientDisconnect:
        raise MalformedBody("The connection closed before the form was complete.") from None
    if content.values and not content.lenient:
        raise UnknownEncoding("A page takes forms, not JSON.")
    return content.values


async def _actor(request: Request, services: Services) -> Actor | None:
    session = request.cookies.get(auth.COOKIE)
    if not session:
        return None
    try:
        return await services.store.read(
            sign_ins.by_secret, session, "browser", address_of(request)
        )
    except InvalidToken:
        return None
