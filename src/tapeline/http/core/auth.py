"""Who is calling: a token, a browser's session or a project's key, as one actor."""

from collections.abc import Callable
from urllib.parse import urlsplit

from sqlalchemy import Connection
from starlette.requests import Request

from tapeline.accounts import keys, sign_ins
from tapeline.accounts.actor import Actor
from tapeline.errors import CrossSiteRequest, Unidentified
from tapeline.http.core.endpoint import Access, address_of
from tapeline.http.core.services import Services
from tapeline.models import onboarding

COOKIE = "tapeline_session"
SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}

Identify = Callable[[Connection], Actor]
Credential = tuple[str, ...]


def identify(request: Request, services: Services, access: Access) -> Identify:
    """The look-up of the caller, run in the transaction of the request itself, so that a right that
    was just revoked cannot be used."""
    if access is not Access.OPERATOR:
        return _caller(request, services, access)
    caller = _caller(request, services, Access.ACCOUNT)

    def operator(connection: Connection) -> Actor:
        actor = caller(connection)
        onboarding.require_operator(connection, actor)
        return actor

    return operator


def _caller(request: Request, services: Services, access: Access) -> Identify:
    address = address_of(request)
    if token := _id_token(request):
        sign_in_id = services.ring.sign_in_of(token)
        return lambda connection: sign_ins.by_id(connection, sign_in_id, address)
    if access is Access.READER and (pair := _key(request)):
        key_id, secret = pair

        def reader(connection: Connection) -> Actor:
            actor = keys.authenticate(connection, key_id, secret, "read", address)
            services.key_addresses.note(key_id, address)
            return actor

        return reader
    if session := request.cookies.get(COOKIE):
        if request.method not in SAFE_METHODS and not is_same_origin(request, services):
            raise CrossSiteRequest
        return lambda connection: sign_ins.by_secret(connection, session, "browser", address)
    raise Unidentified


def credential(request: Request, access: Access) -> Credential:
    """What the caller shows, as it came: the same choice as when the caller is looked up."""
    if token := _id_token(request):
        return "token", token
    if access is Access.READER and (pair := _key(request)):
        return "key", *pair
    return "session", request.cookies.get(COOKIE, "")


def came_by_session(request: Request) -> bool:
    """Whether the browser's cookie is the only credential."""
    headers = request.headers
    named = ("token", "authorization", "api_key", "api-key")
    return COOKIE in request.cookies and not any(name in headers for name in named)


def is_same_origin(request: Request, services: Services) -> bool:
    """Whether one of our own pages sent this. Browsers report it, and no page can forge it.

    Sec-Fetch-Site is sent to https and to localhost; elsewhere browsers still send Origin with
    every POST. A client that sends neither is not a browser and must not use a cookie.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in {"same-origin", "none"}
    origin = request.headers.get("origin")
    if origin is None:
        return False
    ours = {request.headers.get("host", ""), urlsplit(services.settings.public_url).netloc}
    # Cut by hand: an Origin like `http://[` makes urlsplit raise.
    return origin.partition("://")[2] in ours - {""}


def is_foreign(request: Request, services: Services) -> bool:
    """Whether a page of another site sent this. Programs send no origin at all."""
    says = {"sec-fetch-site", "origin"} & set(request.headers)
    return bool(says) and not is_same_origin(request, services)


def _id_token(request: Request) -> str | None:
    if token := request.headers.get("token"):
        return token
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def _key(request: Request) -> tuple[str, str] | None:
    """Some proxies drop names with underscores, so the same names with hyphens count too."""
    headers = request.headers
    key = headers.get("api_key") or headers.get("api-key")
    secret = headers.get("api_pass") or headers.get("api-pass")
    if key and not secret:
        raise Unidentified("The header `api_pass` is missing.")
    if secret and not key:
        raise Unidentified("The header `api_key` is missing.")
    return (key, secret) if key and secret else None
