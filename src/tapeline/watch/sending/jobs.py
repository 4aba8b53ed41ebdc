"""What the server and the process that sends say to each other: JSON, one line each."""

from typing import Any

import msgspec

LONGEST_LINE = 1_000_000  # bytes
AT_ONCE = 8
"""Messages that are sent at the same time."""


class Chart(msgspec.Struct, frozen=True):
    """What the picture of a message shows."""

    title: str
    points: list[tuple[float, float]]
    """Times and values, in order."""
    moment: float
    """When it happened."""
    limit: float | None = None
    currency: str | None = None


class Job(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    kind: str
    """`apprise` or `webhook`; `check` only reads an address."""
    address: str
    seconds: float
    """After that it has failed."""
    title: str = ""
    body: str = ""
    severity: str = "info"
    secret: str = ""
    """What signs a webhook."""
    payload: dict[str, Any] = {}
    """The body of a webhook."""
    chart: Chart | None = None


class Order(msgspec.Struct, frozen=True):
    """The first line: about the process itself."""

    parent: int
    allowed: str
    """Where messages may go besides the public internet."""
    public_url: str = ""
    """Where people reach the server, so that no message does."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    arrived: bool
    """Accepted by whoever the address belongs to."""
    status: int | None = None
    """Of HTTP or of SMTP, if there was an answer."""
    message: str = ""
    """For people. Never what the other side wrote: it may be somebody else's page."""
