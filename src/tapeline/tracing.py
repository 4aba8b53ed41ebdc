"""The times of one request on its way to the commit, for traces, wherever those are sent.

While traces are off there is never a current one, and all of this costs one look at a variable.
"""

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple, Protocol

MOST = 200  # spans of one request
QUEUED, COMMITTED = "wait in queue", "group commit"


class Span(NamedTuple):
    """A part of the way, in seconds of the monotonic clock."""

    name: str
    begun: float
    ended: float
    facts: Mapping[str, int] = {}


@dataclass
class Trace:
    begun: float = field(default_factory=monotonic)
    spans: list[Span] = field(default_factory=list)
    is_over: bool = False
    """Tasks that a request has begun inherit its trace, and may live for days after it."""

    def stored(self, queued: float, begun: float, ended: float, **facts: int) -> None:
        """The way through the one writer: queued, then stored together with others."""
        if self.is_over or len(self.spans) >= MOST:
            return
        self.spans.append(Span(QUEUED, queued, begun))
        self.spans.append(Span(COMMITTED, begun, ended, facts))


class Tracer(Protocol):
    def finish(self, trace: Trace, method: str, route: str, status: int, parent: str) -> None:
        """Send it; `parent` is the sender's `traceparent`, or empty."""
        ...

    def close(self) -> None:
        """Send what is left."""
        ...


current: ContextVar[Trace | None] = ContextVar("trace", default=None)
"""Of the request that this task handles."""


def begun(tracer: Tracer | None) -> Trace | None:
    """The trace of a request that has just arrived, if there is somewhere to send it."""
    if tracer is None:
        return None
    trace = Trace()
    current.set(trace)
    return trace


def finished(
    tracer: Tracer | None,
    trace: Trace | None,
    named: tuple[str, str],
    status: int,
    headers: Iterable[tuple[bytes, bytes]],
) -> None:
    """After the answer; `named` is the method and the route."""
    if tracer is not None and trace is not None:
        parent = dict(headers).get(b"traceparent", b"").decode("latin-1")
        tracer.finish(trace, *named, status, parent)
