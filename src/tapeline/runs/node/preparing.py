"""Preparations under way on a node. The server asks how far each is; a thread does the work."""

import threading
from collections.abc import Callable

from tapeline.errors import Problem
from tapeline.runs.engines.engine import Job, Prepared, Progress
from tapeline.runs.journals.records import Record
from tapeline.runs.node.frames import NodeFailed, Preparing

Prepare = Callable[[Job, Progress], Prepared]


class Preparation:
    """The progress of one, as the engine reports it and the server reads it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: list[Record] = []
        self._is_installing = self._is_cancelled = False
        self._done: Prepared | Problem | None = None

    # What the engine calls

    def is_cancelled(self) -> bool:
        return self._is_cancelled

    def installing(self) -> None:
        self._is_installing = True

    def lines(self, records: list[Record]) -> None:
        with self._lock:
            self._lines += records

    # What the server asks

    def cancel(self) -> None:
        self._is_cancelled = True

    def carry_out(self, prepare: Prepare, job: Job) -> None:
        try:
            self._done = prepare(job, self)
        except Problem as error:
            self._done = error
        except Exception as error:  # noqa: BLE001 - the server is told, and tries again
            self._done = NodeFailed(f"{type(error).__name__}: {error}")

    def state(self) -> Preparing:
        """The lines since the last time; a failure is raised once they have been read."""
        done = self._done
        with self._lock:
            lines, self._lines = self._lines, []
        if lines or done is None:
            return Preparing(self._is_installing, lines)
        if isinstance(done, Problem):
            raise done
        return Preparing(self._is_installing, [], done.lock, done.confinement)


class Preparations:
    def __init__(self) -> None:
        self._under_way: dict[str, Preparation] = {}

    def begin(self, prepare: Prepare, job: Job) -> None:
        """Or go on with the one that is under way: the server may have been replaced."""
        run_id = job.run.id
        if run_id in self._under_way:
            return
        made = self._under_way[run_id] = Preparation()
        name, work = f"preparing {run_id}", (prepare, job)
        thread = threading.Thread(target=made.carry_out, args=work, name=name, daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # the machine has no room for a thread
            self.forget(run_id)
            raise NodeFailed(f"The node could not begin an installation: {error}.") from error

    def state(self, run_id: str) -> Preparing:
        if (found := self._under_way.get(run_id)) is None:
            raise NodeFailed("The node was started anew meanwhile.")
        try:
            said = found.state()
        except Problem:
            self.forget(run_id)
            raise
        if said.lock is not None:
            self.forget(run_id)
        return said

    def cancel(self, run_id: str) -> None:
        if found := self._under_way.get(run_id):
            found.cancel()

    def forget(self, run_id: str) -> None:
        self._under_way.pop(run_id, None)
