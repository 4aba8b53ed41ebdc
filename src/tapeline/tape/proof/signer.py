"""Signs checkpoints: an Ed25519 key, made at first start, confirms the current end of a tape."""

from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from tapeline import private_files
from tapeline.ids import fingerprint
from tapeline.private_files import RESTORE_IT
from tapeline.store.encryption import UnusableKey

NAME = "tape-signing.key"


class Signer:
    """Signs with the key in a folder; makes it when there is none."""

    def __init__(self, folder: Path) -> None:
        private_files.read_or_make(folder / NAME, _new_key)
        self._key = read(folder / NAME)
        self.public_key = self._key.public_key().public_bytes_raw()
        self.key_id = fingerprint(self.public_key.hex())[:16]

    def sign(self, model_id: str, seq: int, link: bytes, at: float) -> bytes:
        return self._key.sign(statement(model_id, seq, link, at))


def statement(model_id: str, seq: int, link: bytes, at: float) -> bytes:
    """The signed statement: this model's tape had this link at this number at this time."""
    return msgspec.json.encode(["tapeline", model_id, seq, link.hex(), repr(at)])


def is_signed(public_key: bytes, signature: bytes, signed: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, signed)
    except InvalidSignature:
        return False
    return True


def read(file: Path) -> Ed25519PrivateKey:
    try:
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(file.read_text()))
    except ValueError as error:
        raise UnusableKey(f"The key file {file} is empty or damaged. {RESTORE_IT}") from error


def _new_key() -> bytes:
    return Ed25519PrivateKey.generate().private_bytes_raw().hex().encode()
