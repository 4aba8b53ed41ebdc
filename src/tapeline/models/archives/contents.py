"""What a model's folder holds, as one digest.

The same files have the same digest, however they were packed and whichever model they became. The
command computes it of a folder, the server of an archive, so that an unchanged folder is not
uploaded twice.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tapeline.models.archives.manifest import NAMES

# Ids that deploying writes into the manifest; they say nothing about the model itself.
MEMORIES = ("model_id", "project_id")


@dataclass(frozen=True)
class File:
    sha256: str
    is_executable: bool


def digest(files: Mapping[str, File], empty_folders: Iterable[str] = ()) -> str:
    whole = hashlib.sha256()
    for path in sorted(files):
        mode = "x" if files[path].is_executable else "-"
        whole.update(f"{mode} {files[path].sha256} {json.dumps(path)}\n".encode())
    for path in sorted(empty_folders):
        whole.update(f"d {json.dumps(path)}\n".encode())
    return whole.hexdigest()


def hash_of_manifest(content: bytes) -> str:
    """Of the manifest's meaning, not its formatting, and without the ids that deploying writes into
    it."""
    try:
        said = json.loads(content.decode("utf-8-sig"))
    except ValueError:
        return hashlib.sha256(content).hexdigest()
    if isinstance(said, dict):
        said = {key: value for key, value in said.items() if key not in MEMORIES}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def is_manifest(path: str) -> bool:
    return path in NAMES
