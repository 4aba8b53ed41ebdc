"""A server that gives the answers a test wants, for those a real one gives only in rare moments."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Answering:
    """`answers` are given in turn, the last one for ever; `requests` is what came."""

    def __init__(self, address: str) -> None:
        self.url = address
        self.answers: list[tuple[int, dict[str, Any], dict[str, str]]] = [(200, {}, {})]
        self.requests: list[tuple[str, bytes]] = []
        self.refuses = b""
        """A body with this in it gets a 400 that does not say where."""

    def say(self, status: int, code: str, **headers: str) -> None:
        self.answers = [(status, {"error": f"It is {code}.", "code": code}, headers)]

    def lines(self) -> list[str]:
        return [
            json.loads(line)["body"]["line"]
            for _, body in self.requests
            for line in body.splitlines()
        ]


@contextmanager
def answering() -> Iterator[Answering]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            made.requests.append((self.headers["idempotency-key"], body))
            status, said, headers = made.answers[0]
            if len(made.answers) > 1:
                made.answers.pop(0)
            if made.refuses and made.refuses in body:
                status, said = 400, {"error": "Something is wrong.", "code": "invalid"}
            content = json.dumps(said).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made = Answering(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
