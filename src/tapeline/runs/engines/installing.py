"""Makes a model's environment: the boxes of the installer run one after the other, like any run."""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tapeline import private_files
from tapeline.background import Background
from tapeline.errors import (
    CannotInstall,
    CannotLaunch,
    CannotLaunchNow,
    CannotPrepareNow,
    Problem,
)
from tapeline.polling import poll
from tapeline.runs.engines import shims
from tapeline.runs.engines.engine import Progress
from tapeline.runs.environments.cache import NO_ROOM, TRY_NEXT, Environment, Environments, Wanted
from tapeline.runs.journals import journal
from tapeline.runs.journals.records import Record
from tapeline.runs.sandbox import foreign_files
from tapeline.runs.sandbox.box import Box, Launch, Policy

LOOK_EVERY = 0.02
LONGEST_END = 20.0  # seconds: killing and removing what is left
STOPPED = "The installation was stopped."
SUFFIX = "-install"
BYTECODE = "-bytecode"


class NoProgress:
    """For installations whose progress nobody follows."""

    def is_cancelled(self) -> bool:
        return False

    def installing(self) -> None: ...

    def lines(self, records: list[Record]) -> None: ...


class Installing:
    """Called from threads: one installation per request at a time, different ones in parallel."""

    def __init__(
        self,
        runs: Path,
        environments: Environments,
        background: Background,
        *,
        minutes: int,
        unsafe: bool,
    ) -> None:
        self._runs = runs
        self._environments = environments
        self._background = background
        self._minutes = minutes
        self._unsafe = unsafe
        self._without_bytecode: set[str] = set()
        self._requests: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._closing = threading.Event()
        self._running: set[str] = set()

    def environment(self, wanted: Wanted, run_id: str, progress: Progress) -> Environment:
        """The existing environment, or a new one."""
        found = self._environments.find(wanted)
        if found is not None:
            return found
        progress.installing()
        with self._only_one(wanted, progress):
            # Another thread may have made it while we waited.
            return self._environments.find(wanted) or self._make(wanted, run_id, progress)

    def close(self) -> None:
        """End everything that runs here; returns when its processes are gone."""
        self._closing.set()
        poll(lambda: not self._running, within=LONGEST_END, every=LOOK_EVERY)

    def write_bytecode(self, wanted: Wanted, environment: Environment) -> None:
        """For an environment that was just made. Returns at once: the model need not wait for
        bytecode, which only makes its next start quicker."""
        if environment.key in self._without_bytecode:
            self._without_bytecode.discard(environment.key)
            write = partial(self._write_bytecode, wanted, environment)
            if not self._background.begin_in_thread("bytecode", write, environment.key):
                self._without_bytecode.add(environment.key)  # the next start tries again

    def _write_bytecode(self, wanted: Wanted, environment: Environment) -> None:
        name = f"{environment.key}{BYTECODE}"
        box = self._environments.bytecode_step(wanted, environment)
        try:
            self._run(box, name, NoProgress(), deque(maxlen=1))
        finally:
            foreign_files.discard(self._runs / name)

    @contextmanager
    def _only_one(self, wanted: Wanted, progress: Progress) -> Iterator[None]:
        lock = self._requests[wanted.request]
        while not lock.acquire(timeout=0.1):
            if self._has_to_end(progress):
                raise self._ended()
        try:
            yield
        finally:
            lock.release()

    def _has_to_end(self, progress: Progress) -> bool:
        return self._closing.is_set() or progress.is_cancelled()

    def _ended(self) -> Problem:
        """Only what somebody has cancelled is final."""
        if self._closing.is_set():
            return CannotPrepareNow("The server is stopping.")
        return CannotInstall(STOPPED)

    def _make(self, wanted: Wanted, run_id: str, progress: Progress) -> Environment:
        name = f"{run_id}{SUFFIX}"
        # install.py ends with the sentence that says what failed; what came before is in the log.
        said: deque[str] = deque(maxlen=1)
        try:
            for box in self._environments.steps(wanted, name, bytecode=False):
                exit_code = self._run(box, name, progress, said)
                if self._has_to_end(progress):
                    raise self._ended()
                if exit_code == 0:
                    made = self._environments.accept(wanted, name)
                    self._without_bytecode.add(made.key)
                    return made
                if exit_code == NO_ROOM:
                    raise CannotPrepareNow(said[-1])
                if exit_code != TRY_NEXT:
                    break
        finally:
            self._environments.discard(name)
            foreign_files.discard(self._runs / name)
        raise CannotInstall(said[-1] if said else "The installation failed without a message.")

    def _run(self, box: Box, name: str, progress: Progress, said: deque[str]) -> int | None:
        """Its exit status; None when there is none."""
        # In this order: `close` either finds it here or keeps it from being launched.
        self._running.add(name)
        try:
            if self._has_to_end(progress):
                return None
            return self._launched(box, name, progress, said)
        finally:
            self._running.discard(name)

    def _launched(self, box: Box, name: str, progress: Progress, said: deque[str]) -> int | None:
        folder, lock = self._runs / name, self._runs / "locks" / name
        foreign_files.discard(folder)
        folder.mkdir(mode=0o700)
        policy = Policy(restart=False, grace=1.0, time_limit=self._minutes * 60.0)
        spec = Launch(
            name=name,
            folder=str(folder),
            lock=str(lock),
            runs=str(self._runs),
            box=box,
            masked=[],
            policy=policy,
            unsafe=self._unsafe,
        )
        try:
            shims.launch(spec)
        except CannotLaunchNow as error:
            raise CannotPrepareNow(error.message) from error
        except CannotLaunch as error:
            raise CannotInstall(
                f"The installation could not be started: {error.message}"
            ) from error
        try:
            end = self._follow(folder, lock, progress, said)
            return _exit_code(end, box, said)
        finally:
            shims.wait_free(lock, 5.0)
            private_files.discard(lock)

    def _follow(
        self, folder: Path, lock: Path, progress: Progress, said: deque[str]
    ) -> dict[str, Any] | None:
        """How it ended; None when its shim was killed, by us or from outside."""
        offset, held = 0, True
        while True:
            if self._has_to_end(progress):
                shims.kill(folder, lock)
                return None
            chunk = journal.read(folder, offset)
            offset = chunk.offset
            lines = [one for one in chunk.records if one.kind != "state"]
            said.extend(one.text for one in lines if one.text.strip())
            if lines:
                progress.lines(lines)
            if (end := _end(chunk.records)) is not None:
                return end.state or {}
            if not chunk.records:
                if not held:
                    return None
                held = shims.is_held(lock)
                time.sleep(LOOK_EVERY)


def _end(records: list[Record]) -> Record | None:
    return next((one for one in records if one.state and one.state["event"] == "finished"), None)


def _exit_code(end: dict[str, Any] | None, box: Box, said: deque[str]) -> int | None:
    """None when there is none; then the last line says why."""
    code = None if end is None else end.get("exit_code")
    if end is None:
        said.append("The installation was killed from outside.")
    elif end.get("outcome") == "stopped":
        said.append(STOPPED)
        return None
    elif end.get("outcome") == "not_started":
        said.append(str(end.get("reason")))
    elif end.get("cause") == "out_of_memory":
        most = f"{box.memory_mb:,} MB (setting install_memory)"
        said.append(f"The installation used more memory than it may: {most}.")
    elif end.get("cause") == "time_limit":
        said.append("The installation took longer than it may (setting install_minutes).")
    elif end.get("cause") == "disk_full":
        said.append(
            f"The installation used more disk space than it may ({box.disk_mb:,} MB), or its"
            " folders are nested too deep."
        )
    elif end.get("cause") == "signal":
        said.append(f"The installation was ended by signal {end.get('signal')}.")
    return code if isinstance(code, int) else None
