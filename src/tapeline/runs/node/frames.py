"""What the leading server asks of a node, and what the node answers: bytes in, bytes out.

The way between them (Ray, a socket) carries frames without reading them. A request says in which
term its sender leads, so that a node takes no orders from a server that leads no more.
"""

import hashlib
from typing import Any, Literal, TypeVar

import msgspec

from tapeline import errors
from tapeline.errors import Problem
from tapeline.leading import LeadsNoMore
from tapeline.runs.engines.engine import Job, Sight
from tapeline.runs.holding.holds import Hold
from tapeline.runs.journals.journal import Chunk
from tapeline.runs.journals.meaning import Ending
from tapeline.runs.journals.records import Record
from tapeline.runs.run import Run

T = TypeVar("T")

LENGTH_BYTES = 4
"""Before each frame, on a socket: how long it is, the most significant byte first."""
LARGEST = 512_000_000
PIECE = 90_000
"""Bytes of a file in one frame: what is larger goes through Ray's own store, and stays in its
memory."""


class Server(msgspec.Struct, frozen=True):
    """Where nodes reach one of the API servers."""

    address: str
    port: int
    certificate: str
    """The one that it has, in PEM: a node trusts no other."""


class Opening(msgspec.Struct, frozen=True):
    """All that a node is told once, and again when it changes."""

    settings: dict[str, Any]
    """Those of the leading server that say how models run."""
    token: str
    """By which any API server knows this node."""
    lease_seconds: float
    servers: list[Server]


class Says(msgspec.Struct, frozen=True, kw_only=True):
    """What a node says of itself."""

    name: str
    machine: str
    version: str
    """Of Tapeline."""
    pythons: str
    """See `pythons_of_hosts.described`."""
    confinement: str
    trouble: str
    """Why it takes no models; empty if it does."""
    public_key: bytes
    opened: str
    """The digest of the opening that it works by; empty before the first."""


class Preparing(msgspec.Struct, frozen=True):
    """How far the preparation of a run is."""

    is_installing: bool = False
    lines: list[Record] = []
    """Since the last time somebody asked."""
    lock: str | None = None
    """When it is done."""
    confinement: str = ""
    needs: Literal["", "at once", "a place"] = ""
    """An installation, for which nobody has asked; see `NeedsInstalling`."""


class Prepare(msgspec.Struct, frozen=True):
    job: Job
    may_install: bool


class Start(msgspec.Struct, frozen=True):
    job: Job
    sealed: bytes
    """The LaunchSecrets."""


class Stop(msgspec.Struct, frozen=True):
    run: Run
    now: bool


class Look(msgspec.Struct, frozen=True):
    runs: list[Run]
    closely: bool


class Seen(msgspec.Struct, frozen=True):
    of: dict[str, Sight]
    unknown: dict[str, str]
    left: list[str]
    holds: dict[str, Hold]
    """What an operator stopped on the node itself: see `holding.holds`."""


class Read(msgspec.Struct, frozen=True):
    run: Run
    offset: int
    limit_bytes: int


class ReadOut(msgspec.Struct, frozen=True):
    chunk: Chunk
    """Without its output, whose file is on the node."""
    ending: Ending | None
    result_bytes: int | None
    """The size of the result of a backtest, which is fetched with `result`."""


class Piece(msgspec.Struct, frozen=True):
    """Of a file that is too large for one frame."""

    name: str
    offset: int
    content: bytes = b""
    is_last: bool = False


class Request(msgspec.Struct, frozen=True):
    method: str
    term: float
    body: msgspec.Raw = msgspec.Raw(b"\xc0")


class Answer(msgspec.Struct, frozen=True):
    body: msgspec.Raw = msgspec.Raw(b"\xc0")
    error: str = ""
    """The class of a problem, whose message it is."""
    message: str = ""


class NodeFailed(Problem):
    """The node could not do it."""


ELSEWHERE = {LeadsNoMore.__name__: LeadsNoMore}
"""Problems that a node names, and that are not in `errors`."""


def ask(method: str, term: float, body: object = None) -> bytes:
    return _encode(Request(method, term, msgspec.Raw(_encode(body))))


def answer(body: object) -> bytes:
    return _encode(Answer(msgspec.Raw(_encode(body))))


def refusal(error: BaseException) -> bytes:
    """A problem keeps its class, by which the server decides what to do; another error is the
    node's own."""
    if isinstance(error, Problem):
        return _encode(Answer(error=type(error).__name__, message=error.message))
    said = f"{type(error).__name__}: {error}"
    return _encode(Answer(error=NodeFailed.__name__, message=said))


def read(frame: bytes, type_: type[T]) -> T:
    return msgspec.msgpack.decode(frame, type=type_)


def answered(frame: bytes, type_: type[T]) -> T:
    """The answer, or the problem that it names."""
    said = read(frame, Answer)
    if not said.error:
        return read(said.body, type_)
    found = getattr(errors, said.error, ELSEWHERE.get(said.error, NodeFailed))
    is_problem = isinstance(found, type) and issubclass(found, Problem)
    raise (found if is_problem else NodeFailed)(said.message)


def digest(opening: Opening) -> str:
    """Also of the servers: a node that trusts none of those that run now can only be told by the
    one that leads."""
    return hashlib.sha256(msgspec.msgpack.encode(opening, order="sorted")).hexdigest()


_encode = msgspec.msgpack.Encoder().encode
