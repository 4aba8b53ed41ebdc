"""Engines as the contract tests need them. A new engine joins with a maker in `MAKERS`."""

import hashlib
import os
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from tapeline.background import Background
from tapeline.models.archives.manifest import Manifest
from tapeline.models.versions import Version
from tapeline.runs.engines import host_check as hosts
from tapeline.runs.engines.engine import Engine, Job, LaunchSecrets, Sight
from tapeline.runs.engines.local import LocalEngine
from tapeline.runs.engines.making import INSTALLER_UID
from tapeline.runs.engines.runtime_files import folders
from tapeline.runs.environments import interpreters
from tapeline.runs.environments.cache import Environments
from tapeline.runs.environments.install_boxes import Installer
from tapeline.runs.journals.journal import Chunk
from tapeline.runs.journals.records import Record
from tapeline.runs.run import Run
from tapeline.settings import Settings
from tapeline.store.blobs import Blobs
from tests.acceptance.traders import pythons
from tests.archives import zipped
from tests.runs.engines.node_place import Node
from tests.runs.supervision.histories import a_run

GIVEN = LaunchSecrets("key", "pass-of-the-key", {"TOKEN": "a-secret-value"})
FOREVER = "import time\nprint('here')\nwhile True: time.sleep(0.05)\n"
PATIENCE = 60.0  # seconds
NUMBERS = count(1)
"""Of models, runs and archives: a place may be that of several tests."""


class Place(Protocol):
    """Where an engine has its runs."""

    data: Path
    """The data directory of the host that runs them."""
    blobs: Blobs

    def engine(self) -> Engine:
        """A new one each time, as after a restart of the server: runs live on."""
        ...

    def close(self) -> None: ...


class Local:
    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.data.mkdir(mode=0o700)
        self.blobs = Blobs(self.data / "blobs")
        self._settings = Settings(data=self.data, stop_seconds=1)
        self._host = hosts.examine(self._settings)
        assert self._host.sandboxed, self._host.problems

    def engine(self, *, is_alone: bool = False) -> LocalEngine:
        uid = INSTALLER_UID if self._host.is_root else None
        installer = Installer(runtime=folders()[0], uid=uid)
        found = interpreters.discover(
            memory=None, extra=[Path(one.path) for one in pythons()], path=[], home=Path("/nowhere")
        )
        engine = LocalEngine(
            self._settings,
            self.blobs,
            found,
            Environments(self.data / "environments", installer=installer),
            "host",
            self._host.confinement(),
            Background(),
            is_alone=is_alone,
        )
        engine.begin(8700)
        return engine

    def close(self) -> None: ...


MAKERS: dict[str, Callable[[Path], Place]] = {"local": Local, "node": Node}
SHARED = {"node"}
"""Those whose place takes long to make: all tests of a module have the same."""


class Listener:
    def __init__(self) -> None:
        self.times_told = 0
        self.said: list[str] = []
        self.cancelled = False

    def is_cancelled(self) -> bool:
        return self.cancelled

    def installing(self) -> None:
        self.times_told += 1

    def lines(self, records: list[Record]) -> None:
        self.said += [one.text for one in records]


class Bench:
    """An engine and the archives it knows."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.place = place
        self.engine = place.engine()
        self._folder = folder
        self._jobs: list[Job] = []

    def restart(self) -> None:
        """All that the engine had in memory is gone."""
        self.engine.close()
        self.engine = self.place.engine()

    def job(self, main: str, files: dict[str, str | bytes] | None = None, **more: Any) -> Job:
        number = next(NUMBERS)
        manifest = more.pop("manifest", {})
        archive = self._folder / f"{number}.zip"
        archive.write_bytes(zipped({"main.py": main, **(files or {})}, **manifest))
        name = hashlib.sha256(archive.read_bytes()).hexdigest()
        self.place.blobs.put(name, archive)
        version = Version(
            id="v", model_id="m", number=1, description="", archive=name, size=1,
            manifest=Manifest(main_script="main.py", **manifest), plan="nano",
            python_version=pythons()[0].version, created_at=0.0, created_by="ada",
        )  # fmt: skip
        values: dict[str, Any] = {
            "model": f"m{number}",
            "python_version": version.python_version,
            "fence": 1,
            "host": self.host,
        }
        run = a_run(f"r{number}x{os.getpid()}", **values | more)
        self._jobs.append(Job(run, version, "p", number))
        return self._jobs[-1]

    def with_package(self, main: str, requirement: str) -> Job:
        named = "requirements.txt"
        return self.job(main, {named: f"{requirement}\n"}, manifest={"requirements": named})

    @property
    def host(self) -> str:
        """The first, where a test does not care."""
        return sorted(self.engine.hosts())[0]

    def started(self, main: str, **more: Any) -> Run:
        job = self.job(main, **more)
        self.start(job)
        return job.run

    def start(self, job: Job) -> None:
        self.engine.prepare(job, Listener())
        self.engine.start(job, GIVEN)

    def journal(self, run: Run, until: str = "finished") -> list[Record]:
        """All it says, until a line or a state says this."""
        return [one for chunk in self.chunks(run, until) for one in chunk.records]

    def chunks(self, run: Run, until: str = "finished") -> list[Chunk]:
        found: list[Chunk] = []
        offset, deadline = 0, time.monotonic() + PATIENCE
        while not found or not any(map(_says(until), found[-1].records)):
            assert time.monotonic() < deadline, found
            chunk = self.engine.read(run, offset, 1_000_000)
            offset = chunk.offset
            if chunk.records:
                found.append(chunk)
            else:
                time.sleep(0.01)
        return found

    def sight(self, run: Run, *, closely: bool = False) -> Sight:
        found = self.engine.look([run], closely=closely)
        assert not found.unknown
        return found.of[run.id]

    def wait_until_gone(self, run: Run) -> None:
        deadline = time.monotonic() + PATIENCE
        while self.sight(run).alive:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def close(self) -> None:
        for job in self._jobs:
            if job.run.host is not None:
                self.engine.stop(job.run, now=True)
                self.engine.clear(job.run.host, job.run.id)
        self.engine.close()


def _says(until: str) -> Callable[[Record], bool]:
    return lambda one: until in one.text or (one.state or {}).get("event") == until
