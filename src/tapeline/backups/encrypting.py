"""Encrypts a backup to public keys in the age format: one file, which `age` and `tar` also open.

The only file that knows the library, the Rust implementation of age. Only public keys are needed to
encrypt, so the server never has the secret one.
"""

import errno
import hashlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from tapeline import private_files
from tapeline.backups import drafts
from tapeline.backups.drafts import BackupFailed
from tapeline.backups.rotation import DIGEST
from tapeline.settings import variables_with

CHUNK = 1 << 20
MAGIC = b"age-encryption.org/"
# Holes stay holes: an empty file of a terabyte, which a model can make, takes no terabyte.
PACK = ("--create", "--sparse", "--format=posix")
ENGLISH = {"LC_ALL": "C"}
FULL = (os.strerror(errno.ENOSPC), "Wrote only")  # how tar says it
UNPACK = ("--extract", "--preserve-permissions")


def is_encrypted(backup: Path) -> bool:
    try:
        with backup.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def public_keys(text: str) -> list[Any]:
    """The keys in a setting, separated by commas."""
    age = _library()
    try:
        return [age.x25519.Recipient.from_str(one.strip()) for one in text.split(",")]
    except age.RecipientError as error:
        raise BackupFailed(
            f"{text} is not a public key of age, which begins with age1 ({error}). Make a key pair"
            " with: age-keygen"
        ) from error


def pack(folder: Path, target: Path, keys: Sequence[Any]) -> int:
    """Write a folder as an encrypted archive, and compare it with what the disk has of it. Return
    its size."""
    with drafts.scratch(target) as draft:
        file = draft / target.name
        with file.open("xb") as out:
            digest = _encrypt(folder, out, keys)
            out.flush()
            os.fsync(out.fileno())
        _compare(file, digest)
        (draft / DIGEST).write_text(f"{digest}  {target.name}\n")
        drafts.sync(draft)
        file.rename(target)
        (draft / DIGEST).rename(target.with_name(target.name + DIGEST))
        private_files.sync(target.parent)
    return target.stat().st_size


def unpack(file: Path, identity: Path, folder: Path) -> None:
    """Decrypt an archive into an empty folder, with the secret keys in a file."""
    age, keys = _library(), _secret_keys(identity)
    with _tar(UNPACK, folder, stdin=subprocess.PIPE) as tar, file.open("rb") as source:
        assert tar.stdin is not None
        written = _Written(tar.stdin)
        try:
            age.decrypt_io(source, written, keys)
        except age.DecryptError as error:
            _refuse(file, identity, error, written)
        except OSError as error:  # how the library says that the content is not authentic
            _refuse(file, identity, error, written)


def _refuse(file: Path, identity: Path, error: Exception, written: "_Written") -> None:
    if written.error is not None:
        return  # the other program ended, and says why
    if "No matching keys" in str(error):
        raise BackupFailed(
            f"No key in {identity} opens {file}. Give the secret key of a public key that it was"
            " encrypted to."
        ) from error
    raise BackupFailed(
        f"{file} was changed or cut off after it was made ({error}). Use another backup."
    ) from error


def _encrypt(folder: Path, out: IO[bytes], keys: Sequence[Any]) -> str:
    """Return the digest of what was written."""
    age, written = _library(), _Written(out)
    with _tar((*PACK, "."), folder, stdout=subprocess.PIPE) as tar:
        try:
            age.encrypt_io(tar.stdout, written, keys)
        except age.EncryptError:
            if written.error is not None:
                raise written.error from None
            raise
    return written.digest.hexdigest()


class _Written:
    """Writes, computes the digest of what was written, and remembers why it could not: the library
    makes one kind of error of them all."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self.digest = hashlib.sha256()
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        try:
            self._out.write(data)
        except OSError as error:
            self.error = error
            raise
        self.digest.update(data)
        return len(data)

    def flush(self) -> None:
        """Done by those who opened it."""


@contextmanager
def _tar(
    arguments: Sequence[str], folder: Path, *, stdin: int | None = None, stdout: int | None = None
) -> "Iterator[subprocess.Popen[bytes]]":
    """The program, which must end well."""
    command = ["tar", "--file=-", "--numeric-owner", f"--directory={folder}", *arguments]
    with TemporaryFile() as said:  # a pipe that nobody reads yet could fill up
        try:
            tar = subprocess.Popen(  # noqa: S603 - a list
                command, stdin=stdin, stdout=stdout, stderr=said, env=variables_with(ENGLISH)
            )
        except FileNotFoundError as error:
            raise BackupFailed("Encrypted backups need the program tar. Install it.") from error
        with tar:
            try:
                yield tar
            except BaseException:
                tar.kill()
                raise
            if tar.stdin is not None:
                with suppress(BrokenPipeError):
                    tar.stdin.close()
        if tar.returncode:
            said.seek(0)
            _fail(folder, said.read().decode(errors="replace"))


def _fail(folder: Path, said: str) -> None:
    if any(words in said for words in FULL):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
    first = said.partition("\n")[0].removeprefix("tar: ")
    raise BackupFailed(f"The archive cannot be packed or unpacked: {first}")


def _compare(file: Path, digest: str) -> None:
    with file.open("rb") as written:
        os.posix_fadvise(written.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # from the disk itself
        if hashlib.file_digest(written, "sha256").hexdigest() != digest:
            raise BackupFailed(
                f"{file.name} on the disk differs from what was written. Check the disk."
            )


def _secret_keys(identity: Path) -> list[Any]:
    age = _library()
    try:
        lines = [one.strip() for one in identity.read_text().splitlines()]
        keys = [age.x25519.Identity.from_str(one) for one in lines if one and one[0] != "#"]
    except (OSError, UnicodeDecodeError) as error:
        raise BackupFailed(f"The key file {identity} cannot be read: {error}.") from error
    except age.IdentityError as error:
        raise BackupFailed(
            f"{identity} is not a key file of age. Give the file that age-keygen made."
        ) from error
    if not keys:
        raise BackupFailed(f"There is no secret key in {identity}.")
    return keys


def _library() -> Any:
    try:
        import pyrage  # noqa: PLC0415 - only encrypted backups need it
    except ImportError as error:
        raise BackupFailed(
            "Encrypted backups need a library. Install it with: pip install 'tapeline[age]'"
        ) from error
    return pyrage
