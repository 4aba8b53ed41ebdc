"""Runs models on this machine: each in its own sandbox under its own shim."""

import errno
import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from tapeline import host_faults
from tapeline.background import Background
from tapeline.errors import (
    CannotInstall,
    CannotLaunch,
    CannotLaunchNow,
    CannotPrepareNow,
    Problem,
    UnreadableJournal,
)
from tapeline.logs import Log
from tapeline.models import plans
from tapeline.runs.engines import model_files, older_hosts, run_box, runtime_files, shims, unpacking
from tapeline.runs.engines.backtest_output import read_output
from tapeline.runs.engines.engine import (
    Job,
    LaunchSecrets,
    NeedsInstalling,
    Prepared,
    Progress,
    Sight,
    Sights,
)
from tapeline.runs.engines.installing import Installing
from tapeline.runs.engines.run_box import Places
from tapeline.runs.engines.shim_spawner import SHIM_SPAWNER
from tapeline.runs.engines.unpacking import Unpacked
from tapeline.runs.environments.cache import Environment, Environments, Wanted
from tapeline.runs.environments.interpreters import Found
from tapeline.runs.journals import journal
from tapeline.runs.journals.journal import Chunk
from tapeline.runs.run import Run
from tapeline.runs.sandbox import cgroups, foreign_files, ownership
from tapeline.runs.sandbox.box import Launch, LeaseTerms, Policy
from tapeline.runs.sandbox.cgroups import Usage
from tapeline.runs.shim.running import DISK
from tapeline.settings import Settings
from tapeline.store.blobs import Blobs

log = Log(__name__)

READ_AT_ONCE = 1_000_000  # bytes of a journal
# Shims ring a bell when their journals grow, so these are looked at only now and then.
JOURNALS_EVERY = 10.0  # seconds
# A full disk, too many open files, a folder that is missing for a moment: not the model's fault.
PASSING = {
    errno.EACCES, errno.EAGAIN, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM,
    errno.ENOSPC, errno.ENOTDIR, errno.EROFS,
}  # fmt: skip


class LocalEngine:
    def __init__(
        self,
        settings: Settings,
        blobs: Blobs,
        interpreters: Found,
        environments: Environments,
        host: str,
        confinement: str,
        background: Background,
        *,
        is_alone: bool = True,
    ) -> None:
        """`is_alone`: no other host could take a run whose Python is not here."""
        self.folder = settings.data / "runs"
        self.host = host
        self._confinement = confinement
        self._is_alone = is_alone
        self.lease: Callable[[Run], LeaseTerms | None] = lambda _run: None
        """For how long a launch may live unless it is renewed; on a server's own machine, for
        ever."""
        self._journals_at = -JOURNALS_EVERY
        self._settings = settings
        self.interpreters = interpreters
        """Replaced on a node, which looks for them from time to time."""
        self._environments = environments
        self._unpacked = Unpacked(settings.data / "versions", blobs)
        self._installing = Installing(
            self.folder,
            environments,
            background,
            minutes=settings.install_minutes,
            unsafe=settings.unsafe_no_sandbox,
        )
        self._prepared: dict[str, Environment] = {}
        self._wanted: dict[str, Wanted] = {}
        self._port = settings.port
        self._authority = older_hosts.authority(settings.data / "keys")

    def begin(self, port: int) -> None:
        """Delete what a crash left unfinished. `port` is the server's, and inside every box the
        one on which its models reach it."""
        self._port = port
        (self.folder / "locks").mkdir(mode=0o700, parents=True, exist_ok=True)
        for one in self.folder.glob("*-*"):  # installations and tests, which start again
            shims.kill(one, self.folder / "locks" / one.name)
            foreign_files.discard(one)
        cgroups.clean(self.folder, keep=self._known())
        self._unpacked.start()
        self._environments.start()
        SHIM_SPAWNER.open()

    def hosts(self) -> Collection[str]:
        return (self.host,)

    def place(self, runs: Sequence[Run], drained: Collection[str]) -> dict[str, str]:
        if self.host in drained:
            return {}
        here = self.interpreters.versions
        able = (run for run in runs if self._is_alone or run.python_version in here)
        return {run.id: self.host for run in able}

    def prepare(self, job: Job, progress: Progress | None) -> Prepared:
        run_id = job.run.id
        # An installation reads the model's folder, so it stays meanwhile.
        with _told_as_install_problems(), self._unpacked.model(job.version.archive) as model:
            wanted = self._wanted_by(job, model)
            environment = (
                self._environments.find(wanted)
                if progress is None
                else self._installing.environment(wanted, run_id, progress)
            )
        if environment is None:
            # Without packages no code but ours runs.
            raise NeedsInstalling(at_once=not wanted.requirements.lines)
        self._wanted[run_id] = wanted
        self._prepared[run_id] = environment
        return Prepared(environment.lock, self._confinement)

    def _wanted_by(self, job: Job, model: Path) -> Wanted:
        version, run = job.version, job.run
        interpreter = self.interpreters.get(run.python_version)
        if interpreter is None:
            raise CannotInstall(f"Python {run.python_version} is no longer on this host.")
        named = version.manifest.requirements
        return self._environments.wanted(
            interpreter,
            model / version.manifest.working_directory / named if named else None,
            model,
            version.lock,
            archive=version.archive,
            project=job.project_id,
        )

    def start(self, job: Job, given: LaunchSecrets) -> None:
        run = job.run
        interpreter = self.interpreters.get(run.python_version)
        if interpreter is None:
            raise CannotLaunch(f"Python {run.python_version} is no longer on this host.")
        uid = ownership.uid_of(job.number)
        try:
            places = self._places(job, uid)
            environment = self._prepared[run.id]
            trusted = older_hosts.trusted(self._authority, environment, places.trust)
            journal.go_on_from(places.folder, run.journal)
        except OSError as error:
            raise _not_now_or_never(error, CannotLaunchNow, CannotLaunch) from error
        settings = self._settings
        spec = Launch(
            name=run.id,
            folder=str(places.folder),
            lock=str(self._lock(run)),
            runs=str(self.folder),
            box=run_box.compose(
                job,
                given,
                environment,
                interpreter,
                places,
                trusted,
                url=self._url(),
                events_port=self._port,
                pids=settings.run_processes,
                disk_mb=settings.run_disk,
                uid=uid,
            ),
            masked=[*given.secrets.values(), given.key_pass],
            policy=Policy(
                restart=run.kind == "live",
                grace=float(settings.stop_seconds),
                time_limit=settings.backtest_minutes * 60.0 if run.backtest_id else None,
                beyond_memory=run_box.beyond_memory(
                    run, plans.offered(settings, "backtesting" if run.backtest_id else "live")
                ),
                output_bytes=settings.quota_captured * 1_000_000,
            ),
            unsafe=settings.unsafe_no_sandbox,
            lease=self.lease(run),
        )
        if settings.unsafe_no_sandbox:
            spec.box.env["PYTHONPATH"] = ":".join(map(str, runtime_files.folders()))
        try:
            shims.launch(spec)
        except OSError as error:
            raise _not_now_or_never(error, CannotLaunchNow, CannotLaunch) from error
        self._installing.write_bytecode(self._wanted[run.id], self._prepared[run.id])

    def stop(self, run: Run, *, now: bool = False) -> None:
        if now:
            shims.kill(self.folder / run.id, self._lock(run))
        else:
            shims.stop(self.folder / run.id)

    def look(self, runs: Sequence[Run], *, closely: bool = False) -> Sights:
        at_journals = closely or time.monotonic() - self._journals_at > JOURNALS_EVERY
        if at_journals and not closely:
            self._journals_at = time.monotonic()
        found = Sights({}, {}, dict.fromkeys(self._known(), self.host))
        for run in runs:
            if not run.is_launched:
                continue  # its lock may be that of another run of its model
            try:
                found.of[run.id] = self._sight(run, at_journals=at_journals, closely=closely)
            except Exception as error:  # noqa: BLE001 - of one run; the others can be seen
                found.unknown[run.id] = error
        return found

    def _sight(self, run: Run, *, at_journals: bool, closely: bool) -> Sight:
        alive = self.is_alive(run)
        unread = alive and at_journals and journal.has_more(self.folder / run.id, run.journal)
        if not closely:
            return Sight(alive, unread)
        return Sight(alive, unread, self._lag(run), self._last_seen(run), self._usage(run))

    def is_alive(self, run: Run) -> bool:
        """False proves that nothing of it is left; an OSError means that this is unknown now."""
        folder = self.folder / run.id
        if shims.is_held(self._lock(run)):
            shims.end_orphan(folder)
            return True  # until another check has seen it gone
        # If the whole folder is missing, a missing lock proves nothing.
        (self.folder / "locks").stat()
        # Its own lock file may be missing too, and still be held.
        return shims.is_running(folder) or shims.end_orphan(folder)

    def _last_seen(self, run: Run) -> float | None:
        """Its shim touches the lock every two seconds; one of an earlier version wrote its journal
        at least."""
        segments = (self.folder / run.id / "journal").glob("*")
        return max(map(_changed_at, [self._lock(run), *segments]), default=0.0) or None

    def processes_elsewhere(self, run: Run) -> list[int]:
        """Of the same run in another copy of the data directory, as far as they can be seen."""
        return shims.sandboxes_elsewhere(self.folder / run.id)

    def trouble(self) -> str | None:
        for folder in (self.folder, self.folder / "locks"):
            try:
                # As a folder: opening it fails at once where anything else has taken its place.
                os.close(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
            except OSError as error:
                name = folder.relative_to(self._settings.data)
                return f"the folder {name} of the data directory cannot be used ({error.strerror})"
        return None

    def _lag(self, run: Run) -> int:
        try:
            return max(0, journal.end(self.folder / run.id) - run.journal)
        except UnreadableJournal:
            return 0

    def read(self, run: Run, offset: int, limit_bytes: int = READ_AT_ONCE) -> Chunk:
        folder = self.folder / run.id
        journal.forget(folder, offset)
        chunk = journal.read(folder, offset, limit_bytes)
        if run.backtest_id is None or not chunk.tells_end:
            return chunk
        output = read_output(folder / "out", self._settings.max_large_body)
        return msgspec.structs.replace(chunk, output=output)

    def _usage(self, run: Run) -> Usage | None:
        found = cgroups.usage(self.folder, run.id)
        if found is None or (disk := _told_disk(self.folder / run.id)) is None:
            return found
        return msgspec.structs.replace(found, disk_bytes=disk[0], disk_limit=disk[1])

    def _known(self) -> set[str]:
        """The runs of which anything is still here."""
        self.folder.stat()  # it exists since the start: without it, nothing is known
        return model_files.of_runs(self._settings.data)

    def clean_up(self) -> None:
        """From time to time: free disk space by deleting files that can be rebuilt."""
        used = {one.key for one in list(self._prepared.values())}
        self._environments.clean(used, self._settings.environment_cache * 1_000_000_000)

    def clear(self, host: str, run_id: str) -> None:  # noqa: ARG002 - there is only this one
        self._prepared.pop(run_id, None)
        self._wanted.pop(run_id, None)
        clear(self.folder, run_id)

    def lift(self, host: str, name: str) -> None:
        """The holds of this machine are those of its server or node, which lifts them."""

    def close(self) -> None:
        self._installing.close()

    def _places(self, job: Job, uid: int | None) -> Places:
        folder = self.folder / job.run.id
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / "lock").write_text(self._lock(job.run).name)
        (folder / model_files.NOTE).write_text(job.run.model_id)
        state = unpacking.writable(self._settings.data / "state" / job.run.model_id, uid)
        if uid is not None and (given := ownership.give(state, uid)):
            log.warning("state_given_to_its_model", model=job.run.model_id, entries=given)
        places = Places(folder, state)
        for old in (places.work, places.out):
            foreign_files.remove(old)
        with self._unpacked.model(job.version.archive) as model:
            unpacking.copy(model, places.work, uid)
        unpacking.writable(places.out, uid)
        return places

    def _lock(self, run: Run) -> Path:
        return self.folder / "locks" / run.lock_name

    def _url(self) -> str:
        host = _reachable(self._settings.host) if self._settings.unsafe_no_sandbox else "127.0.0.1"
        return f"http://{f'[{host}]' if ':' in host else host}:{self._port}"


def clear(runs: Path, run_id: str) -> None:
    """End what is left of a run and remove its folder, with or without an engine. Raises why a
    file of it is still there."""
    folder = runs / run_id
    if shims.is_running(folder):  # its model was deleted
        lock = runs / "locks" / (folder / "lock").read_text()
        shims.kill(folder, lock)
    cgroups.remove(runs, run_id)
    foreign_files.remove(folder)
    (runs / "locks" / run_id).unlink(missing_ok=True)


def _told_disk(launch: Path) -> tuple[int, int] | None:
    """Bytes that the folders of a launch use, of how many, as its shim last counted."""
    try:
        used, most = map(int, (launch / DISK).read_bytes().split())
    except (OSError, ValueError):
        return None
    return used, most


def _changed_at(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


P = TypeVar("P", bound=Problem)


@contextmanager
def _told_as_install_problems() -> Iterator[None]:
    try:
        yield
    except CannotPrepareNow:
        raise
    except OSError as error:
        raise _not_now_or_never(error, CannotPrepareNow, CannotInstall) from error
    except Problem as error:
        raise CannotInstall(error.message) from error


def _not_now_or_never(error: OSError, now: type[P], never: type[P]) -> P:
    """In words without paths of this machine: the model's owner reads them."""
    fault = host_faults.fault_of(error) if error.errno == errno.EAGAIN else None
    told = fault.says if fault else f"{error.strerror or error}".rstrip(".") + "."
    log.warning("run_not_prepared", reason=str(error))
    return (now if error.errno in PASSING else never)(told)


def _reachable(host: str) -> str:
    """An address on which a server that listens on `host` answers."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104
