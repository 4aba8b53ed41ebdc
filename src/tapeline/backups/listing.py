"""The list of a backup's files that nothing else vouches for: keys, and the state of models.

The database is checked page by page, and archives are named by their content. A key or a state file
that was left behind by a copy would be missed only when a model needs it.
"""

import os
from collections.abc import Iterator, Mapping
from hashlib import file_digest
from pathlib import Path

import msgspec

from tapeline.runs.sandbox import foreign_files

SHOWN = 5


class Entry(msgspec.Struct, frozen=True, array_like=True):
    size: int
    sha256: str
    """Empty for a file that is mostly a hole: to read a terabyte of zeros takes hours."""


def of(folder: Path) -> dict[str, Entry]:
    return {str(path.relative_to(folder)): _entry(path) for path in _files(folder)}


def lost(folder: Path, listed: Mapping[str, Entry]) -> list[str]:
    """The names of those that are missing, or have another content."""
    return [name for name, entry in sorted(listed.items()) if not _is_there(folder / name, entry)]


def in_words(names: list[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _files(folder: Path) -> Iterator[Path]:
    if (folder / "host").is_file():
        yield folder / "host"
    for top in ("keys", "state"):
        for at, _, names in os.walk(folder / top):
            files = (Path(at) / name for name in names)
            yield from (one for one in files if one.is_file() and not one.is_symlink())


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
