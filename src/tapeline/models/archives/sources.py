"""Reads files of an archive for people: which there are, and the text of one.

Archives are hostile. Their sizes are checked before anything is unpacked, a text is limited, and
everything here takes a thread, in which it notices that nobody waits any more.
"""

import hashlib
from collections.abc import Generator

import msgspec

from tapeline.errors import NoSuchFile
from tapeline.fair_threads import checkpoint
from tapeline.models.archives import archive, zips
from tapeline.models.archives.archive import Readable
from tapeline.models.archives.zips import Member

LARGEST_TEXT = 1_000_000
"""Bytes. A person reads no more than that in a browser, and can download the file."""


class SourceFile(msgspec.Struct, frozen=True):
    path: str
    """Inside `model/`, without it."""
    size: int
    sha256: str
    is_executable: bool


class SourceText(msgspec.Struct, frozen=True):
    path: str
    size: int
    text: str | None
    """None for a file that is not text, or is too large to read here."""
    is_text: bool
    is_exact: bool
    """False if some bytes are not valid UTF-8: `text` has U+FFFD in their place."""


def listed(file: Readable) -> list[SourceFile]:
    """All files, by path. The hash of each is computed here: the checksums in a zip file can be
    forged, and a change must not be able to hide behind one."""
    with archive.opened(file) as (stream, members):
        found = []
        for path, member in sorted(members.items()):
            whole = hashlib.sha256()
            for chunk in zips.chunks(stream, member):
                checkpoint()
                whole.update(chunk)
            is_executable = bool(member.mode & 0o111)
            found.append(SourceFile(path, member.size, whole.hexdigest(), is_executable))
        return found


def text(file: Readable, path: str) -> SourceText:
    """One file as text, if it is text and not too large."""
    with archive.opened(file) as (stream, members):
        member = _member(members, path)
        if member.size > LARGEST_TEXT:
            start = next(zips.chunks(stream, member))
            return SourceText(path, member.size, None, is_text=b"\0" not in start, is_exact=False)
        content = b"".join(zips.chunks(stream, member))
    if b"\0" in content:
        return SourceText(path, member.size, None, is_text=False, is_exact=False)
    read = content.decode("utf-8", "replace")
    is_exact = read.encode("utf-8") == content
    return SourceText(path, member.size, read, is_text=True, is_exact=is_exact)


def find(file: Readable, path: str) -> Member:
    """Where in the archive a file is."""
    with archive.opened(file) as (_, members):
        return _member(members, path)


def chunks(file: Readable, member: Member) -> Generator[bytes, None, None]:
    """The content of a file that was found, piece by piece, without reading the directory again."""
    with file.open("rb") as stream:
        yield from zips.chunks(stream, member)


def _member(members: dict[str, Member], path: str) -> Member:
    if path not in members:
        raise NoSuchFile
    return members[path]
