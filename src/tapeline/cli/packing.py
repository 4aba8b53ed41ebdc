"""A model's folder as an archive: the same folder gives the same bytes, whoever packs it."""

import fnmatch
import os
import stat
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tapeline.cli.failures import Failure
from tapeline.cli.manifest_file import ManifestFile

# What belongs to the work on a model and not to the model. `.env` holds secrets as a rule.
IGNORED = (
    ".git", ".hg", ".svn", "__pycache__", "*.pyc", ".venv", "venv", "node_modules", ".idea",
    ".vscode", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints", ".tox",
    ".nox", ".DS_Store", "Thumbs.db", ".env", ".env.*", "*.tape.ndjson", "*.record.ndjson",
)  # fmt: skip
ROOT = "model"
MOMENT = (2020, 1, 1, 0, 0, 0)  # the time a file was written is no part of a model
IN_MEMORY = 20_000_000


@dataclass(frozen=True)
class Packed:
    content: IO[bytes]
    size: int
    files: int
    left_out: list[str]
    """What was left out although nobody asked for it: worth a word."""


@contextmanager
def pack(folder: Path, manifest: ManifestFile) -> Iterator[Packed]:
    asked = _asked(manifest)
    left_out: list[str] = []
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as content:
        count = 0
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, file in _files(folder, asked, left_out):
                _add(archive, path, file)
                count += 1
        size = content.tell()
        content.seek(0)
        yield Packed(content, size, count, left_out)


def _add(archive: zipfile.ZipFile, path: str, file: Path) -> None:
    entry = zipfile.ZipInfo(f"{ROOT}/{path}", MOMENT)
    executable = file.stat().st_mode & stat.S_IXUSR
    entry.external_attr = (0o100755 if executable else 0o100644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3  # Unix, on whatever it is packed
    try:
        with file.open("rb") as source, archive.open(entry, "w") as target:
            while piece := source.read(1 << 16):
                target.write(piece)
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}.") from error


def _files(folder: Path, asked: Sequence[str], left_out: list[str]) -> Iterator[tuple[str, Path]]:
    for where, folders, names in os.walk(folder):
        here = Path(where).relative_to(folder)
        kept = []
        for name in sorted(folders):
            path = (here / name).as_posix()
            if _is_asked(path, asked):
                continue
            if is_left_out(name) or (Path(where) / name / "pyvenv.cfg").exists():
                left_out.append(f"{path}/")
            elif (Path(where) / name).is_symlink():
                raise Failure(
                    f"{path} is a link to a folder, which cannot be packed."
                    " Put the folder itself there, or name it in `ignore_files`."
                )
            else:
                kept.append(name)
        folders[:] = kept
        for name in sorted(names):
            path = (here / name).as_posix()
            if _is_asked(path, asked):
                continue
            if is_left_out(name):
                left_out.append(path)
            elif not (Path(where) / name).is_file():
                raise Failure(f"{path} is no plain file. Name it in `ignore_files`.")
            else:
                yield path, Path(where) / name


def holds(folder: Path, manifest: ManifestFile, opened: os.stat_result) -> str | None:
    """The path of an open file in what would be packed of a folder; None when it is not there."""
    for path, file in _files(folder, _asked(manifest), []):
        if os.path.samestat(file.stat(), opened):
            return path
    return None


def _asked(manifest: ManifestFile) -> list[str]:
    asked = manifest.values.get("ignore_files") or []
    if not isinstance(asked, list) or not all(isinstance(one, str) for one in asked):
        raise Failure(f"`ignore_files` in {manifest.file.name} must be a list of texts.")
    return asked


def is_left_out(name: str) -> bool:
    """Whether a file or folder of this name never becomes part of a model."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in IGNORED)


def _is_asked(path: str, patterns: Sequence[str]) -> bool:
    """A pattern without a slash means a name anywhere, with one a path from the model's folder."""
    name = path.rpartition("/")[2]
    for pattern in patterns:
        wanted = pattern.strip().removeprefix("./").rstrip("/")
        if not wanted:
            continue
        anchored = "/" in wanted
        if fnmatch.fnmatchcase(path if anchored else name, wanted.lstrip("/")):
            return True
    return False
