"""A model's folder as an archive: the same folder gives the same bytes, whoever packs it."""

import fnmatch
import hashlib
import os
import posixpath
import stat
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tapeline.cli.folder.ignoring import Ignored
from tapeline.cli.folder.manifest_file import ManifestFile
from tapeline.cli.terminal.failures import Failure
from tapeline.models.archives import contents

# Files of development, not of the model. `.env` usually holds secrets.
IGNORED = (
    ".git", ".hg", ".svn", "__pycache__", "*.pyc", ".venv", "venv", "node_modules", ".idea",
    ".vscode", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints", ".tox",
    ".nox", ".DS_Store", "Thumbs.db", ".env", ".env.*", "*.tape.ndjson", "*.record.ndjson",
)  # fmt: skip
ROOT = "model"
MOMENT = (2020, 1, 1, 0, 0, 0)  # the time a file was written is not part of a model
IN_MEMORY = 20_000_000


@dataclass(frozen=True)
class Listing:
    """The files of a model's folder that are uploaded, and those that are left out."""

    files: dict[str, Path]
    """By their path inside the model, in order."""
    left_out: list[str]
    """Files left out although `ignore_files` does not name them, to report."""

    def content(self) -> str:
        """The digest by which the server recognizes a version with the same files."""
        return contents.digest({path: _hashed(path, file) for path, file in self.files.items()})

    def largest(self, count: int) -> list[tuple[str, int]]:
        sizes = [(path, file.stat().st_size) for path, file in self.files.items()]
        return sorted(sizes, key=lambda one: -one[1])[:count]


@dataclass(frozen=True)
class Packed:
    content: IO[bytes]
    size: int


def listed(folder: Path, manifest: ManifestFile) -> Listing:
    left_out: list[str] = []
    files = dict(_files(folder, _asked(manifest), Ignored(folder), left_out))
    _require_named(folder, manifest, files)
    return Listing(files, left_out)


@contextmanager
def pack(listing: Listing) -> Iterator[Packed]:
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as content:
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, file in listing.files.items():
                _add(archive, path, file)
        size = content.tell()
        content.seek(0)
        yield Packed(content, size)


def _require_named(folder: Path, manifest: ManifestFile, files: Mapping[str, Path]) -> None:
    """A file that the manifest names must not be ignored: the server would say it is missing."""
    where = str(manifest.values.get("working_directory") or ".")
    for key in ("main_script", "requirements"):
        name = manifest.values.get(key)
        path = posixpath.normpath(posixpath.join(where, name)) if isinstance(name, str) else ""
        if path and path not in files and (folder / path).is_file():
            raise Failure(
                f"{manifest.file.name} names {path} as `{key}`, but it is left out of the upload."
                f" Add a line !{path} to .tapelineignore, or take it out of `ignore_files`."
            )


def _hashed(path: str, file: Path) -> contents.File:
    try:
        content = file.read_bytes() if contents.is_manifest(path) else None
        if content is not None:
            return contents.File(contents.hash_of_manifest(content), _is_executable(file))
        with file.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
        return contents.File(found, _is_executable(file))
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}.") from error


def _is_executable(file: Path) -> bool:
    return bool(file.stat().st_mode & stat.S_IXUSR)


def _add(archive: zipfile.ZipFile, path: str, file: Path) -> None:
    entry = zipfile.ZipInfo(f"{ROOT}/{path}", MOMENT)
    entry.external_attr = (0o100755 if _is_executable(file) else 0o100644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3  # Unix, whichever system packs it
    try:
        with file.open("rb") as source, archive.open(entry, "w") as target:
            while piece := source.read(1 << 16):
                target.write(piece)
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}.") from error


def _files(
    folder: Path, asked: Sequence[str], ignored: Ignored, left_out: list[str]
) -> Iterator[tuple[str, Path]]:
    for where, folders, names in os.walk(folder):
        here = Path(where)
        inside = here.relative_to(folder)
        folders[:] = [
            name
            for name in sorted(folders)
            if _is_entered(here / name, (inside / name).as_posix(), asked, ignored, left_out)
        ]
        for name in sorted(names):
            path = (inside / name).as_posix()
            if _is_asked(path, asked):
                continue
            if is_left_out(name) or ignored.by(path, is_folder=False):
                left_out.append(path)
            elif not (here / name).is_file():
                raise Failure(f"{path} is not a plain file. Name it in .tapelineignore")
            else:
                yield path, here / name


def _is_entered(
    folder: Path, path: str, asked: Sequence[str], ignored: Ignored, left_out: list[str]
) -> bool:
    if _is_asked(path, asked):
        return False
    usual = is_left_out(folder.name) or (folder / "pyvenv.cfg").exists()
    if usual or ignored.by(path, is_folder=True):
        left_out.append(f"{path}/")
        return False
    if folder.is_symlink():
        raise Failure(
            f"{path} is a link to a folder, which cannot be packed."
            " Put the folder itself there, or name it in .tapelineignore"
        )
    return True


def holds(folder: Path, manifest: ManifestFile, opened: os.stat_result) -> str | None:
    """The path of an open file in what would be packed of a folder; None when it is not there."""
    for path, file in listed(folder, manifest).files.items():
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
