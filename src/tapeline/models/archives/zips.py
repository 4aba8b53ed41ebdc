"""A strict reader of the zip format: it checks bounds before it trusts a number, and reads an
archive in one way only.

The standard library reads more than we want to allow (a directory of millions of entries, data
around the archive, headers that disagree), so the few structures we need are read here.
"""

import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

CHUNK = 1 << 18
LARGEST_DIRECTORY = 20_000_000
STORED, DEFLATED = 0, 8
ENCRYPTED = 0x1 | 0x40 | 0x2000
SIZES_FOLLOW, UTF8 = 0x8, 0x800

END = struct.Struct("<4s4H2LH")
END64_LOCATOR = struct.Struct("<4sLQL")
END64 = struct.Struct("<4sQ2H2L4Q")
CENTRAL = struct.Struct("<4s6H3L5H2L")
LOCAL = struct.Struct("<4s5H3L2H")
MOST16, MOST32 = 0xFFFF, 0xFFFFFFFF


class BadZip(Exception):
    """What is wrong, as the end of a sentence about the archive or about one of its entries."""

    def __init__(self, reason: str, entry: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.entry = entry


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One entry as the directory describes it."""

    name: str
    raw_name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    mode: int
    """The Unix mode: kind and permissions, 0 when the packer did not say."""
    offset: int


class _End(msgspec.Struct):
    entries: int
    size: int
    offset: int
    ends_at: tuple[int, ...]
    """Where the directory may end: at one of the records behind it."""


def announced(file: BinaryIO) -> tuple[int, int]:
    """How many entries the directory says it has, and its size in bytes."""
    end = _end(file)
    return end.entries, min(end.size, LARGEST_DIRECTORY)


def directory(file: BinaryIO, most: int) -> list[Member]:
    """All entries. Reads no more than a directory of `most` entries can take."""
    end = _end(file)
    if end.entries > most:
        raise BadZip(f"has more than {most:,} entries")
    if end.size > LARGEST_DIRECTORY:
        raise BadZip(f"has a directory larger than {LARGEST_DIRECTORY:,} bytes")
    if end.offset + end.size not in end.ends_at:
        raise BadZip("has a directory that is not where its end says, or data in between")
    file.seek(end.offset)
    content = file.read(end.size)
    members, at = [], 0
    for _ in range(end.entries):
        member, at = _member(content, at)
        members.append(member)
    if at != len(content):
        raise BadZip("has a directory with more than the entries it counts")
    _refuse_overlaps(file, members, end.offset)
    return members


def chunks(file: BinaryIO, member: Member) -> Iterator[bytes]:
    """The content of an entry, never more than its header says, checked while it is read."""
    file.seek(_data_start(file, member))
    read, crc = 0, 0
    for chunk in _stored(file, member) if member.method == STORED else _inflated(file, member):
        read += len(chunk)
        if read > member.size:
            raise BadZip("is larger than its header says", member.name)
        crc = zlib.crc32(chunk, crc)
        yield chunk
    if read != member.size:
        raise BadZip("is smaller than its header says", member.name)
    if crc != member.crc:
        raise BadZip("is damaged: its checksum is wrong", member.name)


def _end(file: BinaryIO) -> _End:
    size = file.seek(0, 2)
    start = max(0, size - END.size - MOST16)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    seen = at >= 0
    while at >= 0:
        # Only the record whose comment ends with the file: anything else has something appended.
        if at + END.size <= len(tail):
            _, disk, first, here, entries, length, offset, comment = END.unpack_from(tail, at)
            if at + END.size + comment == len(tail):
                break
        at = tail.rfind(b"PK\x05\x06", 0, at)
    if at < 0:
        raise BadZip("has data after its end" if seen else "is not a zip file, or only part of one")
    place = start + at
    plain = _End(entries, length, offset, (place,))
    if MOST16 in {disk, first, here, entries} or MOST32 in {length, offset}:
        return _end64(file, place, plain)
    if disk or first or here != entries:
        raise BadZip("is one part of several")
    # A packer may write the larger records although nothing needs them.
    located = _locator(file, place)
    return plain if located is None else _End(entries, length, offset, (place, located))


def _locator(file: BinaryIO, place: int) -> int | None:
    if place < END64_LOCATOR.size:
        return None
    file.seek(place - END64_LOCATOR.size)
    signature, _, offset, _ = END64_LOCATOR.unpack(file.read(END64_LOCATOR.size))
    return int(offset) if signature == b"PK\x06\x07" else None


def _end64(file: BinaryIO, place: int, plain: _End) -> _End:
    offset = _locator(file, place)
    if offset is None:
        return plain
    if offset + END64.size > place:
        raise BadZip("has an end that is not where it says")
    file.seek(offset)
    signature, _, _, _, disk, first, here, entries, length, start = END64.unpack(
        file.read(END64.size)
    )
    if signature != b"PK\x06\x06" or disk or first or here != entries:
        raise BadZip("is one part of several, or damaged at its end")
    return _End(entries, length, start, (offset,))


def _member(content: bytes, at: int) -> tuple[Member, int]:
    if at + CENTRAL.size > len(content):
        raise BadZip("has a directory with fewer entries than it counts")
    (
        signature, _made_by, _needs, flags, method, _time, _date, crc, packed, size,
        name_length, extra_length, comment_length, disk, _internal, external, offset,
    ) = CENTRAL.unpack_from(content, at)  # fmt: skip
    if signature != b"PK\x01\x02":
        raise BadZip("has a damaged directory")
    at += CENTRAL.size
    raw_name = content[at : at + name_length]
    at += name_length
    extra = content[at : at + extra_length]
    at += extra_length + comment_length
    if at > len(content):
        raise BadZip("has a directory that is cut off")
    name = _text(raw_name, flags)
    size, packed, offset = _large(extra, [size, packed, offset], name)
    if disk not in {0, MOST16}:
        raise BadZip("is in another part of the archive", name)
    member = Member(
        name=name,
        raw_name=raw_name,
        flags=flags,
        method=method,
        crc=crc,
        packed=packed,
        size=size,
        mode=external >> 16,
        offset=offset,
    )
    _refuse_unreadable(member)
    return member, at


def _refuse_unreadable(member: Member) -> None:
    if member.flags & ENCRYPTED:
        raise BadZip("is encrypted", member.name)
    if member.method not in {STORED, DEFLATED}:
        raise BadZip("is compressed in a way that is not read here; use deflate", member.name)
    if member.method == STORED and member.size != member.packed:
        raise BadZip("has sizes that disagree", member.name)


def _text(raw: bytes, flags: int) -> str:
    try:
        return raw.decode("utf-8")  # also without the flag: some packers forget it
    except UnicodeDecodeError:
        if flags & UTF8:
            raise BadZip("has a name that is not valid UTF-8", repr(raw)) from None
        return raw.decode("cp437")


def _large(extra: bytes, sizes: list[int], name: str) -> list[int]:
    """Numbers that need more than 32 bits stand in an extra field, in this order."""
    wanted = [place for place, number in enumerate(sizes) if number == MOST32]
    if not wanted:
        return sizes
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            if length < 8 * len(wanted) or at + 4 + length > len(extra):
                break
            for number, place in enumerate(wanted):
                (sizes[place],) = struct.unpack_from("<Q", extra, at + 4 + 8 * number)
            return sizes
        at += 4 + length
    raise BadZip("has a damaged header", name)


def _data_start(file: BinaryIO, member: Member) -> int:
    """Where the content begins. A reader of local headers alone must see the same entry."""
    file.seek(member.offset)
    header = file.read(LOCAL.size)
    if len(header) < LOCAL.size or header[:4] != b"PK\x03\x04":
        raise BadZip("is not where the directory says", member.name)
    _, _, flags, method, _, _, _, packed, size, name_length, extra_length = LOCAL.unpack(header)
    told = not flags & SIZES_FOLLOW and MOST32 not in {packed, size}
    if (
        file.read(name_length) != member.raw_name
        or method != member.method
        or flags & ENCRYPTED
        or (told and (packed, size) != (member.packed, member.size))
    ):
        raise BadZip("has two headers that disagree", member.name)
    return member.offset + LOCAL.size + int(name_length) + int(extra_length)


def _refuse_overlaps(file: BinaryIO, members: list[Member], directory_at: int) -> None:
    """The same data under many names is how small archives become enormous."""
    free_from = 0
    for member in sorted(members, key=lambda one: one.offset):
        if member.offset < free_from:
            raise BadZip("shares its data with another entry", member.name)
        free_from = _data_start(file, member) + member.packed
        if free_from > directory_at:
            raise BadZip("is not wholly in the archive", member.name)


def _stored(file: BinaryIO, member: Member) -> Iterator[bytes]:
    left = member.packed
    while left and (chunk := file.read(min(CHUNK, left))):
        left -= len(chunk)
        yield chunk


def _inflated(file: BinaryIO, member: Member) -> Iterator[bytes]:
    inflate = zlib.decompressobj(-zlib.MAX_WBITS)
    left = member.packed
    try:
        while not inflate.eof:
            packed = inflate.unconsumed_tail
            if not packed:
                packed = file.read(min(CHUNK, left))
                left -= len(packed)
                if not packed:
                    break
            if chunk := inflate.decompress(packed, CHUNK):
                yield chunk
    except zlib.error:
        raise BadZip("is damaged: it cannot be unpacked", member.name) from None
    if not inflate.eof or inflate.unused_data or left:
        raise BadZip("is damaged: its packed content does not end where it should", member.name)
