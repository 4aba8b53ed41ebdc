"""A browser's session: its cookie, renewed while it is used."""

from contextlib import suppress
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from tapeline.accounts import devices, sign_ins
from tapeline.accounts.actor import Actor
from tapeline.accounts.users import User
from tapeline.errors import InvalidToken, Unavailable
from tapeline.http.core import auth
from tapeline.http.core.endpoint import address_of
from tapeline.http.core.services import Services


def set_session(response: Response, request: Request, services: Services, secret: str) -> None:
    response.set_cookie(
        auth.COOKIE,
        secret,
        max_age=services.settings.session_days * sign_ins.DAY,
        httponly=True,
        samesite="lax",
        secure=is_https(request, services),
    )


async def live_on(request: Request, services: Services, actor: Actor, response: Response) -> None:
    """Renew a session that is used, in the store and in the browser."""
    with suppress(Unavailable):  # the request can be answered anyway
        await services.store.write(sign_ins.touch, actor, days=services.settings.session_days)
    set_session(response, request, services, request.cookies[auth.COOKIE])


async def live_on_by_call(request: Request, services: Services, response: Response) -> None:
    """The same for an API call with the cookie: an app that stays open for weeks requests no page.
    At most once a minute, because it costs a write."""
    if not auth.came_by_session(request):
        return
    with suppress(InvalidToken, Unavailable):  # signed out by this very call
        worn = await services.store.read(
            sign_ins.due_for_touch, request.cookies[auth.COOKIE], address_of(request)
        )
        if worn is not None:
            await live_on(request, services, worn, response)


def device_of(request: Request, services: Services, user: User) -> str | None:
    """The name of a device on which this account has signed in before."""
    given = request.cookies.get(devices.cookie_of(user.id), "")
    return devices.known(services.cipher, services.store.clock, user.id, user.password_hash, given)


def remember_device(
    response: Response, request: Request, services: Services, user_id: str, password_hash: str
) -> None:
    """Remember this device, so that other people's wrong guesses do not lock its user out."""
    name, clock = devices.cookie_of(user_id), services.store.clock
    given = request.cookies.get(name, "")
    before = devices.known(services.cipher, clock, user_id, password_hash, given)
    response.set_cookie(
        name,
        devices.issue(services.cipher, clock, user_id, password_hash, before),
        max_age=devices.LIFETIME,
        path="/auth",
        httponly=True,
        samesite="lax",
        secure=is_https(request, services),
    )


def note_device(request: Request, user_id: str, password_hash: str) -> None:
    """Remember the device with the response, which does not exist yet."""
    request.state.signed_in = (user_id, password_hash)


def remember_noted_device(request: Request, services: Services, response: Response) -> None:
    if noted := getattr(request.state, "signed_in", None):
        remember_device(response, request, services, *noted)


def is_https(request: Request, services: Services) -> bool:
    """Whether the browser uses https, according to the connection or the settings."""
    public = urlsplit(services.settings.public_url)
    by_setting = public.scheme == "https" and public.netloc == request.url.netloc
    return by_setting or request.url.scheme == "https"
