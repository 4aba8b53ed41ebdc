"""One row per route: who may call it, what can go wrong, and the function that acts.

The function's signature says what the route takes and gives. The application, the OpenAPI document
and the tests read the same row.
"""

from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass
from enum import Enum
from functools import cached_property
from typing import Annotated, Any, Generic, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from sqlalchemy import Connection
from starlette.requests import Request

from tapeline.accounts.actor import Actor
from tapeline.accounts.sign_ins import Origin
from tapeline.errors import InvalidCursor, Problem, Unidentified
from tapeline.http.core.answers import Gives
from tapeline.http.core.services import Services
from tapeline.http.wire.multipart import Attachment

B_co = TypeVar("B_co", bound=msgspec.Struct, covariant=True)


class Access(Enum):
    PUBLIC = "anybody"
    ACCOUNT = "a signed-in account"
    READER = "a signed-in account, or a project's key with read right"
    OPERATOR = "the operator of this server, signed in"
    SHARED = "whoever has the link"


OPEN = {Access.PUBLIC, Access.SHARED}
"""No caller has to be identified; having a shared link is enough."""


OF_STRANGERS = 16_000
"""Bytes of a body at most where nobody has to be identified."""
USUAL = 256_000
"""The same where somebody is: the longest description or secret fits, however it is escaped."""


class Nothing(msgspec.Struct):
    """A body or query without any fields."""


class Page(msgspec.Struct):
    """Where in a list to continue, and how many items to return."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100
    cursor: str | None = None

    def before(self) -> int | None:
        """The sequence number that a cursor stands for."""
        if self.cursor is None:
            return None
        if not (self.cursor.isascii() and self.cursor.isdecimal() and len(self.cursor) < 19):
            raise InvalidCursor
        return int(self.cursor)


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request on its way through a handler."""

    services: Services
    request: Request
    known: Actor | None = None
    attached: Attachment | None = None
    """The file that came with it, for a row that takes one."""
    prepared: Any = None
    """What the row's `prepares` made."""
    identify: Callable[[Connection], Actor] | None = None
    """Looks up the caller again, for long answers."""

    @property
    def actor(self) -> Actor:
        if self.known is None:
            raise Unidentified
        return self.known

    def identified(self, connection: Connection) -> Actor:
        """The caller as of now: since the request came, a token or a key may have been revoked."""
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


@dataclass(frozen=True, kw_only=True)
class BodyCall(Call, Generic[B_co]):
    """A call whose handler takes a body."""

    body: B_co


@dataclass(frozen=True, kw_only=True)
class QueryCall(Call, Generic[B_co]):
    """A call whose handler takes parameters of the query string."""

    query: B_co


@dataclass(frozen=True)
class Signature:
    """What a handler takes and gives, read from its annotations."""

    takes: type[msgspec.Struct] = Nothing
    query: type[msgspec.Struct] = Nothing
    gives: Gives = Gives(None)

    @classmethod
    def of(cls, handler: Callable[..., Any]) -> "Signature":
        hints = get_type_hints(handler, include_extras=True)
        answer = hints.pop("return")
        marks = [mark for mark in get_args(answer)[1:] if isinstance(mark, Gives)]
        gives = marks[0] if marks else Gives(answer)
        for hint in hints.values():
            kind, types = get_origin(hint) or hint, get_args(hint)
            if kind is BodyCall:
                return cls(takes=types[0], gives=gives)
            if kind is QueryCall:
                return cls(query=types[0], gives=gives)
            if kind is Call:
                return cls(gives=gives)
        raise TypeError(f"{handler.__qualname__} takes no call")


# Runs in a transaction of the store, together with the authentication.
Job = Callable[[Connection, Any], Any]
# Runs outside of one: slow work, or work that needs no store.
Flow = Callable[[Any], Awaitable[Any]]


@dataclass(frozen=True)
class Endpoint:
    method: str
    path: str
    _: KW_ONLY
    reads: Job | None = None
    writes: Job | None = None
    flows: Flow | None = None
    responds: Flow | None = None
    """Makes the response itself, for long answers and those that are not JSON. Exactly one of
    these four is the act; its annotations say what the route takes and gives."""
    prepares: Flow | None = None
    """Slow work before a write, such as hashing a password: it must not hold up the one writer.
    Before a read: brings the data up to date."""
    computes: bool = False
    """Whether a read computes for long: then it takes no reader, but a thread for such work."""
    afterwards: Flow | None = None
    """After a committed write: raises an error if the caller must know that more failed."""
    attaches: bool = False
    """Whether an archive comes with the body; then the caller is identified before it is read."""
    most_bytes: int | None = None
    """Of its body, if others than usual for those who may call it."""
    access: Access = Access.ACCOUNT
    errors: tuple[type[Problem], ...] = ()
    once: bool = True
    """Whether an Idempotency-Key is honoured."""
    any_origin: bool = False
    """Whether scripts of other sites may read the answer. Only what is public for everyone."""
    moves_runs: bool = False
    """Whether it changes the desired runs, so that the supervisor looks at once."""
    moves_models: bool = False
    """Whether it changes what a list of models shows, so that open lists are refreshed at once."""

    @property
    def act(self) -> Callable[..., Any]:
        act = self.reads or self.writes or self.flows or self.responds
        assert act is not None
        return act

    @property
    def only_writes(self) -> bool:
        """Whether the writer alone carries it out, and no reader."""
        return self.writes is not None and self.prepares is None

    @property
    def longest_body(self) -> int:
        return self.most_bytes or (OF_STRANGERS if self.access in OPEN else USUAL)

    @property
    def has_body(self) -> bool:
        return self.attaches or self.takes is not Nothing

    @cached_property
    def signature(self) -> Signature:
        return Signature.of(self.act)

    @property
    def takes(self) -> type[msgspec.Struct]:
        return self.signature.takes

    @property
    def query(self) -> type[msgspec.Struct]:
        return self.signature.query

    @property
    def gives(self) -> Any:
        return self.signature.gives.type

    @property
    def media(self) -> str:
        return self.signature.gives.media


def address_of(request: Request) -> str:
    return request.client.host if request.client else ""
