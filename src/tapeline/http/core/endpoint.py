"""One row per route: who may call it, what it takes and gives, and what can go wrong.

The row is all there is: the application, the OpenAPI document and the tests read the same one.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from sqlalchemy import Connection
from starlette.requests import Request

from tapeline.accounts.actor import Actor
from tapeline.accounts.sign_ins import Origin
from tapeline.errors import InvalidCursor, Problem, Unidentified
from tapeline.http.core.services import Services
from tapeline.http.wire.multipart import Attachment

B = TypeVar("B", bound=msgspec.Struct)


class Access(Enum):
    PUBLIC = "anybody"
    ACCOUNT = "a signed-in account"
    READER = "a signed-in account, or a project's key with read right"
    SHARED = "whoever has the link"


OPEN = {Access.PUBLIC, Access.SHARED}
"""Nobody has to be identified; a shared link is its own right."""


class Nothing(msgspec.Struct):
    """A body or query without any fields."""


class Page(msgspec.Struct):
    """Where in a list to go on, and how far."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100
    cursor: str | None = None

    def before(self) -> int | None:
        """The sequence number that a cursor stands for."""
        if self.cursor is None:
            return None
        if not (self.cursor.isascii() and self.cursor.isdecimal() and len(self.cursor) < 19):
            raise InvalidCursor
        return int(self.cursor)


@dataclass(frozen=True)
class Call(Generic[B]):
    """One request on its way through a handler."""

    services: Services
    request: Request
    body: B
    query: Any
    known: Actor | None
    attached: Attachment | None = None
    """The file that came with it, for a row that takes one."""
    prepared: Any = None
    """What the row's `prepares` made."""
    identify: Callable[[Connection], Actor] | None = None
    """Looks up the caller anew, for answers that last."""

    @property
    def actor(self) -> Actor:
        if self.known is None:
            raise Unidentified
        return self.known

    def identified(self, connection: Connection) -> Actor:
        """The caller as of now: since the request came, a token may have ended, a key be gone."""
        if self.identify is None:
            raise Unidentified
        return self.identify(connection)

    @property
    def origin(self) -> Origin:
        return Origin(address_of(self.request), self.request.headers.get("user-agent", ""))

    def path(self, name: str) -> str:
        return str(self.request.path_params[name])

    def link(self, path: str) -> str:
        """An address of ours that a person can open."""
        base = self.services.settings.public_url or str(self.request.base_url).rstrip("/")
        return base + path


# Runs in a transaction of the store, together with the authentication.
Job = Callable[[Connection, Call[Any]], Any]
# Runs outside of one: what is slow, or needs no store.
Flow = Callable[[Call[Any]], Awaitable[Any]]


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    method: str
    path: str
    gives: Any
    reads: Job | None = None
    writes: Job | None = None
    flows: Flow | None = None
    responds: Flow | None = None
    """For answers that are no JSON value: gives the response itself, in `media`."""
    media: str = "application/json"
    """Exactly one of these four is the act."""
    prepares: Flow | None = None
    """Slow work before a write, such as hashing a password; all others wait for the writer. Before
    a read: what has to be brought up to date for it."""
    afterwards: Flow | None = None
    """After a write that stays: raises what its caller has to know all the same."""
    takes: type[msgspec.Struct] = Nothing
    attaches: bool = False
    """Whether an archive comes with the body; then the caller is known before it is read."""
    query: type[msgspec.Struct] = Nothing
    access: Access = Access.ACCOUNT
    errors: tuple[type[Problem], ...] = ()
    once: bool = True
    """Whether an Idempotency-Key is honoured."""
    moves_runs: bool = False
    """Whether it changes what is desired, so that the runner looks at once."""
    moves_models: bool = False
    """Whether it changes what a list of models shows, so that open lists look at once."""

    @property
    def act(self) -> Callable[..., Any]:
        act = self.reads or self.writes or self.flows or self.responds
        assert act is not None
        return act


def address_of(request: Request) -> str:
    return request.client.host if request.client else ""
