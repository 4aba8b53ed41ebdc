"""The keys that signed a record: which signature is by which key, and whether a reader knows it."""

from collections.abc import Sequence
from typing import NamedTuple

from tapeline.tape.proof import key_chain
from tapeline.tape.proof.checkpoints import Checkpoint
from tapeline.tape.proof.key_chain import Key, is_signed
from tapeline.tape.record.lines import FileSignature
from tapeline.tape.record.outcome import Broken, Checked
from tapeline.tape.record.quoting import quoted

GRACE = 3_600.0
"""Seconds for which a replaced key may still sign: a server that runs notices the new one later."""


class Known(NamedTuple):
    """The keys that a reader trusts."""

    given: Sequence[str] = ()
    """Fingerprints, beginnings of them, or public keys."""
    published: Sequence[Key] = ()
    """By a server: they also say which key was replaced, though a file may keep silent about it."""

    def has(self, key: Key) -> bool:
        return key.public_key in {one.public_key for one in self.published} or any(
            key.fingerprint.startswith(one) or key.public_key == one for one in self.given
        )


class Signers:
    def __init__(self, keys: Sequence[Key], known: Known, *, all_listed: bool) -> None:
        if said := key_chain.trouble(keys):
            raise Broken(1, "key_chain", said)
        self._by_id = {key.key_id: key for key in keys}
        self._all_listed = all_listed
        given = {one.public_key for one in keys if known.has(one)}
        self._known = key_chain.connected(keys, given)
        self._replaced = key_chain.replaced_at([*keys, *known.published])
        self._last: tuple[Key, float] | None = None
        self._firsts: dict[str, Checkpoint] = {}
        """The first signature by each key."""

    @property
    def keys(self) -> list[Key]:
        return list(self._by_id.values())

    def confirm(self, one: Checkpoint, signed: bytes) -> bool:
        """Whether a checkpoint counts; raises if its signature is not by the key it names."""
        signature = _bytes_of(one.signature)
        key = self._by_id.get(one.key_id)
        if key is None:
            self._require_unlisted(one, signature, signed)
            return False
        if not is_signed(bytes.fromhex(key.public_key), signature, signed):
            raise Broken(
                one.seq,
                "signature_wrong",
                f"The signature at event {one.seq} is not by the key {key.key_id}.",
            )
        self._last = key, one.at
        self._firsts.setdefault(key.public_key, one)
        return True

    def confirm_file(self, one: FileSignature, seq: int, signed: bytes) -> None:
        """The signature over the whole file decides who signed it, at the earliest when the last
        event was signed."""
        key, signature = self._by_id.get(one.key_id), _bytes_of(one.signature)
        if key is None:
            raise Broken(
                seq,
                "key_not_listed",
                f"The key {quoted(one.key_id)} of the signature over the file is not listed.",
            )
        if not is_signed(bytes.fromhex(key.public_key), signature, signed):
            raise Broken(
                seq,
                "signature_wrong",
                f"The signature over the file is not by the key {key.key_id}.",
            )
        self._last = key, 0.0 if self._last is None else self._last[1]

    def judge(self, found: Checked) -> None:
        """Say of the last signature who made it. An earlier one by a stranger says nothing: they
        could date it as they like."""
        if self._last is None:
            return
        key, at = self._last
        found.key_id, found.fingerprint = key.key_id, key.fingerprint
        believed = self._known | key_chain.connected(self.keys, {key.public_key})
        firsts = [one for by, one in self._firsts.items() if by in believed]
        found.first = min(firsts, key=lambda one: one.seq, default=None)
        found.is_known = key.public_key in self._known
        found.is_retired = at > self._replaced.get(key.public_key, at) + GRACE

    def _require_unlisted(self, one: Checkpoint, signature: bytes, signed: bytes) -> None:
        """A key that is not in the file cannot be checked. One that is must not have another id."""
        if self._all_listed:
            raise Broken(
                one.seq,
                "key_not_listed",
                f"The key {quoted(one.key_id)} of the signature at event {one.seq} is not listed.",
            )
        for key in self.keys:
            if is_signed(bytes.fromhex(key.public_key), signature, signed):
                raise Broken(
                    one.seq,
                    "key_chain",
                    f"The signature at event {one.seq} is by the key {key.key_id}, not by"
                    f" {quoted(one.key_id)}.",
                )


def _bytes_of(text: str) -> bytes:
    found = bytes.fromhex(text)
    if found.hex() != text:
        raise ValueError
    return found
