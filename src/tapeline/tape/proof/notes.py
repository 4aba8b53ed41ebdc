"""Heads of a log as signed notes: C2SP's tlog-checkpoint, and cosignatures by witnesses.

https://c2sp.org/tlog-checkpoint, https://c2sp.org/signed-note and https://c2sp.org/tlog-cosignature
"""

import base64
import binascii
from collections.abc import Callable
from hashlib import sha256

import msgspec

from tapeline.tape.proof.key_chain import is_signed

BY_LOG, BY_WITNESS = b"\x01", b"\x04"  # the algorithms of signatures
LONGEST = 100_000  # characters
MOST_SIGNATURES = 100

_DASH = "— "  # an em dash, as the format has it


class MalformedNote(ValueError):
    """A text that is not the signed head of a log."""


class Line(msgspec.Struct, frozen=True):
    """A signature: its name, the id of its key, and its bytes."""

    name: str
    key_hash: bytes
    signature: bytes


class Note(msgspec.Struct, frozen=True):
    origin: str
    size: int
    root: bytes
    text: bytes
    """What is signed and stamped: the first three lines."""
    lines: list[Line]

    def is_signed_by(self, public_key: bytes) -> bool:
        """Whether the log signed with this key. A wrong signature that names it is an error."""
        wanted = key_hash(self.origin, BY_LOG, public_key)
        mine = [one for one in self.lines if (one.name, one.key_hash) == (self.origin, wanted)]
        if not all(is_signed(public_key, one.signature, self.text) for one in mine):
            raise MalformedNote
        return bool(mine)

    def cosigned_at(self, name: str, public_key: bytes) -> int | None:
        """When a witness signed; None if it did not. A wrong signature by it is an error."""
        wanted = key_hash(name, BY_WITNESS, public_key)
        mine = [one for one in self.lines if (one.name, one.key_hash) == (name, wanted)]
        for one in mine:
            at, signature = int.from_bytes(one.signature[:8]), one.signature[8:]
            if not is_signed(public_key, signature, cosigned(self.text, at)):
                raise MalformedNote
        return min((int.from_bytes(one.signature[:8]) for one in mine), default=None)


def text_of(origin: str, size: int, root: bytes) -> bytes:
    return f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n".encode()


def sign(text: bytes, public_key: bytes, signer: Callable[[bytes], bytes]) -> str:
    """The note of a text, signed by the log."""
    origin = text.split(b"\n", 1)[0].decode()
    return f"{text.decode()}\n{_line(origin, BY_LOG, public_key, signer(text))}"


def cosign(
    text: bytes, name: str, public_key: bytes, at: int, signer: Callable[[bytes], bytes]
) -> str:
    """A witness's line under a note."""
    signature = at.to_bytes(8) + signer(cosigned(text, at))
    return _line(name, BY_WITNESS, public_key, signature)


def cosigned(text: bytes, at: int) -> bytes:
    return f"cosignature/v1\ntime {at}\n".encode() + text


def key_hash(name: str, algorithm: bytes, public_key: bytes) -> bytes:
    return sha256(name.encode() + b"\n" + algorithm + public_key).digest()[:4]


def parse(note: str) -> Note:
    text, blank, signatures = note.partition("\n\n")
    lines = text.split("\n")
    if len(note) > LONGEST or not blank or len(lines) != 3 or not signatures.endswith("\n"):
        raise MalformedNote
    origin, size, root = lines
    if not origin or not _is_number(size):
        raise MalformedNote
    hashed = _decoded(root)
    found = [_parsed(one) for one in signatures[:-1].split("\n")]
    if len(hashed) != 32 or len(found) > MOST_SIGNATURES:
        raise MalformedNote
    return Note(origin, int(size), hashed, f"{text}\n".encode(), found)


def written(note: Note) -> str:
    """The note with the signatures of its log only, which anyone may have added others to."""
    mine = [one for one in note.lines if one.name == note.origin]
    return f"{note.text.decode()}\n" + "".join(_encoded(one) for one in mine)


def _line(name: str, algorithm: bytes, public_key: bytes, signature: bytes) -> str:
    return _encoded(Line(name, key_hash(name, algorithm, public_key), signature))


def _encoded(line: Line) -> str:
    signed = base64.b64encode(line.key_hash + line.signature).decode()
    return f"{_DASH}{line.name} {signed}\n"


def _parsed(line: str) -> Line:
    name, space, signed = line.removeprefix(_DASH).rpartition(" ")
    blob = _decoded(signed)
    if not line.startswith(_DASH) or not name or not space or " " in name or len(blob) < 5:
        raise MalformedNote
    return Line(name, blob[:4], blob[4:])


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 17 and str(int(text)) == text


def _decoded(text: str) -> bytes:
    try:
        found = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise MalformedNote from error
    if base64.b64encode(found).decode() != text:
        raise MalformedNote
    return found
