"""What the leading server has fetched: results of backtests from their nodes, and archives on their
way there. All of it can be fetched again, and nobody needs it when the server leads no more."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tapeline import private_files

FOLDER = "fetched"
RESULT = ".json"
UNUSED_FOR = 60.0  # seconds; a result is written and then read without a pause


class FetchedFiles:
    def __init__(self, folder: Path) -> None:
        """A process before this one may have been killed, and have left something."""
        folder.mkdir(mode=0o700, exist_ok=True)
        self._folder = folder
        self.clear()

    def clear(self) -> None:
        for one in self._folder.iterdir():
            private_files.discard(one)

    @contextmanager
    def archive(self, name: str) -> Iterator[Path]:
        """Where to put a copy of it."""
        copy = self._folder / f"{name}-{time.monotonic_ns()}"
        try:
            yield copy
        finally:
            private_files.discard(copy)

    def result(self, run_id: str) -> Path:
        return self._folder / f"{run_id}{RESULT}"

    def discard_result(self, run_id: str) -> None:
        private_files.discard(self.result(run_id))

    def unused_results(self) -> set[str]:
        """The runs whose results have lain here for a while."""
        found, before = set(), time.time() - UNUSED_FOR
        for one in self._folder.glob(f"*{RESULT}"):
            with suppress(FileNotFoundError):
                if one.stat().st_mtime < before:
                    found.add(one.name.removesuffix(RESULT))
        return found
