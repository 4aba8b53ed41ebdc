"""What the leading server has fetched: results of backtests from their nodes, and archives on their
way there. All of it can be fetched again, and nobody needs it when the server leads no more."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tapeline import private_files

FOLDER = "fetched"
RESULT = ".json"
UNUSED_FOR = 60.0  # seconds; a result is written and then read without a pause


class FetchedFiles:
    def __init__(self, folder: Path, now: Callable[[], float] = time.monotonic) -> None:
        """A process before this one may have been killed, and have left something."""
        folder.mkdir(mode=0o700, exist_ok=True)
        self._folder, self._now = folder, now
        self._seen: dict[str, float] = {}
        """Results, and when somebody looked for unused ones and first found them."""
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
        now = self._now()
        here = {one.name.removesuffix(RESULT) for one in self._folder.glob(f"*{RESULT}")}
        self._seen = {run_id: self._seen.get(run_id, now) for run_id in here}
        return {run_id for run_id, since in self._seen.items() if now - since >= UNUSED_FOR}
