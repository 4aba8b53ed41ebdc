"""Checks a model's archive and unpacks it. Every refusal names an entry.

Nothing here trusts a header: sizes are limits while inflating, and names are only ever compared and
joined after they were split into parts.
"""

import hashlib
import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, NoReturn, Protocol

import msgspec

from tapeline.accounts import plain_names
from tapeline.errors import InvalidArchive
from tapeline.models.archives import contents, zips
from tapeline.models.archives import manifest as manifests
from tapeline.models.archives.manifest import Manifest
from tapeline.models.archives.zips import BadZip, Member

ROOT = "model"
IGNORED_ROOT = "__MACOSX"  # the Finder adds it next to the folder it packs
MOST_ENTRIES = 10_000
MOST_UNPACKED = 500_000_000
HIGHEST_RATIO = 200
HARMLESS = 1_000_000  # an entry this small may be compressed as well as it likes
LONGEST_PATH, LONGEST_NAME = 1_000, 255  # bytes; the second is the file system's
SHOWN = 200
# Bytes of memory that a check takes: chunks and the manifest, each entry, each byte of names.
OF_A_CHECK, OF_AN_ENTRY, OF_A_BYTE = 2_000_000, 600, 5


class Entry(msgspec.Struct, frozen=True):
    path: str
    """Inside `model/`, without it."""
    size: int
    is_folder: bool
    is_executable: bool


class Contents(msgspec.Struct, frozen=True):
    manifest: Manifest
    entries: list[Entry]
    packed: int
    unpacked: int
    digest: str
    """Of what it holds, see `contents`."""


class Readable(Protocol):
    """A file, or a blob, wherever it is."""

    def open(self, mode: Literal["rb"], /) -> BinaryIO: ...


def in_memory(file: Readable) -> int:
    """How much memory checking an archive takes at most, from what its end says about it."""
    with file.open("rb") as opened, _Refusing():
        entries, names = zips.announced(opened)
    return OF_A_CHECK + OF_AN_ENTRY * min(entries, MOST_ENTRIES) + OF_A_BYTE * names


def check(file: Path) -> Contents:
    """The content of an archive, after checking every byte of it. This takes seconds for large
    ones: call it in a thread, where inflating blocks nobody."""
    packed = file.stat().st_size
    with file.open("rb") as opened, _Refusing():
        found = _entries(opened, packed)
        manifest = _manifest(opened, found)
        files = {
            path: _hashed(opened, path, member)
            for path, member in found.items()
            if not _is_folder(member)
        }
    entries = [_entry(path, member) for path, member in found.items()]
    plain = {path: member for path, member in found.items() if not _is_folder(member)}
    digest = contents.digest(files, _folders(found) - _folders(plain))
    return Contents(manifest, entries, packed, sum(one.size for one in entries), digest)


def unpack(file: Path, folder: Path) -> None:
    """Unpack `model/` into an empty folder. Only plain files and folders are made."""
    with file.open("rb") as opened, _Refusing():
        found = _entries(opened, file.stat().st_size)
        for path in ["", *sorted(_folders(found))]:  # a folder sorts before what is in it
            (folder / path).mkdir(exist_ok=True)
            (folder / path).chmod(0o755)  # whatever the umask of the server is
        for path, member in found.items():
            if not _is_folder(member):
                _write(opened, member, folder / path)


@contextmanager
def opened(file: Readable) -> Iterator[tuple[BinaryIO, dict[str, Member]]]:
    """The archive to read from, and its files by their path inside `model/`."""
    with file.open("rb") as stream, _Refusing():
        found = _entries(stream, stream.seek(0, os.SEEK_END))
        yield stream, {path: one for path, one in found.items() if not _is_folder(one)}


def _hashed(file: BinaryIO, path: str, member: Member) -> contents.File:
    """Inflating it also checks it."""
    is_executable = bool(member.mode & 0o111)
    if contents.is_manifest(path):
        content = b"".join(zips.chunks(file, member))
        return contents.File(contents.hash_of_manifest(content), is_executable)
    whole = hashlib.sha256()
    for chunk in zips.chunks(file, member):
        whole.update(chunk)
    return contents.File(whole.hexdigest(), is_executable)


class _Refusing:
    """Turns an error of the zip reader into the sentence a person reads."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, BadZip):
            if error.entry is None:
                raise InvalidArchive(f"The archive {error.reason}.") from None
            _refuse(error.entry, error.reason)


def _refuse(entry: str, reason: str) -> NoReturn:
    shown = entry if len(entry) <= SHOWN else entry[:SHOWN] + "…"
    raise InvalidArchive(f"The entry {shown!r} {reason}.") from None


def _entries(file: BinaryIO, packed: int) -> dict[str, Member]:
    """Entries by their path inside `model/`, all of them safe to make in an empty folder."""
    found: dict[str, Member] = {}
    taken: dict[str, str] = {}
    members = zips.directory(file, MOST_ENTRIES)
    for member in members:
        _refuse_kind(member)
        parts = _parts(member.name)
        if parts[0] == IGNORED_ROOT or member.name == "./":
            continue
        _refuse_outside(member, parts)
        path = "/".join(parts[1:])
        if path:
            alike = _alike(path)
            if alike in taken:
                _refuse(member.name, f"has the same name as {taken[alike]!r}")
            taken[alike] = member.name
            found[path] = member
    if not found:
        raise InvalidArchive(f"The archive has no folder `{ROOT}/` with a model in it.")
    _refuse_files_as_folders(found)
    _refuse_bombs(members, packed)
    return found


def _parts(name: str) -> list[str]:
    """A name taken apart; `/model/x` and `./model/x` are how some packers write `model/x`."""
    if not name or len(name.encode("utf-8", "replace")) > LONGEST_PATH:
        _refuse(name, f"must have a name of 1 to {LONGEST_PATH:,} bytes")
    if "\\" in name:
        _refuse(name, "has a backslash in its name; write paths with /")
    if plain_names.CONTROL.search(name):
        _refuse(name, "has a control character or a text direction mark in its name")
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if not name.isascii() and any(map(plain_names.fault, parts)):
        _refuse(name, "has a name without any visible character")
    if ".." in parts:
        _refuse(name, "leads out of the archive with `..`")
    if name.startswith("/") and parts[:1] != [ROOT]:
        _refuse(name, "has an absolute path")
    if any(len(part.encode("utf-8", "replace")) > LONGEST_NAME for part in parts):
        _refuse(name, f"has a name longer than {LONGEST_NAME} bytes")
    return parts or [""]


def _refuse_kind(member: Member) -> None:
    kind = stat.S_IFMT(member.mode)
    if kind == stat.S_IFLNK:
        _refuse(member.name, "is a link; pack the file itself")
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        _refuse(member.name, "is neither a file nor a folder")
    if _is_folder(member):
        if member.size:
            _refuse(member.name, "is a folder, but has content like a file")
    elif kind == stat.S_IFDIR:
        _refuse(member.name, "is a folder but named like a file")


def _refuse_outside(member: Member, parts: list[str]) -> None:
    if parts[0] != ROOT or (len(parts) == 1 and not _is_folder(member)):
        _refuse(
            member.name,
            f"is not in the folder `{ROOT}/`; pack the model as one folder of that name",
        )


def _refuse_files_as_folders(found: dict[str, Member]) -> None:
    folders = {_alike(path) for path in _folders(found)}
    for path, member in found.items():
        if not _is_folder(member) and _alike(path) in folders:
            inside = _alike(path) + "/"
            entry = next(one for one in found if _alike(one).startswith(inside))
            _refuse(found[entry].name, "is in a folder that is a file in the same archive")


def _refuse_bombs(members: list[Member], packed: int) -> None:
    total = 0
    for member in members:
        total += member.size
        if total > MOST_UNPACKED:
            _refuse(member.name, f"makes the archive larger than {MOST_UNPACKED:,} bytes unpacked")
        if member.size > max(HARMLESS, HIGHEST_RATIO * member.packed):
            _refuse(member.name, f"is compressed more than {HIGHEST_RATIO}:1")
    if total > HIGHEST_RATIO * packed:
        largest = max(members, key=lambda one: one.size)
        _refuse(largest.name, f"makes the archive compressed more than {HIGHEST_RATIO}:1")


def _alike(path: str) -> str:
    """The same for names that some file system, or somebody's eye, takes for the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _is_folder(member: Member) -> bool:
    return member.name.endswith("/")


def _entry(path: str, member: Member) -> Entry:
    is_executable = bool(member.mode & 0o111) and not _is_folder(member)
    return Entry(path, member.size, _is_folder(member), is_executable)


def _manifest(file: BinaryIO, found: dict[str, Member]) -> Manifest:
    name = next((one for one in manifests.NAMES if one in found), None)
    if name is None or _is_folder(found[name]):
        raise InvalidArchive(f"The archive has no `{ROOT}/{manifests.NAMES[0]}`.")
    if found[name].size > manifests.LARGEST:
        _refuse(found[name].name, f"is larger than {manifests.LARGEST:,} bytes")
    content = b"".join(zips.chunks(file, found[name]))
    files = {path for path, member in found.items() if not _is_folder(member)}
    return manifests.read(content, name, files, _folders(found))


def _folders(found: dict[str, Member]) -> set[str]:
    """All folders that entries are, or are in. They count too: one name can stand for hundreds."""
    folders: set[str] = set()
    for path, member in found.items():
        folder = path if _is_folder(member) else path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
        if len(folders) > MOST_ENTRIES:
            _refuse(member.name, f"makes more than {MOST_ENTRIES:,} folders")
    return folders


def _write(file: BinaryIO, member: Member, target: Path) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(target, flags, 0o600), "wb") as out:
        for chunk in zips.chunks(file, member):
            out.write(chunk)
        os.fchmod(out.fileno(), 0o755 if member.mode & 0o111 else 0o644)
