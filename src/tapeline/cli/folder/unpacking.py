"""An archive becomes a folder: checked as the server checks it, whole or not at all."""

import shutil
import tempfile
from pathlib import Path

from tapeline import host_faults
from tapeline.cli.folder import manifest_file
from tapeline.cli.terminal.failures import Failure
from tapeline.errors import InvalidArchive
from tapeline.models.archives import archive


def unpack(content: bytes, folder: Path) -> list[str]:
    """The files of a model, in a new or an empty folder. The archive is not trusted."""
    _refuse_used(folder)
    folder = folder.resolve()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".tapeline-") as place:
            file, draft = Path(place) / "model.zip", Path(place) / "model"
            file.write_bytes(content)
            found = archive.check(file)
            archive.unpack(file, draft)
            _move(draft, folder)
    except InvalidArchive as error:
        raise Failure(f"The archive is damaged: {error.message}") from error
    except OSError as error:
        raise Failure(host_faults.cannot_write(folder, error)) from error
    return [one.path for one in found.entries if not one.is_folder]


def _refuse_used(folder: Path) -> None:
    if folder.is_dir() and manifest_file.find(folder) is not None:
        raise Failure(f"There is already a model in {folder.resolve()}. Choose another folder.")
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise Failure(f"{folder} exists and is not empty. Choose another folder.")


def _move(draft: Path, folder: Path) -> None:
    if not folder.exists():
        draft.rename(folder)
        return
    for one in draft.iterdir():
        shutil.move(one, folder / one.name)
