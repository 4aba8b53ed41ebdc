"""A proxy on this computer that answers for the older platform's hosts with a Tapeline server.

Clients use it like any proxy, so host names and permissions of the machine stay as they are. Their
requests to those hosts are decrypted here, with a certificate that only the started command trusts,
and forwarded to the server; everything else passes through unread.
"""

import base64
import http.client
import http.server
import json
import secrets
import socket
import socketserver
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

from tapeline import descriptors
from tapeline.runs.engines.older_hosts import HOSTS

PIECE = 65_536
PATIENCE = 300.0  # seconds without a byte: a deployment may take its time
TURN = 0.1
# These headers belong to one connection, not to the request (RFC 9110, 7.6.1).
OF_A_CONNECTION = {
    *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"),
    *("te", "trailer", "transfer-encoding", "upgrade"),
}


class Relay(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    timeout = TURN
    request_queue_size = 128

    def __init__(self, port: int, server: str, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", port), _Proxy)
        self.to, self.context = urlsplit(server), context
        # Other users of this computer must not get out through us.
        self.password = secrets.token_urlsafe(24)

    @property
    def address(self) -> str:
        return f"http://tapeline:{self.password}@127.0.0.1:{self.server_port}"

    def connect(self) -> http.client.HTTPConnection:
        kind = (
            http.client.HTTPSConnection if self.to.scheme == "https" else http.client.HTTPConnection
        )
        return kind(self.to.netloc, timeout=PATIENCE)


class _Proxy(http.server.BaseHTTPRequestHandler):
    server: Relay

    def do_CONNECT(self) -> None:
        self.close_connection = True
        if not self._is_ours():
            self.send_response(407)
            self.send_header("Proxy-Authenticate", "Basic")
            self.end_headers()
            return
        host, _, port = self.path.rpartition(":")
        if host.lower() in HOSTS:
            self._established()
            self._answer()
        else:
            self._pass_through(host.strip("[]"), port)

    def log_message(self, format: str, *args: object) -> None:
        """Silent: the terminal belongs to the command that we started."""

    def _is_ours(self) -> bool:
        expected = base64.b64encode(f"tapeline:{self.server.password}".encode()).decode()
        said = self.headers.get("Proxy-Authorization", "")
        return secrets.compare_digest(said.encode(), f"Basic {expected}".encode())

    def _established(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

    def _answer(self) -> None:
        self.connection.settimeout(PATIENCE)
        try:
            decrypted = self.server.context.wrap_socket(self.connection, server_side=True)
        except OSError:
            return  # it does not trust our certificate, and reports that itself
        with decrypted:
            _Decrypted(decrypted, self.client_address, self.server)

    def _pass_through(self, host: str, port: str) -> None:
        try:
            outside = socket.create_connection((host, int(port)), timeout=PATIENCE)
        except (OSError, ValueError) as error:
            self.send_error(502, explain=f"{host}: {error}")
            return
        with outside:
            self._established()
            for source, target in _pieces(self.connection, outside):
                target.sendall(source)


class _Decrypted(http.server.BaseHTTPRequestHandler):
    """One connection to one of those hosts: each of its requests is forwarded to the server.
    Those clients use two methods."""

    protocol_version = "HTTP/1.1"
    server: Relay

    def log_message(self, format: str, *args: object) -> None:
        """As above."""

    def do_GET(self) -> None:
        self._forward()

    def do_POST(self) -> None:
        self._forward()

    def _forward(self) -> None:
        connection = self.server.connect()
        try:
            self._ask(connection)
            self._pass_on(connection.getresponse())
        except (OSError, http.client.HTTPException) as error:
            self._fail(f"Tapeline at {self.server.to.geturl()} cannot be reached: {error}.")
        finally:
            connection.close()

    def _ask(self, connection: http.client.HTTPConnection) -> None:
        path = self.server.to.path.rstrip("/") + self.path
        connection.putrequest(self.command, path, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in OF_A_CONNECTION | {"host"}:
                connection.putheader(name, value)
        connection.endheaders()
        left = int(self.headers.get("Content-Length", 0))
        while left and (piece := self.rfile.read(min(left, PIECE))):
            connection.send(piece)
            left -= len(piece)

    def _pass_on(self, response: http.client.HTTPResponse) -> None:
        self.send_response_only(response.status, response.reason)
        for name, value in response.getheaders():
            if name.lower() not in OF_A_CONNECTION:
                self.send_header(name, value)
        if response.length is None:  # it ends when the connection does
            self.send_header("Connection", "close")
        self.end_headers()
        while piece := response.read(PIECE):
            self.wfile.write(piece)

    def _fail(self, sentence: str) -> None:
        content = json.dumps({"error": sentence, "code": "unreachable"}).encode()
        self.close_connection = True
        self.send_response_only(502)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _pieces(one: socket.socket, other: socket.socket) -> Iterator[tuple[bytes, socket.socket]]:
    """Copy bytes both ways until both sides have finished."""
    towards = {one: other, other: one}
    while towards:
        ready = descriptors.readable(*towards, within=PATIENCE)
        if not ready:
            return
        for source in [one for one in towards if one.fileno() in ready]:
            try:
                data = source.recv(PIECE)
            except OSError:
                return
            if data:
                yield data, towards[source]
            else:
                towards.pop(source).shutdown(socket.SHUT_WR)
