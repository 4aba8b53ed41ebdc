"""Versions on this host's disk: unpacked once, and copied for each run to write to."""

import os
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tapeline import deep_folders
from tapeline.ids import new_id
from tapeline.logs import Log
from tapeline.models.archives import archive
from tapeline.runs.sandbox import foreign_files
from tapeline.store.blobs import Blobs

log = Log(__name__)

UNUSED_FOR = 7 * 24 * 3600.0
MOST = 5_000_000_000
"""Bytes of folders that nobody uses now: an archive may hold two hundred times its size."""


class Unpacked:
    """Called from threads; one per data directory."""

    def __init__(self, folder: Path, blobs: Blobs, most: int = MOST) -> None:
        self._folder = folder
        self._blobs = blobs
        self._most = most
        self._turn = threading.Lock()  # for what takes no time
        self._locks: dict[str, threading.Lock] = {}
        self._users: Counter[str] = Counter()
        self._sizes: dict[str, int] = {}

    def start(self) -> None:
        """Delete unfinished folders of a crash, and folders that were not used for long."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for one in self._folder.iterdir():
            is_old = time.time() - one.stat().st_mtime > UNUSED_FOR
            if is_old or one.name.startswith("."):
                foreign_files.discard(one)

    @contextmanager
    def model(self, name: str) -> Iterator[Path]:
        """The folder `model/` of an archive, which stays as long as it is used. Never write to it.

        Whoever needs another archive does not wait for this one.
        """
        target = self._folder / name
        with self._turn:
            lock = self._locks.setdefault(name, threading.Lock())
            self._users[name] += 1
        try:
            with lock:  # two runs of one version would unpack it twice
                if not target.exists():
                    self._unpack(name, target)
                os.utime(target)
            yield target
        finally:
            with self._turn:
                self._users[name] -= 1
                if not self._users[name]:
                    del self._users[name], self._locks[name]
            try:
                self._make_room()
            except OSError as error:  # the next one tries again; this run need not fail for it
                log.warning("unpacked_versions_not_cleared", why=str(error))

    def _unpack(self, name: str, target: Path) -> None:
        with tempfile.TemporaryDirectory(prefix=".", dir=self._folder) as made:
            zipped = Path(made) / "zip"
            self._blobs.fetch(name, zipped)
            archive.unpack(zipped, Path(made) / "model")
            (Path(made) / "model").rename(target)

    def _make_room(self) -> None:
        """Those go first that were not used for longest."""
        kept = [one for one in self._folder.iterdir() if not one.name.startswith(".")]
        self._sizes = sizes = {one.name: self._size(one) for one in kept}
        total = sum(sizes.values())
        for one in sorted(kept, key=_used_at):
            if total <= self._most:
                return
            gone = self._taken_away(one)
            if gone is not None:
                total -= sizes[one.name]
                foreign_files.discard(gone)

    def _size(self, one: Path) -> int:
        """Measured once: nobody writes to it."""
        known = self._sizes.get(one.name)
        return deep_folders.size(one) if known is None else known

    def _taken_away(self, one: Path) -> Path | None:
        """Under a name that nobody asks for; None while somebody uses it."""
        gone = self._folder / f".{new_id()}"
        with self._turn:
            if self._users[one.name]:
                return None
            try:
                one.rename(gone)
            except FileNotFoundError:  # its model was deleted
                return None
        return gone


def _used_at(one: Path) -> float:
    try:
        return one.stat().st_mtime
    except FileNotFoundError:
        return 0.0


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
