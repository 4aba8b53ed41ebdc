"""Rules of HTTP/1.1 that the parser leaves to us: one Host, and one way to frame a body.

A proxy in front of us may read a head that breaks them in another way than we do, and then the two
disagree about where a request ends or which site it is for.
"""

from tapeline.errors import MalformedRequest

OLD = ("0.9", "1.0")
"""Versions without `Host` and without chunks."""
NO_HOST = "A request of HTTP/1.1 must have a Host header that is not empty."
HOSTS = "A request must have one Host header only."
CODING = "The only supported Transfer-Encoding is: chunked."
OLD_CHUNKS = "HTTP/1.0 has no Transfer-Encoding. Send a Content-Length, or use HTTP/1.1."


def check(version: str, headers: list[tuple[bytes, bytes]]) -> None:
    """Names are in lower case."""
    hosts, codings = [], []
    for name, value in headers:
        if name == b"host":
            hosts.append(value.strip())
        elif name == b"transfer-encoding":
            codings.append(value.strip().lower())
    if len(hosts) > 1:
        raise MalformedRequest(HOSTS)
    if version not in OLD and not any(hosts):
        raise MalformedRequest(NO_HOST)
    if codings and codings != [b"chunked"]:
        raise MalformedRequest(CODING)
    if codings and version in OLD:
        raise MalformedRequest(OLD_CHUNKS)
