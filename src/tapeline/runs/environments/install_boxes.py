"""The boxes in which an environment is made. uv works inside; no part of it runs outside.

Each box sees one folder at /environments, because hard links from uv's cache do not cross mounts:
the shared one where only wheels are installed, else a folder for this installation alone.
"""

import os
import re
from pathlib import Path
from typing import Any

import msgspec
import uv

from tapeline.runs.environments.interpreters import Interpreter
from tapeline.runs.environments.requirements import Requirements, parse
from tapeline.runs.sandbox.box import Box

INSIDE = "/environments"
UV_INSIDE = "/runtime/uv"
PROGRAM = ("install.py", "install_words.py")
RESERVED = frozenset({"cache", "bytecode"})
"""Names in the folder of installations that are not installations."""
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
KEEP_FREE_MB = 1024


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    interpreter: Interpreter
    requirements: Requirements
    model_folder: str
    lock: str | None
    """To be installed as it is, when `requirements` are those of a lock; None: resolve."""
    previous: str | None
    """The lock of last time, for when the index cannot be reached."""
    made: list[str]
    """Hashes of locks that need no second environment."""
    bytecode: bool
    """Compile files that were never compiled; linking the others costs almost nothing."""


class Installer(msgspec.Struct, frozen=True, kw_only=True):
    runtime: Path
    """The folder that holds install.py."""
    index: str = ""
    """Where packages come from; empty: uv's own default."""
    extra_indexes: str = ""
    substitutes: dict[str, str] = {}
    bounds: dict[str, str] = {}
    """By package: what it needs without saying so. Not among `sources`, for it corrects them: what
    was installed before is still right for all others."""
    """By package: what is installed in its place where it cannot be built."""
    proxy: str = ""
    uid: int | None = None
    """The user that root becomes to install, and the id below it to build: code that breaks out of
    a build still cannot write shared files. None where the server is not root."""
    memory_mb: int = 2048
    disk_mb: int = 20_000
    unsafe: bool = False
    """Whether there is no sandbox, so that paths are the host's own."""

    def wheels(self, ask: Ask, shared: Path, name: str) -> Box:
        """Names from the server's index, nothing built: no code of a package runs."""
        self._plan(ask, shared, self.folder(shared / name), build=False)
        return self._box(ask.interpreter, ask.requirements, shared, name, build=False)

    def build(self, ask: Ask, root: Path, name: str) -> Box:
        """Any package; its code sees only this installation, and the cache is deleted with it."""
        for made in (root, root / "cache", root / "bytecode", root / "model", root / name):
            self.folder(made, self._builder())
        self._plan(ask, root, root / name, build=True)
        box = self._box(ask.interpreter, ask.requirements, root, name, build=True)
        if ask.requirements.local:
            box.readonly.append((ask.model_folder, "/upload"))
            box.writable.append((str(root / "model"), "/model"))
        return box

    def bytecode(self, interpreter: Interpreter, root: Path, made: str, store: str | None) -> Box:
        """Compiles what an environment lacks. Nothing of a package runs; it may be in use."""
        box = self._box(interpreter, Requirements(), root, "", build=store is None)
        plan = {
            "only_bytecode": True,
            "environment": f"{self._root(root)}/{made}",
            "store": f"{self._root(root)}/{store}/{interpreter.release}"
            if store
            else "/tmp/bytecode",  # noqa: S108
        }
        box.argv.append(msgspec.json.encode(plan).decode())
        box.network = "none"
        return box

    def sources(self) -> list[Any]:
        """Where names are looked up: the same requirements mean something else elsewhere."""
        return [self.index, self.extra_indexes, self.substitutes]

    def owner(self) -> int:
        return os.geteuid() if self.uid is None else self.uid

    def _builder(self) -> int | None:
        return None if self.uid is None else self.uid - 1

    def folder(self, path: Path, uid: int | None = None) -> Path:
        """A folder for the installer to write in, whatever the umask says."""
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(0o755)
        owner = uid or self.uid
        if owner is not None:
            os.chown(path, owner, owner)
        return path

    def _root(self, root: Path) -> str:
        """Where the installer finds the folder it may write in."""
        return str(root) if self.unsafe else INSIDE

    def _plan(self, ask: Ask, root: Path, staging: Path, *, build: bool) -> None:
        asked, inside = ask.requirements, f"{self._root(root)}/{staging.name}"
        model = str(root / "model") if self.unsafe else "/model"
        plan = {
            "uv": uv_program() if self.unsafe else UV_INSIDE,
            "upload": ask.model_folder if self.unsafe else "/upload",
            "model": model,
            "compiled": f"{self._root(root)}/bytecode",
            "python": ask.interpreter.path,
            "version": ask.interpreter.version,
            "release": ask.interpreter.release,
            "requirements": f"{inside}/requirements.txt",
            "constraints": f"{inside}/constraints.txt",
            "options": asked.options,
            "hashes": asked.hashes,
            "require_hashes": asked.require_hashes,
            "prereleases": asked.prereleases,
            "local": asked.local,
            "names": [re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0] for line in asked.lines],
            "lock": ask.lock,
            "previous": ask.previous,
            "previous_pins": None if ask.previous is None else parse(ask.previous).text,
            "made": [] if build else ask.made,
            "bytecode": ask.bytecode,
            "build": build,
            "substitutes": self.substitutes if build else {},
            "bounds": self.bounds,
            "keep_free_mb": KEEP_FREE_MB,
        }
        texts = {
            "plan.json": msgspec.json.encode(plan),
            "requirements.txt": asked.text.encode(),
            "constraints.txt": asked.limits.encode(),
        }
        for file, text in texts.items():
            (staging / file).write_bytes(text)
            (staging / file).chmod(0o644)

    def _box(
        self,
        interpreter: Interpreter,
        asked: Requirements,
        root: Path,
        name: str,
        *,
        build: bool,
    ) -> Box:
        return Box(
            argv=[interpreter.path, "-I", "-S", "/runtime/install.py", f"{INSIDE}/{name}"],
            cwd=f"{INSIDE}/{name}",
            env=self._environment(asked),
            readonly=[
                *interpreter.binds(),
                *((str(self.runtime / one), f"/runtime/{one}") for one in PROGRAM),
                (uv_program(), UV_INSIDE),
            ],
            writable=[(str(root), INSIDE)],
            tmp_mb=1024,
            network="open",
            events_port=None,
            memory_mb=self.memory_mb,
            cpu_milli=1000 * (os.cpu_count() or 1),
            pids=512,
            # The shared folder holds files of many installations; install.py watches the disk.
            disk_mb=self.disk_mb if build else None,
            uid=self._builder() if build else self.uid,
        )

    def _environment(self, asked: Requirements) -> dict[str, str]:
        found = {
            "HOME": "/home/model",
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "UV_CACHE_DIR": f"{INSIDE}/cache",
            "UV_LINK_MODE": "hardlink",
            "UV_NO_CONFIG": "1",
            "UV_NO_PROGRESS": "1",
            "UV_PYTHON_DOWNLOADS": "never",
        }
        if CERTIFICATES.exists():
            found["SSL_CERT_FILE"] = str(CERTIFICATES)
        # uv would prefer the server's index to the one that a model names.
        if self.index and not any(one.startswith("--index-url ") for one in asked.options):
            found["UV_DEFAULT_INDEX"] = self.index
        if self.extra_indexes:
            found["UV_INDEX"] = " ".join(re.split(r"[,\s]+", self.extra_indexes.strip()))
        if self.proxy:
            found |= {"HTTP_PROXY": self.proxy, "HTTPS_PROXY": self.proxy}
        return found


def uv_program() -> str:
    """The uv that came with Tapeline, never another one on PATH."""
    return uv.find_uv_bin()
