"""Where browsers may be redirected: to a path of this server, or with a token to a local client."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tapeline.errors import Invalid

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
CLIENT_PORT = 9082
LONGEST_STATE = 1024


def local_path(text: str) -> str:
    """A path of this server; the home page for anything that could lead elsewhere."""
    is_local = text.startswith("/") and not text.startswith("//")
    # Browsers read a backslash as a slash and skip control characters, so both are refused.
    return text if is_local and text.isprintable() and "\\" not in text else "/"


def here(request: Request) -> str:
    """The path of a request, to come back to after signing in."""
    path, query = request.url.path, request.url.query
    return f"{path}?{query}" if query else path


def sign_in_first(back: str) -> str:
    """The sign-in page, which redirects to `back`."""
    return "/auth/signin" if back == "/" else f"/auth/signin?{urlencode({'redirectUrl': back})}"


def see(address: str) -> Response:
    return RedirectResponse(address, 303, headers={"Cache-Control": "no-store"})


@dataclass(frozen=True)
class Client:
    """A command line that waits for a token on this computer."""

    host: str
    port: int
    state: str

    @classmethod
    def asked(cls, field: Callable[[str], str]) -> "Client":
        host, port, state = field("host") or "localhost", field("port"), field("state")
        if host not in LOOPBACK:
            raise Invalid(
                f"A token is sent only to this computer: {', '.join(LOOPBACK)}.", field="host"
            )
        if port and not _is_port(port):
            raise Invalid("`port` must be a whole number from 1 to 65535.", field="port")
        if len(state) > LONGEST_STATE:
            raise Invalid(f"`state` must have at most {LONGEST_STATE} characters.", field="state")
        return cls(host, int(port or CLIENT_PORT), state)

    @property
    def origin(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def form_target(self) -> str:
        """The origin in a Content-Security-Policy, whose grammar has no word for an IPv6 address.

        A source like `http://[::1]:9082` is dropped, and the redirect with it; any host on this one
        port is the least that lets it through.
        """
        return f"http://*:{self.port}" if self.host.startswith("[") else self.origin

    @property
    def page(self) -> str:
        """The confirmation page for this client."""
        query = {"host": self.host, "port": self.port} | self._state()
        return f"/deploy?{urlencode(query)}"

    def with_token(self, token: str) -> str:
        return f"{self.origin}/?{urlencode({'token': token} | self._state())}"

    def _state(self) -> dict[str, str]:
        return {"state": self.state} if self.state else {}


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 5 and 0 < int(text) < 65536
