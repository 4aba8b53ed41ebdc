"""The pages a person signs in with. They work without JavaScript, and take forms only from us."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tapeline.accounts import invitations, sign_ins, users
from tapeline.accounts.actor import Actor
from tapeline.accounts.sign_ins import Origin
from tapeline.errors import CrossSiteRequest, InvalidToken, Problem, Unidentified
from tapeline.http import auth, body, signing
from tapeline.http.dispatch import Handler
from tapeline.http.endpoint import Access, address_of
from tapeline.http.redirects import Client, here, local_path
from tapeline.http.rendering import render
from tapeline.http.services import Services
from tapeline.models import projects


@dataclass(frozen=True)
class Visit:
    """One request for a page. `actor` is None for somebody who is not signed in."""

    services: Services
    request: Request
    actor: Actor | None
    form: dict[str, Any]

    def asked(self, name: str) -> str:
        """A field of the form or of the address, as one text."""
        value = self.form.get(name, self.request.query_params.get(name, ""))
        return value if isinstance(value, str) else ""

    @property
    def origin(self) -> Origin:
        return Origin(address_of(self.request), self.request.headers.get("user-agent", ""))


@dataclass(frozen=True)
class Page:
    method: str
    path: str
    show: Callable[[Visit], Awaitable[Response]]


def handler(page: Page, services: Services) -> Handler:
    async def handle(request: Request) -> Response:
        try:
            form = {}
            if page.method == "POST":
                if not auth.is_same_origin(request, services):
                    raise CrossSiteRequest
                form = (await body.read(request, services.settings)).values
            actor = await _actor(request, services)
            return await page.show(Visit(services, request, actor, form))
        except Unidentified:
            return _see(f"/auth/signin?redirectUrl={here(request)}")
        except Problem as problem:
            return render("problem.html", problem=problem, account=None)

    return handle


async def show_home(visit: Visit) -> Response:
    store = visit.services.store
    if visit.actor is None:
        anybody = await store.read(users.are_there_any)
        return _see("/auth/signin" if anybody else "/auth/signup")
    await store.write(sign_ins.touch, visit.actor, days=visit.services.settings.session_days)
    own = await store.read(projects.of_user, visit.actor.user_id())
    address = visit.services.settings.public_url or str(visit.request.base_url).rstrip("/")
    return render("home.html", account=visit.actor, projects=own, address=address)


async def show_sign_in(visit: Visit, problem: Problem | None = None) -> Response:
    return render(
        "signin.html",
        problem=problem,
        account=visit.actor,
        email=visit.asked("email"),
        next_path=local_path(visit.asked("redirectUrl")),
    )


async def sign_in(visit: Visit) -> Response:
    services, store = visit.services, visit.services.store
    try:
        verified = await signing.verify(
            services, visit.origin, visit.asked("email"), visit.asked("password")
        )
        secret, _ = await store.write(
            signing.sign_in, services.settings, visit.origin, verified, "browser"
        )
    except Problem as problem:
        return await show_sign_in(visit, problem)
    return _signed_in(visit, secret)


async def show_sign_up(visit: Visit, problem: Problem | None = None) -> Response:
    first = not await visit.services.store.read(users.are_there_any)
    return render(
        "signup.html",
        problem=problem,
        account=visit.actor,
        first=first,
        policy=visit.services.settings.signup,
        email=visit.asked("email"),
        name=visit.asked("name"),
        invitation=visit.asked("invitation"),
        next_path=local_path(visit.asked("redirectUrl")),
    )


async def sign_up(visit: Visit) -> Response:
    services = visit.services
    email, password = visit.asked("email"), visit.asked("password")
    try:
        password_hash = await signing.verify_new(services, visit.origin, email, password)

        def job(connection: Connection) -> str:
            secret, _ = signing.sign_up(
                connection,
                services.settings,
                visit.origin,
                email=email,
                password_hash=password_hash,
                name=visit.asked("name"),
                invitation=visit.asked("invitation"),
                kind="browser",
            )
            return secret

        secret = await services.store.write(job)
    except Problem as problem:
        return await show_sign_up(visit, problem)
    return _signed_in(visit, secret)


async def sign_out(visit: Visit) -> Response:
    if visit.actor is not None:
        _, sign_in_id = visit.actor.signed_in()
        await visit.services.store.write(sign_ins.end, visit.actor, sign_in_id)
    response = _see("/auth/signin")
    response.delete_cookie(auth.COOKIE)
    return response


async def show_invitation(visit: Visit) -> Response:
    secret = visit.request.path_params["secret"]
    offer = await visit.services.store.read(invitations.offer, secret)
    return render("invitation.html", account=visit.actor, offer=offer, secret=secret)


async def accept_invitation(visit: Visit) -> Response:
    actor = _signed_in_actor(visit)
    secret = visit.request.path_params["secret"]

    def job(connection: Connection) -> None:
        invitations.accept(connection, actor, users.get(connection, actor.user_id()), secret)

    await visit.services.store.write(job)
    return _see("/")


async def show_deploy(visit: Visit) -> Response:
    client = Client.asked(visit.asked)
    actor = _signed_in_actor(visit)
    return render("deploy.html", account=actor, client=client, posts_to=client.origin())


async def deploy(visit: Visit) -> Response:
    """Hand a refresh token to the command line that waits on this computer."""
    client = Client.asked(visit.asked)
    actor = _signed_in_actor(visit)

    def job(connection: Connection) -> str:
        user = users.get(connection, actor.user_id())
        return sign_ins.begin(connection, user, "token", visit.origin)[0]

    return _see(client.with_token(await visit.services.store.write(job)))


async def show_settings(visit: Visit, problem: Problem | None = None, done: str = "") -> Response:
    actor = _signed_in_actor(visit)
    own = await visit.services.store.read(sign_ins.of_user, actor.user_id())
    return render("settings.html", problem=problem, account=actor, sign_ins=own, done=done)


async def change_password(visit: Visit) -> Response:
    actor, store = _signed_in_actor(visit), visit.services.store
    try:
        new = await signing.verify_change(
            visit.services, actor, visit.asked("current_password"), visit.asked("new_password")
        )
        ended = await store.write(signing.change_password, actor, new)
    except Problem as problem:
        return await show_settings(visit, problem)
    others = f"{ended} other sign-in{'' if ended == 1 else 's'} ended."
    return await show_settings(visit, done=f"Your password is changed. {others}")


async def end_sign_in(visit: Visit) -> Response:
    actor = _signed_in_actor(visit)
    await visit.services.store.write(sign_ins.end, actor, visit.request.path_params["sign_in"])
    return _see("/settings")


PAGES = (
    Page("GET", "/", show_home),
    Page("GET", "/auth/signin", show_sign_in),
    Page("POST", "/auth/signin/form", sign_in),
    Page("GET", "/auth/signup", show_sign_up),
    Page("POST", "/auth/signup/form", sign_up),
    Page("POST", "/auth/signout/form", sign_out),
    Page("GET", "/auth/invitation/{secret}", show_invitation),
    Page("POST", "/auth/invitation/{secret}", accept_invitation),
    Page("GET", "/deploy", show_deploy),
    Page("POST", "/deploy", deploy),
    Page("GET", "/settings", show_settings),
    Page("POST", "/settings/password", change_password),
    Page("POST", "/settings/sign-ins/{sign_in}/end", end_sign_in),
)


async def _actor(request: Request, services: Services) -> Actor | None:
    if auth.COOKIE not in request.cookies:
        return None
    try:
        return await services.store.read(auth.identify(request, services, Access.ACCOUNT))
    except InvalidToken:
        return None


def _signed_in_actor(visit: Visit) -> Actor:
    if visit.actor is None:
        raise Unidentified
    return visit.actor


def _signed_in(visit: Visit, secret: str) -> Response:
    response = _see(local_path(visit.asked("redirectUrl")))
    response.set_cookie(
        auth.COOKIE,
        secret,
        max_age=visit.services.settings.session_days * sign_ins.DAY,
        httponly=True,
        samesite="lax",
        secure=visit.request.url.scheme == "https",
    )
    return response


def _see(address: str) -> RedirectResponse:
    return RedirectResponse(address, 303, headers={"Cache-Control": "no-store"})
