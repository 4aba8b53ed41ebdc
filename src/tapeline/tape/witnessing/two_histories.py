"""Evidence that a log shows two histories: two heads that it signed, one of which cannot extend the
other. Whoever has the log's keys can check it; nobody without them can make it up."""

from collections.abc import Sequence

import msgspec

from tapeline.tape.proof import merkle, notes
from tapeline.tape.proof.notes import MalformedNote, Note


class Evidence(msgspec.Struct, frozen=True):
    first: str
    """The note that was seen first."""
    second: str
    proof: list[str] = []
    """From the smaller head to the larger one, in hex: it leads to the larger one, but from another
    root than the smaller one has. Empty if both have one size."""

    def is_proof(self, public_keys: Sequence[bytes]) -> bool:
        """Whether both heads are signed by these keys and contradict each other."""
        try:
            small, large = sorted(map(notes.parse, (self.first, self.second)), key=_size)
            proof = [bytes.fromhex(one) for one in self.proof]
            is_signed = all(is_signed_by(one, public_keys) for one in (small, large))
        except ValueError:
            return False
        return small.origin == large.origin and is_signed and contradict(small, large, proof)


def contradict(small: Note, large: Note, proof: Sequence[bytes]) -> bool:
    """A proof that leads nowhere shows nothing: anyone can send one with somebody's head."""
    if small.size == large.size:
        return small.root != large.root
    found = merkle.roots_of_consistency(small.size, large.size, proof)
    return found is not None and found[0] != small.root and found[1] == large.root


def is_signed_by(note: Note, public_keys: Sequence[bytes]) -> bool:
    """By one of these keys, whatever other lines there are."""
    return any(_is_by(note, key) for key in public_keys)


def _is_by(note: Note, public_key: bytes) -> bool:
    try:
        return note.is_signed_by(public_key)
    except MalformedNote:
        return False


def _size(note: Note) -> int:
    return note.size
