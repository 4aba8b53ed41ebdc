"""A log of a few entries, with a key of its own: what any server may send to a witness."""

from collections.abc import Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tapeline.tape.proof import key_chain, merkle, notes
from tapeline.tape.proof.key_chain import Key
from tapeline.tape.witnessing import submissions


class SmallLog:
    def __init__(self, origin: str = "tapeline/small") -> None:
        self.origin = origin
        self.key = Ed25519PrivateKey.generate()
        self.keys = [Key(key_chain.public_hex(self.key))]
        self.entries: list[bytes] = []

    def grow(self, *entries: str) -> "SmallLog":
        self.entries += [one.encode() for one in entries]
        return self

    def forked(self, size: int, *entries: str) -> "SmallLog":
        """Another history, which begins with the first entries of this one."""
        made = SmallLog(self.origin)
        made.key, made.keys, made.entries = self.key, self.keys, self.entries[:size]
        return made.grow(*entries)

    def rotate(self) -> None:
        before, self.key = self.key, Ed25519PrivateKey.generate()
        self.keys = [*self.keys, key_chain.succeed(before, self.key, 1_793_000_000.0)]

    @property
    def tree(self) -> merkle.Tree:
        return merkle.Tree([merkle.leaf_hash(one) for one in self.entries])

    def note(self, size: int | None = None) -> str:
        size = len(self.entries) if size is None else size
        text = notes.text_of(self.origin, size, self.tree.root(size))
        return notes.sign(text, key_chain.public_of(self.key), self.key.sign)

    def body(
        self, old: int, size: int | None = None, proof: Sequence[bytes] | None = None
    ) -> bytes:
        size = len(self.entries) if size is None else size
        shown = self.tree.consistency(old, size) if proof is None else proof
        return submissions.written(old, shown, self.note(size))
