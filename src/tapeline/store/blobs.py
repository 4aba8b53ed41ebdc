"""Blobs: large files under the hash of their content, in a folder or in object storage.

The only file that knows the storage library. A blob never changes, so storing the same content
again only renews its time, which keeps the cleanup away from it.
"""

import io
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal
from urllib.parse import unquote

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, from_url

from tapeline import host_faults, private_files
from tapeline.errors import CannotStart, StoreUnavailable
from tapeline.ids import new_id
from tapeline.logs import Log

log = Log(__name__)

CHUNK = 1 << 20
READ_AHEAD = 4 << 20  # bytes: each request to object storage takes tens of milliseconds
# Longer than any upload takes from its blob to its row: a younger blob may get its row soon.
GRACE = 24 * 3600.0
FRESH = GRACE / 2
DRAFT = ".draft-"
RESERVE, RESERVED_PART = 1_000_000_000, 20
"""Bytes, or a twentieth of a small disk, that no archive takes: they are for events and journals,
whatever quotas the tenants have together."""
ALMOST_FULL = "The disk of the server is almost full, and what is left is kept for events."
# Tenants read it, so it names no path; the operator may have given each server a folder of its own.
NOT_HERE = (
    "The archive of this version is not on this server. Its operator can help: all servers of a"
    " database must share `blobs`, and a folder that was lost is in a backup."
)


@dataclass(frozen=True)
class Blob:
    """A blob to read where it is: whoever reads it slowly, or leaves, has no copy of it."""

    size: int
    _open: Callable[[], BinaryIO]

    def open(self, _mode: Literal["rb"] = "rb", /) -> BinaryIO:
        """As `Path.open`. FileNotFoundError if it was deleted meanwhile."""
        return self._open()


class Blobs:
    """All calls wait for the disk or the network: make them in a thread."""

    def __init__(self, folder: Path, url: str = "") -> None:
        if url.startswith("file:///"):
            folder, url = Path(unquote(url.removeprefix("file://"))), ""
        self._folder = None if url else folder
        try:
            if self._folder is not None:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._store: Any = LocalStore(self._folder)
            else:
                self._store = from_url(url)
        except (BaseError, OSError, ValueError) as error:
            raise CannotStart(f"The blobs cannot be kept at {url or folder}: {error}") from error

    @property
    def is_remote(self) -> bool:
        """In object storage, where every look is a request over the network."""
        return self._folder is None

    def put(self, name: str, file: Path) -> None:
        """Keep a file under the hash of its content; durable when this returns."""
        known = self._head(name)
        if known is not None and known["size"] == file.stat().st_size:
            age = time.time() - known["last_modified"].timestamp()
            if age < FRESH:
                return
        if self._folder is not None:
            _require_room(self._folder, file.stat().st_size)
            _place(file, self._folder / name)
        else:
            _try(lambda: obstore.put(self._store, name, file))

    def fetch(self, name: str, file: Path) -> None:
        """Copy a blob, completely or not at all. FileNotFoundError if it does not exist."""
        draft = file.with_name(f"{DRAFT}{new_id()}")
        try:
            with draft.open("wb") as out:
                for chunk in _try(lambda: obstore.get(self._store, name)).stream(CHUNK):
                    out.write(chunk)
            draft.rename(file)
        except FileNotFoundError as error:
            raise _not_here(error) from error
        except OSError as error:
            raise _unavailable("blob_not_copied", error) from error
        finally:
            private_files.discard(draft)

    def find(self, name: str) -> Blob:
        """FileNotFoundError if it does not exist."""
        if self._folder is not None:
            return _in_folder(self._folder / name)
        known = self._head(name)
        if known is None:
            raise _not_here(name)
        size = int(known["size"])
        return Blob(size, lambda: io.BufferedReader(_Remote(self._store, name, size), READ_AHEAD))

    def exists(self, name: str) -> bool:
        return self._head(name) is not None

    def delete(self, name: str) -> None:
        try:
            _try(lambda: obstore.delete(self._store, name))
        except FileNotFoundError:
            return

    def old(self, now: float) -> list[str]:
        """Blobs so old that the upload that stored them has finished or failed."""
        portions = _try(lambda: list(obstore.list(self._store)))
        return [str(one["path"]) for some in portions for one in some if _is_old(one, now)]

    def delete_old(self, name: str, now: float) -> None:
        """Unless it was stored again just now."""
        known = self._head(name)
        if known is not None and _is_old(known, now):
            self.delete(name)

    def _head(self, name: str) -> Any:
        try:
            return _try(lambda: obstore.head(self._store, name))
        except FileNotFoundError:
            return None


class _Remote(io.RawIOBase):
    """A blob in object storage as a file. Each read is a request of its own: one that lasted as
    long as a slow reader would be ended by the other side."""

    def __init__(self, store: Any, name: str, size: int) -> None:
        self._store, self._name, self._size = store, name, size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        content = self._next(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def readall(self) -> bytes:
        return self._next(self._size)

    def _next(self, most: int) -> bytes:
        length = min(most, self._size - self._at)
        if length <= 0:
            return b""
        try:
            content = _try(
                lambda: obstore.get_range(self._store, self._name, start=self._at, length=length)
            )
        except FileNotFoundError as error:
            raise _not_here(error) from error
        self._at += len(content)
        return bytes(content)


def _in_folder(file: Path) -> Blob:
    def opened() -> BinaryIO:
        try:
            return file.open("rb")
        except FileNotFoundError as error:
            raise _not_here(error) from error
        except OSError as error:
            raise _unavailable("blobs_unavailable", error) from error

    with opened() as stream:
        return Blob(os.fstat(stream.fileno()).st_size, opened)


def _not_here(reason: object) -> FileNotFoundError:
    log.error("blob_not_found", reason=str(reason).partition("\n")[0])
    return FileNotFoundError(NOT_HERE)


def _is_old(known: Any, now: float) -> bool:
    return bool(now - known["last_modified"].timestamp() > GRACE)


def _require_room(folder: Path, size: int) -> None:
    disk = shutil.disk_usage(folder)
    if disk.free - size < min(RESERVE, disk.total // RESERVED_PART):
        log.error("archive_refused", free=disk.free, size=size)
        raise StoreUnavailable.because(ALMOST_FULL)


def _place(file: Path, target: Path) -> None:
    """The library renames too, but does not wait for the disk."""
    draft = target.with_name(f"{DRAFT}{new_id()}")
    try:
        with file.open("rb") as source, draft.open("xb") as out:
            shutil.copyfileobj(source, out, CHUNK)
            out.flush()
            os.fsync(out.fileno())
        draft.rename(target)
        private_files.sync(target.parent)
    except OSError as error:
        private_files.discard(draft)
        raise _unavailable("blob_not_written", error) from error


def _try(act: Callable[[], Any]) -> Any:
    try:
        return act()
    except FileNotFoundError:
        raise
    except (BaseError, OSError) as error:
        raise _unavailable("blobs_unavailable", error) from error


def _unavailable(event: str, error: Exception) -> StoreUnavailable:
    log.error(event, reason=str(error).partition("\n")[0])
    return host_faults.unavailable(error)
