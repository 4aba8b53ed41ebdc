"""The archives of models that servers have handed to this node, each under the hash of its content.

Called from threads. Several may hand over the same archive at the same time, in pieces: a server
and the one that leads after it, for example.
"""

import hashlib
import os
import threading
from pathlib import Path

from tapeline import private_files
from tapeline.runs.node.frames import NodeFailed, Piece


class Archives:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700, exist_ok=True)
        self._finishing = threading.Lock()
        self._checked: dict[str, tuple[int, ...]] = {}
        """By name, the file that has been read and was whole."""

    def has(self, name: str) -> bool:
        """Whether it is here, as it was sent. A damaged one is sent again and replaced."""
        try:
            found = (self.folder / name).stat()
        except FileNotFoundError:
            return False
        file = (found.st_ino, found.st_size, found.st_mtime_ns)
        if self._checked.get(name) != file:
            if not _is_whole(self.folder / name, name):
                return False
            self._checked[name] = file
        return True

    def take(self, name: str, piece: Piece) -> bool:
        """Whether the archive is here now."""
        draft = self.folder / f".{name}"
        # Nobody empties it: all write the same bytes at the same places.
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.seek(piece.offset)
            file.write(piece.content)
        return piece.is_last and self._finish(draft, name)

    def _finish(self, draft: Path, name: str) -> bool:
        with self._finishing:
            if draft.exists() and _is_whole(draft, name):
                private_files.sync(draft)
                draft.rename(self.folder / name)
            else:  # damaged; or another has finished it, and this one wrote the rest alone
                private_files.discard(draft)
            if not self.has(name):
                raise NodeFailed("An archive did not arrive whole.")
        return True


def _is_whole(file: Path, name: str) -> bool:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest() == name
