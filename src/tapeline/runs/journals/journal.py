"""Reads the journal a shim writes: one ordered record of a launch, in segments.

An offset counts all bytes ever written, through all segments, and is the start of a record. The
reader may be away for days; dropped bytes are reported, not hidden. So are unreadable bytes: a disk
or a crash may leave anything here, and no journal may hold up more than its own run.
"""

import errno
import os
import stat
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import IO

import msgspec

from tapeline.errors import UnreadableJournal
from tapeline.runs.journals.meaning import BacktestOutput
from tapeline.runs.journals.records import Record, Skipped, parsed
from tapeline.runs.sandbox import foreign_files

LONGEST_RECORD = 1_000_000  # bytes: lines are cut long before
LARGEST_SEGMENT = 64_000_000
SHORTER = "it is shorter than what was read of it"
# Not the journal's fault: the next try may work.
OF_THE_HOST = {errno.EMFILE, errno.ENFILE, errno.ENOMEM}


class Chunk(msgspec.Struct, frozen=True):
    records: list[Record]
    offset: int
    """Where to go on."""
    lost: int
    """Bytes that were dropped before the first of these records."""
    trouble: str = ""
    """Why nothing can be read from there on, while that lasts."""
    over: int = 0
    """Bytes of lines that were left out for a quota."""
    output: BacktestOutput | None = None
    """That of a backtest whose end is one of these records."""

    @property
    def tells_end(self) -> bool:
        return any(one.state and one.state.get("event") == "finished" for one in self.records)


def read(folder: Path, offset: int, limit_bytes: int = 1_000_000) -> Chunk:
    """Whole records from an offset on, about as many bytes as the limit says, at least one."""
    try:
        segments = _segments(folder)
    except UnreadableJournal as error:
        return Chunk([], offset, 0, error.message)
    if not segments:
        return Chunk([], offset, 0, SHORTER if offset else "")
    lost = max(0, segments[0][0] - offset)
    reading = _Reading(offset + lost, limit_bytes)
    trouble = ""
    try:
        starts = [start for start, _ in segments]
        for (start, path), following in zip(segments, [*starts[1:], None], strict=True):
            if following is None or reading.position < following:
                reading.segment(path, start, following)
    except FileNotFoundError:
        pass  # dropped just now; the next read reports how much was lost
    except UnreadableJournal as error:
        trouble = error.message
    return Chunk(reading.records(), reading.position, lost, trouble)


class _Reading:
    """One pass through the segments."""

    def __init__(self, position: int, limit: int) -> None:
        self.position = position
        self._left = limit
        self._parts: list[bytes | Skipped] = []

    def segment(self, path: Path, start: int, following: int | None) -> None:
        if self._left <= 0:
            return  # the next read continues in the segment before
        try:
            with _opened(path) as file:
                _go_to(file, self.position - start, is_last=following is None)
                while self._left > 0 and (part := _part(file, self._left, self._rest(following))):
                    self._take(part, len(part) if isinstance(part, bytes) else part.size)
        except UnreadableJournal as error:
            if following is None:
                raise
            self._take(*_gap(following - self.position, error.message))
        if following is not None and self._left > 0 and self.position < following:
            self._take(*_gap(following - self.position, "the end of a file is missing"))

    def records(self) -> list[Record]:
        return list(parsed(self._parts))

    def _rest(self, following: int | None) -> int:
        """How much of a segment counts: only the bytes before its successor's first one."""
        return LARGEST_SEGMENT if following is None else following - self.position

    def _take(self, part: bytes | Skipped, size: int) -> None:
        self._parts.append(part)
        self.position += size
        self._left -= size


def has_more(folder: Path, offset: int) -> bool:
    """Whether there is more after the offset, or it cannot be read, which must be reported."""
    try:
        return end(folder) != offset
    except UnreadableJournal:
        return True


def end(folder: Path) -> int:
    """The offset after the last byte; zero when nothing was written."""
    segments = _segments(folder)
    if not segments:
        return 0
    start, path = segments[-1]
    with suppress(FileNotFoundError):
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableJournal("a file of it is not a file")
        start += found.st_size
    return start


def go_on_from(folder: Path, offset: int) -> None:
    """Before a launch: new records are read from the offset on, even if the journal is shorter, as
    after a power loss, or missing, as in a restored backup. Otherwise its first bytes would count
    as read. Anything that is not a journal is removed."""
    _make_room(folder)
    if _end_of_records(folder) < offset:
        (folder / "journal").mkdir(mode=0o700, exist_ok=True)
        (folder / "journal" / f"{offset:020d}").touch(mode=0o600)


def _end_of_records(folder: Path) -> int:
    """Where a shim continues: it cuts off half a record, or what else a crash left at the end."""
    segments = _segments(folder)
    if not segments:
        return 0
    start, path = segments[-1]
    with _opened(path) as file:
        return start + file.read().rfind(b"\n") + 1


def forget(folder: Path, offset: int) -> None:
    """Delete the segments before the offset. The last one belongs to the shim."""
    with suppress(UnreadableJournal):
        for (_, path), (following, _) in pairwise(_segments(folder)):
            if following <= offset:
                foreign_files.remove(path)


def _make_room(folder: Path) -> None:
    try:
        segments = _segments(folder)
    except UnreadableJournal:
        foreign_files.remove(folder / "journal")
        return
    for _, path in segments:
        try:
            _opened(path).close()
        except UnreadableJournal:
            foreign_files.remove(path)


def _segments(folder: Path) -> list[tuple[int, Path]]:
    journal = folder / "journal"
    try:
        if not stat.S_ISDIR(journal.lstat().st_mode):
            raise UnreadableJournal("it is not a folder")
        names = [one.name for one in journal.iterdir()]
    except FileNotFoundError:
        return []
    except PermissionError as error:
        raise UnreadableJournal(f"{error.strerror}") from error
    # Other names are not ours: no segment is named like that.
    return sorted((int(one), journal / one) for one in names if one.isascii() and one.isdecimal())


def _opened(path: Path) -> IO[bytes]:
    """Only a regular file: a link leads elsewhere, and a pipe waits forever."""
    try:
        file = foreign_files.really_opened(path)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in OF_THE_HOST:
            raise
        raise UnreadableJournal(f"a file of it: {error.strerror}") from error
    if _size(file) > LARGEST_SEGMENT:
        file.close()
        raise UnreadableJournal("a file of it is larger than any that is written")
    return file


def _size(file: IO[bytes]) -> int:
    return os.fstat(file.fileno()).st_size


def _go_to(file: IO[bytes], place: int, *, is_last: bool) -> None:
    if is_last and _size(file) < place:
        raise UnreadableJournal(SHORTER)
    file.seek(place)


def _part(file: IO[bytes], limit: int, most: int) -> bytes | Skipped | None:
    """Whole lines. A single line may be longer than the limit, but never longer than a record."""
    begun = file.tell()
    try:
        data = file.read(min(limit, most))
        if data and b"\n" not in data:
            data += file.readline(min(LONGEST_RECORD, most - len(data)))
    except OSError as error:
        raise UnreadableJournal(f"a file of it: {error.strerror}") from error
    if data and b"\n" not in data and len(data) >= LONGEST_RECORD:
        return Skipped(len(data))
    whole = data[: data.rfind(b"\n") + 1]
    file.seek(begun + len(whole))
    return whole or None


def _gap(size: int, why: str) -> tuple[Skipped, int]:
    return Skipped(size, why), size
