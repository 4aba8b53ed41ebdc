"""What a log sends to a witness: https://c2sp.org/tlog-witness, the body of `add-checkpoint`."""

import base64
import binascii
from collections.abc import Sequence
from typing import NamedTuple

from tapeline.errors import MalformedBody
from tapeline.tape.proof import notes
from tapeline.tape.proof.notes import Note

LARGEST = 16_000  # bytes
MOST_HASHES = 63


class Submission(NamedTuple):
    old: int
    """The size that the witness is thought to have signed last."""
    proof: list[bytes]
    """That the head extends the one of that size."""
    note: Note


def written(old: int, proof: Sequence[bytes], note: str) -> bytes:
    hashes = [base64.b64encode(one).decode() for one in proof]
    return ("\n".join([f"old {old}", *hashes, "", ""]) + note).encode()


def parse(body: bytes) -> Submission:
    try:
        said, _, note = body.decode().partition("\n\n")
        first, *hashes = said.split("\n")
        found = Submission(_old(first), [_hash(one) for one in hashes], notes.parse(note))
    except ValueError as error:
        raise MalformedBody("The body is not a head of a log with its proof.") from error
    if len(hashes) > MOST_HASHES:
        raise MalformedBody(f"A proof has at most {MOST_HASHES} hashes.")
    return found


def _old(line: str) -> int:
    size = line.removeprefix("old ")
    if line == size or not size.isascii() or not size.isdecimal() or len(size) > 16:
        raise ValueError
    if str(int(size)) != size:
        raise ValueError
    return int(size)


def _hash(line: str) -> bytes:
    try:
        found = base64.b64decode(line, validate=True)
    except binascii.Error as error:
        raise ValueError from error
    if len(found) != 32 or base64.b64encode(found).decode() != line:
        raise ValueError
    return found
