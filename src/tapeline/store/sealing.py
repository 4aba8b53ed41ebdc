"""What the store keeps but must not tell: hidden with a key that is not in the database."""

import base64
import hashlib
import hmac
import os
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tapeline import private_files

NAME = "store.key"
NONCE_BYTES = 12


class Seal:
    def __init__(self, key: bytes) -> None:
        self._key = key
        self._cipher = AESGCM(key)

    @classmethod
    def of(cls, folder: Path) -> "Seal":
        """With the key in a folder; made at first start."""
        made = private_files.read_or_make(
            folder / NAME, lambda: base64.b64encode(AESGCM.generate_key(256))
        )
        return cls(base64.b64decode(made))

    def mark(self, content: bytes | bytearray) -> str:
        """The same for the same content, and nothing that a guess could be compared with."""
        return hmac.new(self._key, content, hashlib.sha256).hexdigest()

    def hide(self, content: bytes) -> str:
        nonce = os.urandom(NONCE_BYTES)
        return base64.b64encode(nonce + self._cipher.encrypt(nonce, content, None)).decode()

    def show(self, hidden: str) -> bytes:
        packed = base64.b64decode(hidden)
        return self._cipher.decrypt(packed[:NONCE_BYTES], packed[NONCE_BYTES:], None)
