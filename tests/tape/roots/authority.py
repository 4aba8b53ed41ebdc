"""A real time-stamp authority: `openssl ts` behind a small HTTP server."""

import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CONFIGURATION = """
[req]
distinguished_name = dn
[dn]
[ca]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[tsa]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, timeStamping
authorityKeyIdentifier = keyid
[authority]
serial = {folder}/serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_alg = sha256
"""


class Authority:
    """Stamps with a certificate of its own root."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "root.pem"
        self.answers = True
        self.asked = 0
        folder.mkdir(parents=True)
        (folder / "ts.cnf").write_text(CONFIGURATION.format(folder=folder))
        (folder / "serial").write_text("01\n")
        new = (
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-config",
            "ts.cnf",
        )
        self._run("req", "-x509", *new, "-keyout", "root.key", "-out", "root.pem", "-days", "9000",
                  "-subj", "/CN=Root of a test", "-extensions", "ca")  # fmt: skip
        self._run("req", *new, "-keyout", "tsa.key", "-out", "tsa.csr", "-subj", "/CN=Authority")
        self._run("x509", "-req", "-in", "tsa.csr", "-CA", "root.pem", "-CAkey", "root.key",
                  "-CAcreateserial", "-out", "tsa.pem", "-days", "9000", "-extfile", "ts.cnf",
                  "-extensions", "tsa")  # fmt: skip

    def reply(self, query: bytes) -> bytes:
        self.asked += 1
        (self.folder / "query").write_bytes(query)
        signer = ("-signer", "tsa.pem", "-inkey", "tsa.key")
        asked = ("-config", "ts.cnf", "-section", "authority", "-queryfile", "query")
        self._run("ts", "-reply", *asked, *signer, "-out", "reply")
        return (self.folder / "reply").read_bytes()

    def _run(self, *words: str) -> None:
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True)


@contextmanager
def dripping() -> Iterator[str]:
    """The address of one that answers byte by byte, for ever."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            caller, _ = listener.accept()
            with caller, suppress(OSError):
                caller.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                while True:
                    caller.sendall(b"x")
                    time.sleep(0.1)

        thread = threading.Thread(target=drip)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        thread.join()


@contextmanager
def serving(authority: Authority) -> Iterator[str]:
    """Its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = self.rfile.read(int(self.headers["Content-Length"]))
            content = authority.reply(query) if authority.answers else b""
            self.send_response(200 if authority.answers else 503)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/tsr"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
