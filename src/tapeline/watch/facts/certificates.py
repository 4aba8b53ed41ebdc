"""Until when the certificate of `public_url` is valid, as a browser would see it.

It is looked at by a background task, and only while a rule asks: nobody waits for a connection."""

import socket
import ssl
import time
from urllib.parse import urlsplit

import msgspec
from cryptography import x509

from tapeline.background import Background
from tapeline.thread_pools import in_thread, threads

EVERY, WITHIN = 2.0, 60.0  # seconds; nothing is done while no rule asks
FRESH = 6 * 3600.0  # an answer is as good for so long
AGAIN = 300.0  # after a failure
PATIENCE = 10.0
NOT_HTTPS = "The setting `public_url` is no https address, so there is no certificate to look at."


class Certificate(msgspec.Struct, frozen=True):
    ends_at: float | None
    host: str
    trouble: str | None = None


class Certificates:
    def __init__(self, public_url: str = "", background: Background | None = None) -> None:
        self._url = urlsplit(public_url)
        self._thread = threads(1, "certificate")
        self._is_wanted = False
        self._known: Certificate | None = None
        self._looked_at = -FRESH
        if background is not None and self._url.scheme == "https":
            background.loop("certificate", self.turn, every=EVERY, within=WITHIN)

    def known(self) -> Certificate | None:
        """None while nobody has looked yet."""
        self._is_wanted = True
        if self._url.scheme != "https":
            return Certificate(None, "", NOT_HTTPS)
        return self._known

    async def turn(self) -> None:
        failed = self._known is not None and self._known.trouble is not None
        age = time.monotonic() - self._looked_at
        if self._is_wanted and age > (AGAIN if failed else FRESH):
            self._known = await in_thread(self._thread, look, *self._address())
            self._looked_at = time.monotonic()

    def _address(self) -> tuple[str, int]:
        return self._url.hostname or "", self._url.port or 443


def look(host: str, port: int) -> Certificate:
    """Whoever signed it: one that browsers do not trust ends all the same."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), timeout=PATIENCE) as plain,
            context.wrap_socket(plain, server_hostname=host) as secure,
        ):
            content = secure.getpeercert(binary_form=True)
    except OSError as error:
        return Certificate(None, host, f"{host}:{port} cannot be reached: {error}.")
    if content is None:
        return Certificate(None, host, f"{host}:{port} showed no certificate.")
    ends = x509.load_der_x509_certificate(content).not_valid_after_utc
    return Certificate(ends.timestamp(), host)
