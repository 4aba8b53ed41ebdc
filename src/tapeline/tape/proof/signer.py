"""Signs checkpoints: an Ed25519 key, made at first start, confirms the current end of a tape.

`tapeline keys rotate` replaces the key while servers run. The public keys so far are in a file next
to it, each confirmed by the one before.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tapeline import private_files
from tapeline.private_files import RESTORE_IT
from tapeline.store.encryption import UnusableKey
from tapeline.tape.proof import key_chain
from tapeline.tape.proof.key_chain import Key, is_signed

__all__ = ["CHAIN", "NAME", "Hand", "Signer", "is_signed", "read", "rotate", "statement"]

NAME, NEXT, CHAIN = "tape-signing.key", "tape-signing.key.next", "tape-keys.json"


class Hand(NamedTuple):
    """One key, for a text that takes a while: another may take the key's place meanwhile."""

    key_id: str
    sign: Callable[[bytes], bytes]


class Signer:
    """Signs with the key in a folder; makes it when there is none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        private_files.read_or_make(folder / NAME, _new_key)
        _finish(folder)
        self._load()

    def sign(self, model_id: str, seq: int, link: bytes, at: float) -> bytes:
        return self._key.sign(statement(model_id, seq, link, at))

    def sign_text(self, text: bytes) -> bytes:
        return self._key.sign(text)

    def hand(self) -> Hand:
        return Hand(self.key_id, self._key.sign)

    def refresh(self) -> None:
        """Use the key that another process put in the place of ours. If the folder is gone or the
        file is damaged, the key that was in it stays in use."""
        try:
            if _changed_at(self._folder) != self._read_at:
                self._load()
        except (OSError, UnusableKey):
            return

    def _load(self) -> None:
        read_at = _changed_at(self._folder)
        key = read(self._folder / NAME)
        self.chain = _extended(self._folder, key_chain.public_hex(key))
        self._key, self._read_at = key, read_at
        self.public_key = key.public_key().public_bytes_raw()
        self.key_id = key_chain.id_of(self.public_key.hex())


def rotate(folder: Path) -> Key:
    """Replace the key. The old one is gone afterwards: nobody can sign with it any more."""
    before = Signer(folder)
    after = Ed25519PrivateKey.generate()
    made = key_chain.succeed(read(folder / NAME), after, time.time())
    # A crash after the chain was written is completed at the next start; before, nothing happened.
    private_files.write(folder / NEXT, _text(after))
    _write_chain(folder, [*before.chain, made])
    _finish(folder)
    return made


class Offer(NamedTuple):
    """The key of a server, and those before it, for another server of the same installation."""

    key: bytes
    chain: bytes


def offered(folder: Path) -> Offer:
    return Offer((folder / NAME).read_bytes(), (folder / CHAIN).read_bytes())


def follows(folder: Path, offer: Offer) -> bool:
    """Whether the offered key came after the one in a folder, by the signatures of their chain."""
    chain = msgspec.json.decode(offer.chain, type=list[Key])
    names = [one.public_key for one in chain]
    ours, theirs = current(folder), key_chain.public_hex(_private(offer.key))
    return (
        key_chain.trouble(chain) is None
        and {ours, theirs} <= set(names)
        and names.index(theirs) > names.index(ours)
        and theirs in key_chain.connected(chain, [ours])
    )


def precedes(folder: Path, offer: Offer) -> bool:
    """Whether the key in a folder came after the offered one."""
    theirs = key_chain.public_hex(_private(offer.key))
    names = [one.public_key for one in _chain(folder)]
    return theirs in names and names.index(theirs) < names.index(current(folder))


def adopt(folder: Path, offer: Offer) -> None:
    """Sign with it from now on. The chain first: a key that is not in it would begin its own."""
    private_files.write(folder / CHAIN, offer.chain)
    private_files.write(folder / NAME, offer.key)


def current(folder: Path) -> str:
    """The public key with which a server in this folder would sign."""
    return key_chain.public_hex(read(folder / (NEXT if _is_unfinished(folder) else NAME)))


def statement(model_id: str, seq: int, link: bytes, at: float) -> bytes:
    """The signed statement: this model's tape had this link at this number at this time."""
    return msgspec.json.encode(["tapeline", model_id, seq, link.hex(), repr(at)])


def read(file: Path) -> Ed25519PrivateKey:
    try:
        return _private(file.read_bytes())
    except ValueError as error:
        raise UnusableKey(f"The key file {file} is empty or damaged. {RESTORE_IT}") from error


def _private(text: bytes) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(text.decode("ascii")))


def _extended(folder: Path, public_key: str) -> list[Key]:
    """The keys so far. A key that is not among them starts a chain of its own: it is the first one,
    or the one before it was lost."""
    chain = _chain(folder)
    if public_key not in {one.public_key for one in chain}:
        chain.append(Key(public_key))
        _write_chain(folder, chain)
    return chain


def _finish(folder: Path) -> None:
    """Put the next key in its place, if the chain already has it."""
    if _is_unfinished(folder):
        (folder / NEXT).rename(folder / NAME)
        private_files.sync(folder)


def _is_unfinished(folder: Path) -> bool:
    chain = _chain(folder)
    if not chain or not (folder / NEXT).exists():
        return False
    return chain[-1].public_key == key_chain.public_hex(read(folder / NEXT))


def _chain(folder: Path) -> list[Key]:
    try:
        return msgspec.json.decode((folder / CHAIN).read_bytes(), type=list[Key])
    except FileNotFoundError:
        return []
    except msgspec.MsgspecError as error:
        raise UnusableKey(f"The file {folder / CHAIN} is damaged. {RESTORE_IT}") from error


def _write_chain(folder: Path, chain: list[Key]) -> None:
    private_files.write(folder / CHAIN, msgspec.json.encode(chain))


def _changed_at(folder: Path) -> tuple[int, int]:
    found = (folder / NAME).stat()
    return found.st_ino, found.st_mtime_ns


def _new_key() -> bytes:
    return _text(Ed25519PrivateKey.generate())


def _text(key: Ed25519PrivateKey) -> bytes:
    return key.private_bytes_raw().hex().encode()
