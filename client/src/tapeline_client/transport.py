"""One keep-alive connection to the server, and the meaning of its answers."""

from __future__ import annotations

import contextlib
import http.client
import json
import platform
import re
import socket
import ssl
from email.utils import parsedate_to_datetime
from time import time
from typing import NamedTuple
from urllib.parse import urlsplit

from tapeline_client.config import Address
from tapeline_client.version import VERSION

LONGEST_ANSWER = 64 * 1024
_INDEX = re.compile(r"^Item (\d+):")


class Unreachable(Exception):
    """No answer; the text is the reason."""


class Answer(NamedTuple):
    status: int
    code: str
    error: str
    retry_after: float | None
    halt: bool = False
    """Whether the model is to stop trading."""

    @property
    def culprit(self) -> int | None:
        """Of the event that made the server refuse a batch."""
        found = _INDEX.match(self.error)
        return int(found.group(1)) if found else None


class Transport:
    def __init__(self, address: Address, timeout: float) -> None:
        parts = urlsplit(address.url)
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname or "", parts.port
        self._path = parts.path.rstrip("/") + "/v1/batch"
        self._timeout = timeout
        self._connection: http.client.HTTPConnection | None = None
        # With hyphens: some proxies silently drop names with underscores.
        self._headers = {
            "content-type": "application/x-ndjson",
            "model-id": address.model_id,
            "api-key": address.api_key,
            "api-pass": address.api_pass,
            "user-agent": f"tapeline-client/{VERSION} python/{platform.python_version()}",
        }

    def post(self, body: bytes, key: str) -> Answer:
        reused = self._connection is not None
        try:
            return self._post(body, key)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            # A server may close a connection it has not heard from; the key makes a repeat safe.
            if not reused or isinstance(error, socket.timeout):
                raise Unreachable(_reason(error)) from None
        try:
            return self._post(body, key)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Unreachable(_reason(error)) from None

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def interrupt(self) -> None:
        """From another thread: stop waiting for an answer."""
        connection = self._connection
        opened = connection.sock if connection is not None else None
        if opened is not None:
            with contextlib.suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)

    def _post(self, body: bytes, key: str) -> Answer:
        connection = self._connection or self._connect()
        connection.request("POST", self._path, body, {**self._headers, "idempotency-key": key})
        answer = connection.getresponse()
        content = answer.read(LONGEST_ANSWER)
        if answer.will_close or not answer.isclosed():
            self.close()
        code, error, halt = _said(content, answer)
        after = _seconds(answer.getheader("retry-after"))
        return Answer(answer.status, code, error, after, halt)

    def _connect(self) -> http.client.HTTPConnection:
        if self._secure:
            context = ssl.create_default_context()
            made: http.client.HTTPConnection = http.client.HTTPSConnection(
                self._host, self._port, timeout=self._timeout, context=context
            )
        else:
            made = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        made.connect()
        made.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = made
        return made


def _said(content: bytes, answer: http.client.HTTPResponse) -> tuple[str, str, bool]:
    try:
        said = json.loads(content.decode("utf-8", "replace"))
        return str(said.get("code", "")), str(said.get("error", "")), said.get("halt") is True
    except (ValueError, AttributeError):
        where = answer.getheader("location")
        return (
            "",
            f"It points to {where}." if where else f"It answered {answer.status} {answer.reason}.",
            False,
        )


def _seconds(text: str | None) -> float | None:
    if not text:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time())
    except (TypeError, ValueError, IndexError):
        return None


def _reason(error: BaseException) -> str:
    if isinstance(error, socket.timeout):
        return "no answer in time"
    return str(error) or type(error).__name__
