"""How commands reach a server: through a proxy that wants to know who asks, too."""

import base64
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tapeline.cli.server.wire import Wire
from tapeline.cli.terminal.failures import Unreachable

WANTED = "Basic " + base64.b64encode(b"ada:p@ss/word").decode()


class Gate(http.server.BaseHTTPRequestHandler):
    """A proxy that answers for everybody, and lets in whoever says the right word."""

    heard: list[tuple[str, str, str | None]]

    def do_GET(self) -> None:
        self._answer(200)

    def do_CONNECT(self) -> None:
        self._answer(502)  # a tunnel to nowhere is enough to hear who asks for it

    def _answer(self, status: int) -> None:
        said = self.headers["Proxy-Authorization"]
        self.heard.append((self.command, self.path, said))
        self.send_response(status if said == WANTED else 407)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def gate(monkeypatch: pytest.MonkeyPatch, who: str) -> Iterator[list[tuple[str, str, str | None]]]:
    class OwnGate(Gate):
        heard: list[tuple[str, str, str | None]] = []  # noqa: RUF012 - one for the server

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), OwnGate) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        for name in ("http_proxy", "https_proxy"):
            monkeypatch.setenv(name, f"http://{who}127.0.0.1:{server.server_port}")
        yield OwnGate.heard
        server.shutdown()


def test_a_proxy_hears_whose_question_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with gate(monkeypatch, "ada:p%40ss%2Fword@") as heard:
        assert Wire("http://tapeline.test").get("/time") == {}
    assert heard == [("GET", "http://tapeline.test/time", WANTED)]


def test_so_it_does_for_a_tunnel(monkeypatch: pytest.MonkeyPatch) -> None:
    with gate(monkeypatch, "ada:p%40ss%2Fword@") as heard, pytest.raises(Unreachable):
        Wire("https://tapeline.test").ask("POST", "/project/create", b"{}")
    assert heard == [("CONNECT", "tapeline.test:443", WANTED)]


def test_a_proxy_that_refuses_is_not_taken_for_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with gate(monkeypatch, "") as heard, pytest.raises(Unreachable, match="Your proxy requires"):
        Wire("http://tapeline.test").get("/time")
    assert heard == [("GET", "http://tapeline.test/time", None)]
