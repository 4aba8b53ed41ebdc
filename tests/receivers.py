"""Real receivers of messages on this machine: a server for webhooks, and one for mail."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email import message_from_bytes
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from aiosmtpd.controller import Controller


class Received(NamedTuple):
    path: str
    headers: dict[str, str]
    """With names in lower case."""
    body: bytes
    method: str = "GET"


class Receiver:
    """Answers `/status/N` with N and its `location`, `/endless` with a body that has no end,
    `/packed` with one that is large when it is unpacked; everything else with 204."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.location = ""
        self.status = 204
        self.answers = threading.Event()
        """Cleared: requests are received and not answered."""
        self.answers.set()
        self.is_over = False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self._receive()

            def do_DELETE(self) -> None:
                self._receive()

            def _receive(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.received.append(Received(self.path, headers, body, self.command))
                outer.answers.wait(60)
                if self.path in {"/endless", "/packed"}:
                    outer.answer_at_length(self)
                else:
                    self._answer()

            def do_GET(self) -> None:
                outer.received.append(Received(self.path, {}, b""))
                self._answer()

            def _answer(self) -> None:
                _, _, wanted = self.path.partition("/status/")
                self.send_response(int(wanted or outer.status))
                if wanted.startswith("3"):
                    self.send_header("Location", outer.location)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.url = f"http://127.0.0.1:{self.port}"

    def answer_at_length(self, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        if handler.path == "/packed":
            handler.send_header("Content-Encoding", "gzip")
            handler.end_headers()
            handler.wfile.write(200 * gzip.compress(bytes(1_000_000)))
            return
        handler.end_headers()
        with suppress(OSError):  # until nobody reads it any more
            while not self.is_over:
                handler.wfile.write(bytes(65_536))


@contextmanager
def http_receiver() -> Iterator[Receiver]:
    made = Receiver()
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.answers.set()
        made.is_over = True
        made.server.shutdown()
        made.server.server_close()
        thread.join()


class Mailbox:
    def __init__(self) -> None:
        self.mails: list[Message] = []
        self.port = 0
        self.refusal = ""
        """What it answers instead of taking a mail."""

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        if self.refusal:
            return self.refusal
        self.mails.append(message_from_bytes(envelope.content))
        return "250 Accepted"


class _AnyPort(Controller):  # type: ignore[misc]
    """On a port that is free."""

    def _trigger_server(self) -> None:
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextmanager
def mailbox() -> Iterator[Mailbox]:
    made = Mailbox()
    controller = _AnyPort(made, hostname="127.0.0.1", port=0)
    controller.start()
    made.port = controller.port
    try:
        yield made
    finally:
        controller.stop()
