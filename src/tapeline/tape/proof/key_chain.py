"""The keys of a server as a chain: each new key and the one before it sign that they follow.

Pure functions: `signer` makes chains, records carry them, `verify` checks them.
"""

from collections.abc import Iterable, Sequence

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from tapeline.ids import fingerprint

ID_LENGTH = 16
"""Digits of a fingerprint that are enough to name a key."""


class Key(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A public key, and the signatures that make it the successor of another."""

    public_key: str
    """Ed25519, hex."""
    made_at: float | None = None
    previous: str | None = None
    """The public key before it; None for the first of a chain."""
    signature: str | None = None
    """By the previous key."""
    acceptance: str | None = None
    """By this key: nobody can make a stranger's key the successor of their own."""

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.public_key)

    @property
    def key_id(self) -> str:
        return id_of(self.public_key)


def id_of(public_key: str) -> str:
    return fingerprint(public_key)[:ID_LENGTH]


def succeed(before: Ed25519PrivateKey, after: Ed25519PrivateKey, at: float) -> Key:
    """The entry of a key that takes the place of another."""
    previous, public_key = public_hex(before), public_hex(after)
    said = _statement(previous, public_key, at)
    return Key(public_key, at, previous, before.sign(said).hex(), after.sign(said).hex())


def public_of(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes_raw()


def public_hex(key: Ed25519PrivateKey) -> str:
    return public_of(key).hex()


def trouble(keys: Sequence[Key]) -> str | None:
    """What is wrong with a list of keys; None if each follows from the ones before it."""
    seen: set[str] = set()
    for key in keys:
        if not is_public_key(key.public_key) or key.public_key in seen:
            return f"The key {key.key_id} is listed twice, or is not a key."
        if not _follows(key, seen):
            return f"The key {key.key_id} is not confirmed by the key before it."
        seen.add(key.public_key)
    return None


def connected(keys: Iterable[Key], known: Iterable[str]) -> set[str]:
    """The public keys that belong to a chain of a known one. The list must be without trouble."""
    pairs = [(key.public_key, key.previous) for key in keys if key.previous is not None]
    found, before = set(known), -1
    while len(found) != before:
        before = len(found)
        for pair in pairs:
            if found.intersection(pair):
                found.update(one for one in pair if one is not None)
    return found


def replaced_at(keys: Iterable[Key]) -> dict[str, float]:
    """When each public key got its first successor."""
    found: dict[str, float] = {}
    for key in keys:
        if key.previous is not None and key.made_at is not None:
            found[key.previous] = min(key.made_at, found.get(key.previous, key.made_at))
    return found


def is_public_key(text: str) -> bool:
    return len(text) == 64 and not set(text) - set("0123456789abcdef")


def is_signed(public_key: bytes, signature: bytes, signed: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, signed)
    except InvalidSignature:
        return False
    return True


def _follows(key: Key, seen: set[str]) -> bool:
    if key.previous is None:
        return key.made_at is None and key.signature is None and key.acceptance is None
    if key.previous not in seen or None in (key.made_at, key.signature, key.acceptance):
        return False
    said = _statement(key.previous, key.public_key, key.made_at or 0.0)
    return _is_by(key.previous, key.signature, said) and _is_by(
        key.public_key, key.acceptance, said
    )


def _is_by(public_key: str, signature: str | None, said: bytes) -> bool:
    try:
        raw = bytes.fromhex(signature or "")
    except ValueError:
        return False
    return raw.hex() == signature and is_signed(bytes.fromhex(public_key), raw, said)


def _statement(previous: str, public_key: str, made_at: float) -> bytes:
    return msgspec.json.encode(["tapeline key", previous, public_key, repr(made_at)])
