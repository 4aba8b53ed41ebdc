"""HTTP with the standard library: one persistent connection, and errors a person can act on."""

import base64
import contextlib
import http.client
import json
import ssl
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any
from urllib.parse import SplitResult, unquote, urlencode, urlsplit

from tapeline import __version__
from tapeline.cli.terminal import plain
from tapeline.cli.terminal.failures import BrokeOff, Failure, NotFound, NotSignedIn, Unreachable
from tapeline.ids import new_id

PATIENCE = 30.0  # seconds without a byte
STREAM_PATIENCE = 60.0  # a stream says something every few seconds
TRIES = 3
PORTION = 2**20  # bytes of a long answer read at once
LONGEST_PAUSE = 10  # seconds a server may ask us to wait before we give up
NO_SUCH_PAGE = "no_such_page"  # for a route that the server does not have
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
LOST = (http.client.HTTPException, OSError)

Body = bytes | IO[bytes]


class Refused(Failure):
    """The server refused this."""

    def __init__(self, message: str, status: int, code: str) -> None:
        super().__init__(message)
        self.status, self.said_code = status, code


class Missing(NotFound):
    """The server has no such thing."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.said_code = code


class Wire:
    """A server, one request at a time."""

    def __init__(self, url: str, *, debug: bool = False) -> None:
        self.url = url
        self.token = ""
        self.renew: Callable[[], str] | None = None
        """Gets a new token once the one we have is refused."""
        self.cookies: dict[str, str] = {}
        """Set by the server; sent only where a caller asks for it."""
        self._parts = urlsplit(url)
        self.patience, self.tries = PATIENCE, TRIES
        self._debug = debug
        self._connection: http.client.HTTPConnection | None = None

    def get(self, path: str, **query: Any) -> Any:
        return self.ask("GET", with_query(path, query))

    def post(self, path: str, **fields: Any) -> Any:
        """Send JSON without fields that are None. A retry after a lost answer changes nothing."""
        return self.ask("POST", path, json_of(fields), {"Idempotency-Key": new_id()})

    def ask(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The answer as JSON; an error is raised with the server's message."""
        try:
            return self._ask(method, path, body, headers or {})
        except NotSignedIn:
            if self.renew is None:
                raise
            renew, self.renew = self.renew, None
            self.token = renew()
        return self._ask(method, path, body, headers or {})

    def _ask(self, method: str, path: str, body: Body | None, headers: Mapping[str, str]) -> Any:
        for left in reversed(range(self.tries)):
            try:
                response = self.send(method, path, body, headers, patience=self.patience)
                content = response.read()
            except LOST as error:
                self.close()
                if left and _may_repeat(method, headers):
                    time.sleep(0.2)
                    continue
                raise self._unreachable(error) from error
            pause = _pause(response)
            if left and pause is not None and _may_repeat(method, headers):
                time.sleep(pause)
                continue
            return self._read(path, response, content)
        raise AssertionError("the last try returns or raises")

    def stream(
        self, path: str, headers: Mapping[str, str] | None = None
    ) -> http.client.HTTPResponse:
        """An answer that is read as it arrives, over a separate connection."""
        own = Wire(self.url, debug=self._debug)
        own.token = self.token
        try:
            response = own.send("GET", path, None, headers or {}, patience=STREAM_PATIENCE)
            if response.status != http.client.OK:
                own._read(path, response, response.read())
        except LOST as error:
            raise self._unreachable(error) from error
        return response

    def pieces(self, path: str, headers: Mapping[str, str] | None = None) -> Iterator[bytes]:
        """A long answer as it comes. One that is cut off raises BrokeOff: iterating over the answer
        itself, or reading some of it at a time, would end in silence. Errors of whoever takes the
        pieces, such as a full disk, are not ours."""
        with self.stream(path, headers) as response:
            left = response.length
            while some := _portion(response):
                left = None if left is None else left - len(some)
                yield some
            if left:
                raise BrokeOff

    def send(
        self,
        method: str,
        path: str,
        body: Body | None,
        headers: Mapping[str, str],
        *,
        patience: float = PATIENCE,
    ) -> http.client.HTTPResponse:
        began = time.monotonic()
        all_headers = {
            "User-Agent": f"tapeline/{__version__}",
            "Accept": "application/json",
            **({"token": self.token} if self.token else {}),
            **({"Content-Type": "application/json"} if isinstance(body, bytes) else {}),
            **self._for_proxy(),
            **headers,
        }
        connection = self._connected(patience)
        if body is not None and not isinstance(body, bytes):
            body.seek(0)
        # A server that refuses a large body need not read all of it; its answer can still arrive.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, self._target(path), body, all_headers)
        response = connection.getresponse()
        for cookie in response.headers.get_all("Set-Cookie", ()):
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        if self._debug:
            took = (time.monotonic() - began) * 1000
            self._note(f"{method} {self.url}{path} {response.status} {took:.0f} ms")
        return response

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self, patience: float) -> http.client.HTTPConnection:
        if self._connection is None:
            self._connection = self._connect(patience)
        return self._connection

    def _connect(self, patience: float) -> http.client.HTTPConnection:
        parts, secure = self._parts, self._parts.scheme == "https"
        host, port = parts.hostname or "", parts.port
        proxy = self._proxy()
        if proxy is None:
            return _opened(secure)(host, port, timeout=patience)
        made = _opened(secure)(proxy.hostname or "", proxy.port or 80, timeout=patience)
        if secure:
            made.set_tunnel(host, port, _credentials(proxy))
        return made

    def _proxy(self) -> SplitResult | None:
        host = self._parts.hostname or ""
        if host in LOOPBACK or urllib.request.proxy_bypass(host):
            return None
        proxy = urllib.request.getproxies().get(self._parts.scheme)
        if proxy is None:
            return None
        return urlsplit(proxy if "://" in proxy else f"http://{proxy}")

    def _for_proxy(self) -> dict[str, str]:
        """Headers for the proxy alone: through a tunnel they would go to the server instead."""
        proxy = None if self._parts.scheme == "https" else self._proxy()
        return {} if proxy is None else _credentials(proxy)

    def _target(self, path: str) -> str:
        plain_proxy = self._parts.scheme == "http" and self._proxy() is not None
        return f"{self.url}{path}" if plain_proxy else f"{self._parts.path}{path}"

    def _read(self, path: str, response: http.client.HTTPResponse, content: bytes) -> Any:
        try:
            answer = json.loads(content)
        except ValueError:
            raise self._not_tapeline(response) from None
        if response.status == http.client.OK:
            return answer
        if not isinstance(answer, dict) or "error" not in answer:
            raise self._not_tapeline(response)
        code, said = str(answer.get("code", "")), str(answer["error"])
        if code == NO_SUCH_PAGE:
            address = f"{self.url}{path.partition('?')[0]}"
            said = f"There is nothing at {address}. Is it a Tapeline server of a current version?"
        raise _refusal(response, said, code)

    def _not_tapeline(self, response: http.client.HTTPResponse) -> Failure:
        moved = response.getheader("Location")
        if response.status == http.client.PROXY_AUTHENTICATION_REQUIRED:
            where = "Your proxy requires http://user:password@… in its variable."
        elif 300 <= response.status < 400 and moved:
            where = f"It redirects to {moved}: use that address with --server."
        else:
            where = "Is it a Tapeline server? Check the address."
        return Unreachable(f"{self.url} answered with status {response.status}. {where}")

    def _unreachable(self, error: Exception) -> Unreachable:
        self._note(repr(error)) if self._debug else None
        if isinstance(error, ssl.SSLCertVerificationError):
            return Unreachable(
                f"The certificate of {self.url} is not trusted: {error.verify_message}."
            )
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        if isinstance(error, ConnectionRefusedError):
            reason = "nothing listens there"
        elif isinstance(error, TimeoutError):
            reason = "it did not answer in time"
        return Unreachable(
            f"{self.url} cannot be reached: {reason}."
            " Is the server running? Choose another with --server."
        )

    @staticmethod
    def _note(text: str) -> None:
        plain.write(f"debug: {text}", to_stderr=True)


def with_query(path: str, query: Mapping[str, Any]) -> str:
    known = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(known)}" if known else path


def json_of(fields: Mapping[str, Any]) -> bytes:
    return json.dumps({k: v for k, v in fields.items() if v is not None}).encode()


def _portion(response: http.client.HTTPResponse) -> bytes:
    try:
        return response.read1(PORTION)
    except LOST as error:
        raise BrokeOff from error


def _opened(secure: bool) -> Callable[..., http.client.HTTPConnection]:
    return http.client.HTTPSConnection if secure else http.client.HTTPConnection


def _credentials(proxy: SplitResult) -> dict[str, str]:
    """Of `http://user:password@proxy:3128`, in which special characters are percent-encoded."""
    if not proxy.username:
        return {}
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
    return {"Proxy-Authorization": f"Basic {base64.b64encode(pair).decode()}"}


def _may_repeat(method: str, headers: Mapping[str, str]) -> bool:
    return method in {"GET", "PUT"} or "Idempotency-Key" in headers


def _pause(response: http.client.HTTPResponse) -> float | None:
    """How long a busy server asks us to wait; None when it is not busy."""
    if response.status not in {429, 503}:
        return None
    asked = response.getheader("Retry-After", "")
    seconds = int(asked) if asked.isdecimal() else 1
    return seconds if seconds <= LONGEST_PAUSE else None


def _refusal(response: http.client.HTTPResponse, message: str, code: str) -> Failure:
    status = response.status
    if status == 401 and code not in {"wrong_credentials", "wrong_key"}:
        return NotSignedIn(
            "You are not signed in, or your sign-in has expired. Run: tapeline login"
        )
    if status == 401:
        return NotSignedIn(message)
    if status == 404:
        return Missing(message, code)
    if status in {429, 503}:
        wait = response.getheader("Retry-After")
        return Unreachable(f"{message} Retry in {wait} seconds." if wait else message)
    return Refused(message, status, code)
