"""The list of a backup's files that nothing else vouches for: keys, and the state of models.

The database is checked page by page, and archives are named by their content. A key or a state file
that was left behind by a copy would be missed only when a model needs it.
"""

import os
from collections.abc import Iterator, Mapping
from hashlib import file_digest
from pathlib import Path

import msgspec

from tapeline.backups import walking
from tapeline.runs.sandbox import foreign_files

SHOWN = 5
BYTES = "\0"  # begins no name


class Entry(msgspec.Struct, frozen=True, array_like=True):
    size: int
    sha256: str
    """Empty for a file that is mostly a hole: to read a terabyte of zeros takes hours."""


def of(folder: Path) -> dict[str, Entry]:
    return {_noted(str(path.relative_to(folder))): _entry(path) for path in _files(folder)}


def lost(folder: Path, listed: Mapping[str, Entry]) -> list[str]:
    """The names of those that are missing, or have another content."""
    found = {_read(name): entry for name, entry in sorted(listed.items())}
    return [name for name, entry in found.items() if not _is_there(folder / name, entry)]


def in_words(names: list[str]) -> str:
    more = len(names) - SHOWN
    shown = ", ".join(map(walking.shown, names[:SHOWN]))
    return shown + (f" and {more:,} more" if more > 0 else "")


def _files(folder: Path) -> Iterator[Path]:
    if (folder / "host").is_file():
        yield folder / "host"
    for top in ("keys", "state"):
        if (folder / top).is_dir():
            found = walking.entries(folder / top)
            yield from (Path(one.path) for one in found if one.is_file(follow_symlinks=False))


def _noted(name: str) -> str:
    """JSON has only Unicode, and a model may name a file by any bytes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return BYTES + os.fsencode(name).hex()
    return name


def _read(name: str) -> str:
    if name.startswith(BYTES):
        return os.fsdecode(bytes.fromhex(name.removeprefix(BYTES)))
    return name


def _entry(path: Path) -> Entry:
    found = path.stat()
    is_hole = found.st_blocks * 512 < found.st_size // 2
    return Entry(found.st_size, "" if is_hole else _digest(path))


def _is_there(path: Path, entry: Entry) -> bool:
    try:
        with foreign_files.really_opened(path) as file:
            if os.fstat(file.fileno()).st_size != entry.size:
                return False
    except (FileNotFoundError, NotADirectoryError, foreign_files.NotAFile):
        return False
    return not entry.sha256 or _digest(path) == entry.sha256


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
