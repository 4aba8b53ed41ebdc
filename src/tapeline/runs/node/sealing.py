"""Seals what only one node may read, such as the secrets of a launch, to that node's public key.

Whoever carries it, Ray among them, sees how long it is and nothing else. Each message has a key of
its own, so two that are equal do not look alike.
"""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES, NONCE_BYTES = 32, 12
_PURPOSE = b"tapeline: sealed to a node"


class NotSealedToUs(Exception):
    """It was sealed to another key, or changed on its way."""


def new_key() -> bytes:
    return X25519PrivateKey.generate().private_bytes_raw()


def public_part(key: bytes) -> bytes:
    return X25519PrivateKey.from_private_bytes(key).public_key().public_bytes_raw()


def seal(content: bytes, to: bytes) -> bytes:
    once, nonce = X25519PrivateKey.generate(), os.urandom(NONCE_BYTES)
    ours = once.public_key().public_bytes_raw()
    shared = once.exchange(X25519PublicKey.from_public_bytes(to))
    return ours + nonce + AESGCM(_key(shared, ours, to)).encrypt(nonce, content, None)


def unseal(sealed: bytes, key: bytes) -> bytes:
    theirs, rest = sealed[:KEY_BYTES], sealed[KEY_BYTES:]
    try:
        private = X25519PrivateKey.from_private_bytes(key)
        shared = private.exchange(X25519PublicKey.from_public_bytes(theirs))
        secret = AESGCM(_key(shared, theirs, private.public_key().public_bytes_raw()))
        return secret.decrypt(rest[:NONCE_BYTES], rest[NONCE_BYTES:], None)
    except (InvalidTag, ValueError) as error:
        raise NotSealedToUs from error


def _key(shared: bytes, sender: bytes, receiver: bytes) -> bytes:
    derived = HKDF(hashes.SHA256(), KEY_BYTES, salt=sender + receiver, info=_PURPOSE)
    return derived.derive(shared)
