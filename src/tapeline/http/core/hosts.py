"""The host names this server answers to, and whether a proxy may stand in front of it.

Any site can point its own name at 127.0.0.1 and then talk to a server there as if it were its own
(DNS rebinding). Only the Host header reveals it.
"""

import re
import socket
from functools import cache
from ipaddress import ip_address

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from tapeline.errors import ForeignHost
from tapeline.http.core.rendering import problem_for
from tapeline.settings import Settings

FORWARDED = ("forwarded", "via", "x-real-ip", "x-client-ip", "cf-connecting-ip", "true-client-ip")
HOST = re.compile(r"(\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[^:\[\]@/\s]*))(:[0-9]*)?", re.ASCII)
FORWARDED_PREFIX = "x-forwarded-"


class OurHosts:
    """A loopback listener without a `public_url` serves this computer only."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._is_local = listens_locally(settings.host) and not settings.public_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._is_local:
            request = Request(scope)
            # Without a Host it is HTTP/1.0 (`wire/heads.py`), which no browser speaks.
            if not all(map(is_local_name, request.headers.getlist("host"))):
                await problem_for(request, ForeignHost())(scope, receive, send)
                return
        await self._app(scope, receive, send)


def is_local_name(host: str) -> bool:
    """Whether a Host names this computer, with any port: a tunnel may use another port."""
    known = HOST.fullmatch(host.strip().lower())
    if known is None:
        return False
    name = (known["address"] or known["name"]).removesuffix(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return not host.strip()  # without a name it is HTTP/1.0, as above


@cache
def listens_locally(host: str) -> bool:
    """Whether only this computer can reach a server that listens on `host`."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(ip_address(one[4][0]).is_loopback for one in found)


def is_reached_from_afar(settings: Settings) -> bool:
    """Whether others than this computer can reach the server, by its settings: then the first
    account needs the setup code."""
    behind_proxy = settings.public_url or settings.trusted_proxies
    return bool(behind_proxy) or not listens_locally(settings.host)


def may_come_from_afar(request: Request, settings: Settings) -> bool:
    """The same for one request: a proxy missing from the settings shows in its headers."""
    return is_reached_from_afar(settings) or any(
        name in FORWARDED or name.startswith(FORWARDED_PREFIX) for name in request.headers
    )
