"""The environments of models: reused if they exist, else made inside a sandbox.

This module composes boxes and keeps the folder; it never runs an installer or a line of a package.
Two kinds of installation never meet. `shared`: names from the server's own index, wheels only, so
no code of a package runs, and the downloads are shared. `build`: everything else; it may run any
code, in a box that sees nothing but itself, and only the same request reuses its result: of the
same project, where it used more than the server's index.
docs/environments.md has the details.
"""

import hashlib
import os
import re
import threading
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from tapeline import private_files
from tapeline.clock import Clock
from tapeline.errors import CannotInstall
from tapeline.runs.environments import requirements as requirement_files
from tapeline.runs.environments.install_boxes import INSIDE, RESERVED, Ask, Installer
from tapeline.runs.environments.interpreters import Interpreter
from tapeline.runs.environments.requirements import Requirements
from tapeline.runs.sandbox import foreign_files
from tapeline.runs.sandbox.box import Box

TRY_NEXT = 75
"""Exit status of a step that hands over to the next one."""
NO_ROOM = 76
"""Exit status of a step that found the disk of this machine nearly full."""
FORMAT = 2  # changes every key, so that environments made in another way are not found
LARGEST_LOCK = 5_000_000
# An environment used this recently may be in use: an installation may rely on it.
RECENT_SECONDS = 3600
_BUILT = re.compile(rf"# tapeline {FORMAT}: built for ([0-9a-f]{{32}})\n")


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    request: str
    """The request as a name: installations with the same name give the same result."""
    interpreter: Interpreter
    requirements: Requirements
    model_folder: str
    lock: str | None
    """The exact packages of an earlier resolution, to be installed as they are."""
    scope: tuple[str, str] = ("", "")
    """The project and the archive, where they count."""


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    path: str
    """On the host; mounted read-only at `inside`."""
    inside: str
    lock: str

    @property
    def python(self) -> str:
        return f"{self.inside}/bin/python"


class _Request(msgspec.Struct):
    key: str
    lock: str
    resolved_at: float


class Made(msgspec.Struct):
    """The record next to an environment."""

    lock: str
    interpreter: str
    built: bool
    project: str = ""
    """The only project that may use it, because it used more than the server's index."""
    archive: str = ""
    """The archive whose files are in it."""


class Environments:
    """Called from threads; one per data directory."""

    def __init__(
        self,
        folder: Path,
        *,
        installer: Installer,
        resolution_hours: int = 24,
        clock: Clock | None = None,
    ) -> None:
        self._folder = folder.absolute()
        self._installer = installer
        self._resolution_seconds = resolution_hours * 3600
        self._clock = clock or Clock()
        self._lock = threading.Lock()

    def start(self, under_way: Collection[str] = ()) -> None:
        """Make the folders and delete what a crash left unfinished.

        `under_way` are names of installations whose box outlived the server.
        """
        for name in ("made", "requests", "builds"):
            _folder(self._folder / name)
        cache = self._shared / "cache"
        if cache.exists() and cache.stat().st_uid != self._installer.owner():
            self._empty_cache()  # the server was root before, or was not
        for name in ("", *RESERVED):
            self._installer.folder(self._shared / name)
        for left in [*self._staged(), *(self._folder / "builds").iterdir()]:
            if left.name not in under_way:
                foreign_files.discard(left)
        for made in self._made.iterdir():
            twin = made.with_suffix("") if made.suffix == ".json" else _record(made)
            if not twin.exists():
                foreign_files.discard(made)
        self._distrust_after_power_loss()

    # Asking

    def wanted(
        self,
        interpreter: Interpreter,
        requirements: Path | None,
        model_folder: Path,
        lock: str | None = None,
        *,
        archive: str,
        project: str,
    ) -> Wanted:
        """`archive` names the content of the model's folder: it counts where files of it matter.
        `project` counts where the sources are not the server's own."""
        if lock is not None and not _is_of_this_format(lock):
            lock = None
        if lock is not None:
            asked = requirement_files.parse(lock)
        elif requirements is not None:
            asked = requirement_files.read(requirements, model_folder)
        else:
            asked = Requirements()
        if not asked.lines:
            asked = Requirements()
        scope = (project if asked.own else "", archive if asked.local else "")
        content = [identity(interpreter), self._installer.sources(), asked, scope, lock is None]
        built = _BUILT.match(lock or "")
        return Wanted(
            request=built[1] if built else _digest([FORMAT, content]),
            interpreter=interpreter,
            requirements=asked,
            model_folder=str(model_folder.absolute()),
            lock=lock,
            scope=scope,
        )

    def find(self, wanted: Wanted) -> Environment | None:
        """An environment that is ready. It counts as used now."""
        if wanted.lock is not None:
            return self._open(_key(wanted, wanted.lock, built=bool(_BUILT.match(wanted.lock))))
        if not wanted.requirements.lines:
            return self._open(_key(wanted, "", built=False))
        before = self._before(wanted)
        if before is None or self._clock.age(before.resolved_at) > self._resolution_seconds:
            return None
        return self._open(before.key)

    # Making

    def steps(self, wanted: Wanted, name: str, *, bytecode: bool = True) -> list[Box]:
        """Boxes to run in turn, the next only if one ends with TRY_NEXT. Then `accept`.

        Without `bytecode` a model can start sooner; run `bytecode_step` once it has.

        `name` belongs to this installation alone: a new folder is made for it.
        """
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}", name) or name in RESERVED:
            raise ValueError(name)
        self.discard(name)
        if not self._unsettled.exists():
            private_files.write(self._unsettled, _boot().encode())
        before = self._before(wanted)
        ask = Ask(
            interpreter=wanted.interpreter,
            requirements=wanted.requirements,
            model_folder=wanted.model_folder,
            lock="" if not wanted.requirements.lines else wanted.lock,
            previous=before.lock if before else None,
            made=self._locks(wanted.interpreter),
            bytecode=bytecode,
        )
        boxes = []
        if not wanted.requirements.own and not _BUILT.match(wanted.lock or ""):
            boxes.append(self._installer.wheels(ask, self._shared, name))
        return [*boxes, self._installer.build(ask, self._folder / "builds" / name, name)]

    def bytecode_step(self, wanted: Wanted, environment: Environment) -> Box:
        """Write the bytecode that an installation left out. Safe at any time, and to repeat."""
        if _BUILT.match(environment.lock):
            made = self._made / environment.key
            return self._installer.bytecode(wanted.interpreter, made, "", None)
        made_inside = f"made/{environment.key}"
        return self._installer.bytecode(
            wanted.interpreter, self._folder, made_inside, "shared/bytecode"
        )

    def accept(self, wanted: Wanted, name: str) -> Environment:
        """Take over the result of the steps. The rename makes it exist."""
        for built, staging in self._stagings(name):
            if not foreign_files.is_folder(staging):
                continue  # a build owns the folder above it and could have put a link here
            lock = foreign_files.read_text(staging / "lock.txt", LARGEST_LOCK)
            if lock is None:
                continue
            if built:
                lock = f"# tapeline {FORMAT}: built for {wanted.request}\n" + _BUILT.sub("", lock)
            requirement_files.parse(lock)  # a build may have left anything under this name
            key = _key(wanted, lock, built=built)
            with self._lock:
                self._take(wanted, staging / "environment", key, lock, built=built)
                environment = self._open(key)
            if environment is not None:
                self._note_request(wanted, key, lock)
                self.discard(name)
                return environment
        self.discard(name)
        raise CannotInstall

    def discard(self, name: str) -> None:
        """Delete an installation that failed or was cancelled."""
        foreign_files.discard(self._shared / name)
        foreign_files.discard(self._folder / "builds" / name)

    # Bounding

    def clean(self, keep: set[str], max_bytes: int) -> int:
        """Remove the least recently used until the rest fits; return how many bytes are left.

        Environments whose key is in `keep` stay. Packages that no environment uses stay in uv's
        cache until that is too large as well; then the whole cache is deleted.
        """
        with self._lock:
            total = foreign_files.size(self._folder)
            for made in sorted(self._made.glob("*.json"), key=lambda file: file.stat().st_mtime):
                recent = self._clock.age(made.stat().st_mtime) < RECENT_SECONDS
                if total <= max_bytes or made.stem in keep or recent:
                    continue
                total -= foreign_files.size(made.with_suffix(""), alone=True)
                # The record goes first: the next start removes a folder without one.
                made.unlink()
                foreign_files.discard(made.with_suffix(""))
            idle = not self._staged()
            if total > max_bytes and idle:
                self._empty_cache()
                total = foreign_files.size(self._folder)
            if idle and self._unsettled.exists():
                os.sync()
                self._unsettled.unlink()
            self._forget_requests()
            return total

    # The folder

    @property
    def _made(self) -> Path:
        return self._folder / "made"

    @property
    def _shared(self) -> Path:
        return self._folder / "shared"

    @property
    def _unsettled(self) -> Path:
        """There while what was installed may not have reached the disk; holds the boot's id."""
        return self._folder / "unsettled"

    def _distrust_after_power_loss(self) -> None:
        """Files that never reached the disk come back empty, and nothing else would notice."""
        try:
            began, boot = self._unsettled.stat().st_mtime, self._unsettled.read_text()
        except OSError:
            return
        if boot != _boot():
            self._empty_cache()
            for made in self._made.glob("*.json"):
                if made.with_suffix("").stat().st_ctime >= began:
                    made.unlink()
                    foreign_files.discard(made.with_suffix(""))
            self._unsettled.unlink()

    def _empty_cache(self) -> None:
        """Environments keep the files that they share with it, because those are hard links."""
        for name in RESERVED:
            foreign_files.remove(self._shared / name)
            self._installer.folder(self._shared / name)

    def _staged(self) -> list[Path]:
        return [one for one in self._shared.iterdir() if one.name not in RESERVED]

    def _stagings(self, name: str) -> Iterator[tuple[bool, Path]]:
        """The last step first: it only started because the steps before it did not succeed."""
        yield True, self._folder / "builds" / name / name
        yield False, self._shared / name

    def _open(self, key: str) -> Environment | None:
        record = self._made / f"{key}.json"
        try:
            made = msgspec.json.decode(record.read_bytes(), type=Made)
            os.utime(record)
        except (OSError, msgspec.DecodeError):
            return None
        path = self._made / key
        if not path.is_dir():
            return None
        return Environment(key=key, path=str(path), inside=f"{INSIDE}/{key}", lock=made.lock)

    def _take(self, wanted: Wanted, fresh: Path, key: str, lock: str, *, built: bool) -> None:
        if (self._made / f"{key}.json").exists() or not foreign_files.is_folder(fresh):
            return
        target = self._made / key
        foreign_files.remove(target)
        made = Made(lock=lock, interpreter=identity(wanted.interpreter), built=built)
        if built:
            made.project, made.archive = wanted.scope
        fresh.rename(target)
        private_files.write(_record(target), msgspec.json.encode(made))

    # Requests

    def _request_file(self, wanted: Wanted) -> Path:
        return self._folder / "requests" / f"{wanted.request}.json"

    def _before(self, wanted: Wanted) -> _Request | None:
        try:
            return msgspec.json.decode(self._request_file(wanted).read_bytes(), type=_Request)
        except (OSError, msgspec.DecodeError):
            return None

    def _note_request(self, wanted: Wanted, key: str, lock: str) -> None:
        if wanted.lock is None:
            note = _Request(key=key, lock=lock, resolved_at=self._clock.wall())
            private_files.write(self._request_file(wanted), msgspec.json.encode(note))

    def _forget_requests(self) -> None:
        for file in (self._folder / "requests").iterdir():
            if self._clock.age(file.stat().st_mtime) > 30 * 24 * 3600:
                file.unlink()

    def _locks(self, interpreter: Interpreter) -> list[str]:
        """Hashes of the locks this interpreter has environments of, to save making one again."""
        found = []
        for file in self._made.glob("*.json"):
            with suppress(OSError, msgspec.DecodeError):
                made = msgspec.json.decode(file.read_bytes(), type=Made)
                if made.interpreter == identity(interpreter) and not made.built:
                    found.append(hashlib.sha256(made.lock.encode()).hexdigest())
        return found


def identity(interpreter: Interpreter) -> str:
    return f"{interpreter.release} {interpreter.path}"


def _is_of_this_format(lock: str) -> bool:
    """Locks of builds before this format were found by less than decides about them; they are
    resolved again. Locks of wheels have always named only packages of the server's index."""
    return bool(_BUILT.match(lock)) or not lock.startswith("# tapeline")


def _key(wanted: Wanted, lock: str, *, built: bool) -> str:
    """A build ran code and may claim any lock, so only its own request may use it."""
    scope = wanted.request if built else ""
    return _digest([FORMAT, identity(wanted.interpreter), lock, scope])


def _digest(content: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(content)).hexdigest()[:32]


def _folder(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(0o755)  # whatever the umask says


def _boot() -> str:
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text()
    return ""


def _record(made: Path) -> Path:
    return made.with_name(f"{made.name}.json")
