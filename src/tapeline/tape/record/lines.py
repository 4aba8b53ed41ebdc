"""Reads the lines of a record. Each must be canonical: written again, it has the same bytes.

So a line says one thing only, and every checker reads the same. Bodies and values are never parsed
and written again; they stay the text that was hashed.
"""

import re
from typing import Annotated, Any, Literal

import msgspec

from tapeline.tape.proof.checkpoints import Checkpoint
from tapeline.tape.proof.key_chain import Key

Hex = Annotated[str, msgspec.Meta(pattern="^(?:[0-9a-f]{2})*$")]
Hash = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]


class NotCanonical(ValueError):
    """A line that the writer of records would not have written."""


class _Line(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    pass


class FirstHead(_Line, frozen=True, gc=False):
    """The first line of version 1."""

    tapeline: str
    version: int
    model_id: str
    public_key: Hash
    key_id: str
    seq: Count


class Witness(_Line, frozen=True, gc=False):
    name: str
    public_key: Hash


class SecondHead(_Line, frozen=True):
    """The first line of version 2."""

    tapeline: str
    version: int
    model_id: str
    seq: Count
    keys: list[Key]
    witnesses: list[Witness]


class Head(_Line, frozen=True):
    tapeline: str
    version: int
    model_id: str
    seq: Count
    shows: Literal["all", "part"]
    """Whether every event is there with all its fields, unless retention removed it."""
    keys: list[Key]
    witnesses: list[Witness]


class Event(_Line, frozen=True, gc=False):
    """With a body, or with fields and the leaves of hidden ones."""

    seq: Count
    kind: str
    time: float
    received_at: float
    run_id: str | None
    backtest_id: str | None
    body: msgspec.Raw = msgspec.Raw()
    blind: Hash | None = None
    fields: dict[str, tuple[msgspec.Raw, bytes]] | None = None
    hidden: list[Hash] | None = None


class Hidden(_Line, frozen=True, gc=False):
    """A span that is not shown, or that retention removed."""

    seq: Count
    until: Count
    digest: Hash
    removed: dict[str, Count] | None = None
    received_at: float | None = None


class Link(_Line, frozen=True, gc=False):
    seq: Count
    link: Hash
    rule: int


class Signed(_Line, frozen=True, gc=False):
    checkpoint: Checkpoint


class InTree(_Line, frozen=True, gc=False):
    leaf: Count
    size: Count
    path: list[Hash]


class InLog(_Line, frozen=True, gc=False):
    entry: Count
    size: Count
    path: list[Hash]
    at: float


class Stamp(_Line, frozen=True, gc=False):
    authority: str
    response: bytes


class Proof(_Line, frozen=True, gc=False):
    """That a head of the tape existed when others confirmed a head of the log."""

    seq: Count
    link: Hash
    tree: InTree
    log: InLog
    note: str
    stamps: list[Stamp]


class Proven(_Line, frozen=True, gc=False):
    proof: Proof


class FileSignature(_Line, frozen=True, gc=False):
    """Over the whole file before this line."""

    sha256: Hash
    key_id: str
    signature: str


class SignedFile(_Line, frozen=True, gc=False):
    file: FileSignature


class Piece(_Line, frozen=True, gc=False):
    """Of a long list of a backtest's result."""

    seq: Count
    list: str
    piece: Count
    first: Count
    items: msgspec.Raw
    sealed: bytes | None = None


AnyHead = FirstHead | SecondHead | Head
Line = AnyHead | Event | Hidden | Link | Signed | Proven | Piece | SignedFile

_KIND = re.compile(
    rb'\{"(?:seq":\d+,"(?P<of>kind|until|link|list)|(?P<only>checkpoint|proof|file))"'
)
_KINDS: dict[bytes, type[Line]] = {
    b"kind": Event, b"until": Hidden, b"link": Link, b"list": Piece,
    b"checkpoint": Signed, b"proof": Proven, b"file": SignedFile,
}  # fmt: skip
_DECODERS: dict[bytes, Any] = {
    name: msgspec.json.Decoder(kind).decode for name, kind in _KINDS.items()
}
_HEADS: dict[int, Any] = {
    1: msgspec.json.Decoder(FirstHead).decode,
    2: msgspec.json.Decoder(SecondHead).decode,
    3: msgspec.json.Decoder(Head).decode,
}
_encode = msgspec.json.Encoder().encode


class _Version(msgspec.Struct):
    tapeline: str
    version: int


def head(text: bytes) -> AnyHead | None:
    """The first line; None if it is not that of a record we know."""
    try:
        said = msgspec.json.decode(text, type=_Version)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if said.tapeline != "record" or said.version not in _HEADS:
        return None
    found: AnyHead = _canonical(_HEADS[said.version], text)
    return found


def line(text: bytes) -> Line:
    """Any other line."""
    kind = _KIND.match(text)
    if kind is None:
        raise NotCanonical
    found: Line = _canonical(_DECODERS[kind["of"] or kind["only"]], text)
    if isinstance(found, Event):
        _require_one_content(found)
    if isinstance(found, Hidden) and (found.removed is None) != (found.received_at is None):
        raise NotCanonical
    return found


def _canonical(decode: Any, text: bytes) -> Any:
    try:
        found = decode(text)
        if not text.isascii():
            text.decode()  # parts that are not parsed, too
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NotCanonical from error
    if _encode(found) + b"\n" != text:
        raise NotCanonical
    return found


def _require_one_content(event: Event) -> None:
    has_body = len(bytes(event.body)) > 0
    if has_body == (event.fields is not None) or (event.fields is None) != (event.hidden is None):
        raise NotCanonical
    if event.blind is not None and not has_body:
        raise NotCanonical
