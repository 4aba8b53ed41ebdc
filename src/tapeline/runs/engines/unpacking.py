"""Versions on this host's disk: unpacked once, and copied for each run to write to."""

import os
import shutil
import tempfile
import threading
import time
from pathlib import Path

from tapeline.models.archives import archive
from tapeline.runs.sandbox import foreign_files
from tapeline.store.blobs import Blobs

UNUSED_FOR = 7 * 24 * 3600.0


class Unpacked:
    """Called from threads; one per data directory."""

    def __init__(self, folder: Path, blobs: Blobs) -> None:
        self._folder = folder
        self._blobs = blobs
        self._lock = threading.Lock()

    def start(self) -> None:
        """Delete unfinished folders of a crash, and folders that were not used for long."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for one in self._folder.iterdir():
            is_old = time.time() - one.stat().st_mtime > UNUSED_FOR
            if is_old or one.name.startswith("."):
                foreign_files.discard(one)

    def model(self, name: str) -> Path:
        """The folder `model/` of an archive. Never write to it."""
        target = self._folder / name
        with self._lock:  # two runs of one version would unpack it twice
            if not target.exists():
                self._unpack(name, target)
            os.utime(target)
        return target

    def _unpack(self, name: str, target: Path) -> None:
        with tempfile.TemporaryDirectory(prefix=".", dir=self._folder) as made:
            zipped = Path(made) / "zip"
            self._blobs.fetch(name, zipped)
            archive.unpack(zipped, Path(made) / "model")
            (Path(made) / "model").rename(target)


def copy(source: Path, target: Path, uid: int | None) -> None:
    """The run's own copy, owned by the user it runs as."""
    waiting = [(source, target)]  # no recursion: an archive may have hundreds of levels
    while waiting:
        original, made = waiting.pop()
        made.mkdir(mode=0o755)
        made.chmod(0o755)
        with os.scandir(original) as entries:
            for entry in entries:
                copied = made / entry.name
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((Path(entry.path), copied))
                else:
                    shutil.copyfile(entry.path, copied)
                    copied.chmod(entry.stat().st_mode & 0o777)
                    _own(copied, uid)
        _own(made, uid)


def writable(path: Path, uid: int | None) -> Path:
    """A folder for the run to write in, whatever the umask says."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    _own(path, uid)
    return path


def _own(path: Path, uid: int | None) -> None:
    if uid is not None:
        os.chown(path, uid, uid)
