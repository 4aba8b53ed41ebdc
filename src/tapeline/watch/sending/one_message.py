"""Sends one message, in a process of its own that is confined before it reads the address.

Answers are reduced to their status: what the other side wrote may be a page that only this server
can see.
"""

import base64
import hashlib
import hmac
import http.client
import logging
import os
import socket
import time
from urllib.parse import urlsplit

import msgspec

from tapeline import __version__
from tapeline.watch.sending import services
from tapeline.watch.sending.confinement import Confinement
from tapeline.watch.sending.jobs import Job, Order, Outcome
from tapeline.watch.sending.listening import Answers
from tapeline.watch.sending.picture import drawn

TIMESTAMP, SIGNATURE = "Tapeline-Timestamp", "Tapeline-Signature"
MESSAGE, INCIDENT = "Tapeline-Message", "Tapeline-Incident"
NOT_REACHED = "The service could not be reached."
NOTHING_SENT = "The service has nothing to do for such a message, so nothing was sent."
TYPES = {"info": "info", "warning": "warning", "critical": "failure", "resolved": "success"}


def prepare() -> None:
    """Load Apprise and its plugins, which takes a second; the children then have them."""
    import apprise  # noqa: PLC0415
    from apprise.manager_plugins import NotificationManager  # noqa: PLC0415

    logging.disable(logging.CRITICAL)  # its lines may hold addresses
    NotificationManager().load_modules()
    apprise.Apprise()


def send(job: Job, order: Order) -> Outcome:
    """In a process that does nothing else, and ends after it."""
    confinement = Confinement(order.allowed, addresses_of(urlsplit(order.public_url).hostname))
    picture = None if job.chart is None else drawn(job.chart)
    try:
        if job.kind == "webhook":
            return _post(job, confinement, picture)
        return _notify(job, confinement, picture)
    except Exception as error:  # noqa: BLE001 - a library of others: whatever it was, it failed
        return _failed(job, confinement, None, _why(error))


def addresses_of(name: str | None) -> set[str]:
    """Where the server is reached from outside. That may be a router that leads back to it."""
    try:
        return {str(place[0]) for *_, place in socket.getaddrinfo(name, None)} if name else set()
    except OSError:  # nobody reaches it by this name, so no message does
        return set()


def signed(secret: str, timestamp: str, body: bytes) -> str:
    """What a receiver computes too: HMAC-SHA256 over the timestamp, a dot and the body."""
    message = timestamp.encode() + b"." + body
    return "sha256=" + hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()


def _post(job: Job, confinement: Confinement, picture: bytes | None) -> Outcome:
    """No redirect is followed: the signature is for this address."""
    payload = dict(job.payload)
    payload["chart_png"] = base64.b64encode(picture).decode() if picture else None
    body, timestamp = msgspec.json.encode(payload), str(int(time.time()))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"tapeline/{__version__}",
        TIMESTAMP: timestamp,
        SIGNATURE: signed(job.secret, timestamp, body),
        **_names(job),
        "Connection": "close",
    }
    parts = urlsplit(job.address)
    secure = parts.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    # Without a port, the last part of an address of version 6 would be taken for one.
    port = parts.port or (443 if secure else 80)
    connection = kind(parts.hostname or "", port, timeout=job.seconds)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    confinement.begin()
    connection.request("POST", target, body, headers)
    status = connection.getresponse().status
    connection.close()
    if 200 <= status < 300:
        return Outcome(id=job.id, arrived=True, status=status, message="Accepted.")
    return _failed(job, confinement, status, NOT_REACHED)


def _notify(job: Job, confinement: Confinement, picture: bytes | None) -> Outcome:
    from apprise import Apprise, AppriseAsset  # noqa: PLC0415
    from apprise.attachment.file import AttachFile  # noqa: PLC0415

    # A redirect of a POST becomes a GET, which many servers answer with 200.
    asset = AppriseAsset(app_id="Tapeline", app_desc="Tapeline", app_url="", http_redirects=False)
    files = [] if picture is None else [_in_memory(picture)]
    seen = Answers(confinement.note)
    confinement.begin(*files)
    service = Apprise.instantiate(job.address, asset=asset, suppress_exceptions=True)
    if service is None:
        why = "Apprise cannot read this address: a part of it is missing or has the wrong form."
        return Outcome(id=job.id, arrived=False, message=why)
    if job.kind == "check":
        return Outcome(id=job.id, arrived=True, message=str(service.service_name))
    # Apprise gives up after 4 s, and what arrived nevertheless would be sent again.
    service.socket_connect_timeout = service.socket_read_timeout = job.seconds
    if isinstance(getattr(service, "headers", None), dict):  # of mail, and of plain requests
        service.headers |= {f"X-{name}": value for name, value in _names(job).items()}
    if services.sends_requests(job.address):
        service.method = "POST"  # whatever the address says: it is a message
    attach = [AttachFile(one, name="chart.png", mimetype="image/png") for one in files]
    # Some services do nothing when something is over, or is only news, and call that a success.
    for kind in (TYPES.get(job.severity, "info"), "warning"):
        arrived = service.notify(
            title=job.title,
            body=job.body,
            body_format="text",  # what models write, and their names, are no markup
            notify_type=kind,
            attach=attach if attach and service.attachment_support else None,
        )
        if not arrived or seen.last is not None:
            break
    if arrived and seen.last is not None:
        return Outcome(id=job.id, arrived=True, status=seen.last, message="Accepted.")
    return _failed(job, confinement, seen.last, NOTHING_SENT if arrived else NOT_REACHED)


def _names(job: Job) -> dict[str, str]:
    """By which a receiver knows a message that it has had already."""
    found = {MESSAGE: job.payload.get("message_id"), INCIDENT: job.payload.get("incident_id")}
    return {name: str(value) for name, value in found.items() if value}


def _in_memory(content: bytes) -> str:
    """The name of a file that exists in this process only."""
    file = os.memfd_create("chart.png")
    os.write(file, content)
    return f"/proc/self/fd/{file}"


def _failed(job: Job, confinement: Confinement, status: int | None, why: str) -> Outcome:
    if confinement.refused:
        why, status = confinement.refused, None
    elif status is not None and 300 <= status < 400:
        why = f"The service sends messages elsewhere (status {status}); give its final address."
    elif status is not None and status >= 400:
        why = f"The service refused the message (status {status})."
    return Outcome(id=job.id, arrived=False, status=status, message=why)


def _why(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "The service did not answer in time."
    name = type(error).__name__
    if name in {"SSLCertVerificationError", "gaierror"}:
        known = {"gaierror": "The name of the service cannot be found."}
        return known.get(name, "The service has no certificate that is trusted here.")
    return NOT_REACHED  # how a machine refuses is not for those who guess at its ports
