"""Encrypts the secrets in the store with a key that is not in the database.

The first line of the key file is the newest key. Older keys follow, each with the time it was
retired: running servers too can still decrypt values that were encrypted with them.
"""

import base64
import hashlib
import hmac
import os
import time
from mmap import mmap
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tapeline import private_files
from tapeline.errors import CannotStart
from tapeline.private_files import RESTORE_IT

NAME = "store.key"
NONCE_BYTES = 12
KEY_BYTES = 32
# Longer than remembered answers are kept: nothing else stays encrypted with an old key.
RETIRED_SECONDS = 48 * 3600


class UnusableKey(CannotStart):
    """A key of this server is missing or damaged."""


class NotOurKey(UnusableKey):
    """This was encrypted with a key that the server does not have."""


class Cipher:
    def __init__(self, *keys: bytes, file: Path | None = None) -> None:
        self._keys = keys
        self._file = file
        self._read_at = (-1, -1)

    @classmethod
    def of(cls, folder: Path) -> "Cipher":
        """With the keys in a folder; the first start makes one."""
        private_files.read_or_make(folder / NAME, _new_key)
        made = cls(file=folder / NAME)
        made._current()  # a damaged file is noticed now, and not when it is needed
        return made

    def fingerprints(self, content: bytes | bytearray | mmap) -> list[str]:
        """The same for the same content, and useless for checking a guess. The first belongs to
        the newest key; a stored fingerprint may be any of them."""
        return [hmac.new(key, content, hashlib.sha256).hexdigest() for key in self._current()]

    def encrypt(self, content: bytes) -> str:
        nonce = os.urandom(NONCE_BYTES)
        newest = AESGCM(self._current()[0])
        return base64.b64encode(nonce + newest.encrypt(nonce, content, None)).decode()

    def decrypt(self, hidden: str) -> bytes:
        packed = base64.b64decode(hidden)
        for key in self._current():
            try:
                return AESGCM(key).decrypt(packed[:NONCE_BYTES], packed[NONCE_BYTES:], None)
            except InvalidTag:
                continue
        raise NotOurKey

    def _current(self) -> tuple[bytes, ...]:
        """Another process may have added a key. The file is always replaced as a whole, so its
        inode or time changes."""
        try:
            if self._file is not None:
                self._refresh(self._file)
        except UnusableKey:
            # A server that has read its keys goes on with them: no model could be stopped without
            # them. The health check `keys` says that the file is gone.
            if not self._keys:
                raise
        return self._keys

    def _refresh(self, file: Path) -> None:
        try:
            found = file.stat()
            if (found.st_ino, found.st_mtime_ns) != self._read_at:
                self._keys = read(file)
                self._read_at = (found.st_ino, found.st_mtime_ns)
        except OSError as error:
            raise UnusableKey(
                f"The key {file.name} cannot be read: {error.strerror}. {RESTORE_IT}"
            ) from error


def read(file: Path) -> tuple[bytes, ...]:
    """The keys in a file, the newest first."""
    try:
        found = [base64.b64decode(one.split()[0]) for one in file.read_bytes().splitlines()]
    except (ValueError, IndexError):
        found = []
    if not found or any(len(one) != KEY_BYTES for one in found):
        raise UnusableKey(f"The key file {file} is empty or damaged. {RESTORE_IT}")
    return tuple(found)


def rotate(folder: Path) -> None:
    """Put a new key first. This encrypts nothing again: the old key stays behind it."""
    newest, *older = private_files.read_or_make(folder / NAME, _new_key).splitlines()
    retired = b"%s %d" % (newest.split()[0], time.time())
    private_files.write(folder / NAME, b"\n".join([_new_key(), retired, *older]))


def forget_retired(folder: Path, before: float) -> None:
    """Delete keys that were retired before this moment, which is RETIRED_SECONDS ago; call it
    after all secrets are encrypted again."""
    newest, *older = (folder / NAME).read_bytes().splitlines()
    kept = [one for one in older if float(one.split()[1]) >= before]
    private_files.write(folder / NAME, b"\n".join([newest, *kept]))


def _new_key() -> bytes:
    return base64.b64encode(AESGCM.generate_key(256))
