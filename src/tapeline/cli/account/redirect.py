"""Signing in through the browser: it brings the token to a listener on this computer."""

import http.server
import secrets
import threading
import webbrowser
from collections.abc import Callable
from urllib.parse import parse_qs, urlencode, urlsplit

from tapeline.cli.terminal.failures import Failure, NotSignedIn

HOST, USUAL_PORT = "127.0.0.1", 9082
PATIENCE = 300.0  # seconds: people look for their password
PAGE = """<!doctype html><meta charset="utf-8"><title>Tapeline</title>
<style>body{{font:1.1rem system-ui,sans-serif;margin:20vh auto;max-width:32rem;padding:0 1rem}}
</style><h1>{title}</h1><p>{text}</p>
<script>history.replaceState(null, "", "/")</script>
"""


class Listener:
    """Waits for one redirect that carries our own state."""

    def __init__(self) -> None:
        self.state = secrets.token_urlsafe(16)
        self._server = _listen(self)
        self._arrived = threading.Event()
        self._token = ""

    @property
    def port(self) -> int:
        port: int = self._server.server_address[1]
        return port

    def page(self, server: str) -> str:
        """Where to send the browser."""
        # By number: another program may listen on [::1], the other `localhost`.
        asked: dict[str, str | int] = {"host": HOST, "state": self.state}
        if self.port != USUAL_PORT:
            asked["port"] = self.port
        back = f"/deploy?{urlencode(asked)}"
        return f"{server}/auth/signin?{urlencode({'redirectUrl': back})}"

    def take(self, query: str) -> bool:
        """Whether a request brought the token; other requests do not know our state."""
        found = parse_qs(query)
        token, state = found.get("token", [""])[0], found.get("state", [""])[0]
        if not token or not secrets.compare_digest(state.encode(), self.state.encode()):
            return False
        self._token = token
        self._arrived.set()
        return True

    def wait(self, seconds: float = PATIENCE) -> str:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        thread.start()
        try:
            if not self._arrived.wait(seconds):
                raise NotSignedIn(
                    "Nobody signed in within five minutes. Try again,"
                    " or use --password-stdin or --token where there is no browser."
                )
        finally:
            self._server.shutdown()
            self._server.server_close()
        return self._token


def open_browser(address: str) -> bool:
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False


def _listen(listener: Listener) -> http.server.ThreadingHTTPServer:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path != "/" or not parts.query:
                self.send_error(404)
            elif listener.take(parts.query):
                self._answer(200, "You are signed in.", "Go back to the terminal.")
            else:
                self._answer(
                    400, "This is not the expected sign-in.", "Start again with: tapeline login"
                )

        def _answer(self, status: int, title: str, text: str) -> None:
            body = PAGE.format(title=title, text=text).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Referrer-Policy", "no-referrer")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        log_message: Callable[..., None] = staticmethod(lambda *_: None)

    for port in (USUAL_PORT, 0):
        try:
            return http.server.ThreadingHTTPServer((HOST, port), Handler)
        except OSError:
            continue
    raise Failure("No local port is available. Sign in with --token or --password-stdin.")
