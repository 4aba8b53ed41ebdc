"""Where a browser may be sent: to a path of ours, or with a token to a client next to it."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from starlette.requests import Request

from tapeline.errors import Invalid

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
CLIENT_PORT = 9082
LONGEST_STATE = 1024


def local_path(text: str) -> str:
    """A path of this server. Anything that could lead elsewhere leads home."""
    is_local = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable()
    return text if is_local and "\\" not in text else "/"


def here(request: Request) -> str:
    """The address of a request, to come back to after signing in."""
    path = request.url.path
    return quote(f"{path}?{request.url.query}" if request.url.query else path, safe="")


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
        if port and not (port.isascii() and port.isdecimal() and 0 < int(port[:6]) < 65536):
            raise Invalid("`port` must be a whole number from 1 to 65535.", field="port")
        if len(state) > LONGEST_STATE:
            raise Invalid(f"`state` must have at most {LONGEST_STATE} characters.", field="state")
        return cls(host, int(port or CLIENT_PORT), state)

    def origin(self) -> str:
        return f"http://{self.host}:{self.port}"

    def with_token(self, token: str) -> str:
        query = {"token": token} | ({"state": self.state} if self.state else {})
        return f"{self.origin()}/?{urlencode(query)}"
