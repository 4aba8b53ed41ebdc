"""Real launches: a data directory of their own, a box that can run Python, and no process left."""

import itertools
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy
import pytest

from tapeline import settings
from tapeline.runs.engines import shims
from tapeline.runs.environments import interpreters
from tapeline.runs.environments.interpreters import Found, Interpreter
from tapeline.runs.journals import journal
from tapeline.runs.journals.records import Record
from tapeline.runs.sandbox import cgroups
from tapeline.runs.sandbox.box import Box, Launch, LeaseTerms, Policy
from tapeline.runs.shim import tree
from tests.runs.environments.index import PackageIndex, builder, serve_packages
from tests.runs.environments.package_bench import Bench

UIDS = itertools.count(710_000 + os.getpid() % 1000 * 100)
PATIENCE = 120.0
STUBBORN = """
    import signal, time
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    print("up")
    time.sleep(1000)
"""


def alive(pid: int) -> bool:
    """Not counting one that is only waiting to be buried."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


class Launched:
    def __init__(self, spec: Launch) -> None:
        self.spec = spec
        self.folder, self.lock = Path(spec.folder), Path(spec.lock)

    def records(self) -> list[Record]:
        found: list[Record] = []
        offset = 0
        while (chunk := journal.read(self.folder, offset)).records:
            found += chunk.records
            offset = chunk.offset
        return found

    def lines(self, kind: str = "stdout") -> list[str]:
        return [one.text for one in self.records() if one.kind == kind]

    def states(self, event: str) -> list[dict[str, Any]]:
        return [one.state for one in self.records() if one.state and one.state["event"] == event]

    def until(self, condition: Callable[["Launched"], Any]) -> Any:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if found := condition(self):
                return found
            time.sleep(0.01)
        raise AssertionError(f"not seen: {self.records()} {self.shim_log()}")

    def until_line(self, text: str) -> None:
        self.until(lambda one: text in one.lines())

    def finished(self) -> dict[str, Any]:
        said: list[dict[str, Any]] = self.until(lambda one: one.states("finished"))
        assert shims.wait_free(self.lock, PATIENCE)
        return said[0]

    def stop(self) -> dict[str, Any]:
        shims.stop(self.folder)
        return self.finished()

    def shim_log(self) -> str:
        return (self.folder / "shim.log").read_text()

    def shim_pid(self) -> int:
        known = msgspec.json.decode((self.folder / "shim.json").read_bytes(), type=dict[str, int])
        return known["pid"]

    def members(self) -> list[int]:
        """Every process below the shim."""
        return tree.descendants(self.shim_pid())[1:]


class Pad:
    """Where launches start from."""

    def __init__(self, data: Path) -> None:
        self.data, self.runs = data, data / "runs"
        self.runs.mkdir(mode=0o700)
        self.launched: list[Launched] = []

    def spec(
        self, code: str, *, name: str = "", policy: Policy | None = None, **box: Any
    ) -> Launch:
        name = name or f"run{len(self.launched)}"
        folder = self.runs / name
        work = folder / "work"
        work.mkdir(parents=True, exist_ok=True)
        uid = next(UIDS) if os.geteuid() == 0 else None
        if uid is not None:
            os.chown(work, uid, uid)
        made: dict[str, Any] = {
            "argv": [f"{sys.base_prefix}/bin/python3", "-u", "-c", textwrap.dedent(code)],
            "cwd": "/model",
            "env": {"GREETING": "hello"},
            "readonly": [(sys.base_prefix, sys.base_prefix)],
            "writable": [(str(work), "/model")],
            "tmp_mb": 32,
            "network": "none",
            "events_port": None,
            "memory_mb": 256,
            "cpu_milli": 2000,
            "pids": 64,
            "disk_mb": None,
            "uid": uid,
        }
        if script := box.pop("script", None):
            (work / script).write_text(textwrap.dedent(code))
        unsafe = box.pop("unsafe", False)
        masked = box.pop("masked", [])
        lease: LeaseTerms | None = box.pop("lease", None)
        return Launch(
            name=name,
            folder=str(folder),
            lock=str(self.runs / "locks" / name),
            runs=str(self.runs),
            box=Box(**made | box),
            masked=masked,
            policy=policy or Policy(restart=False, time_limit=600.0),
            unsafe=unsafe,
            lease=lease,
        )

    def launch(self, code: str, **options: Any) -> Launched:
        spec = self.spec(code, **options)
        launched = Launched(spec)
        self.launched.append(launched)
        shims.launch(spec)
        return launched

    def run(self, code: str, **options: Any) -> Launched:
        """Start it and see it end."""
        launched = self.launch(code, **options)
        launched.finished()
        return launched


@pytest.fixture
def pad(tmp_path: Path) -> Iterator[Pad]:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    made = Pad(data)
    yield made
    for launched in made.launched:
        shims.kill(launched.folder, launched.lock)
        assert not shims.is_held(launched.lock)
    _until_no_group_is_left(made.runs)
    shutil.rmtree(data)


def _until_no_group_is_left(runs: Path) -> None:
    found = cgroups.find(runs)
    until = time.monotonic() + PATIENCE
    while found and any(one.exists() for one in found.folders.values()):
        assert time.monotonic() < until
        cgroups.clean(runs, keep=set())
        time.sleep(0.01)


@pytest.fixture
def libraries() -> tuple[str, str]:
    """What the tests' own environment has installed, to be seen inside."""
    return str(Path(numpy.__file__).parent.parent), "/libraries"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    return interpreters.discover(
        memory=None, extra=[], path=settings.search_path(), home=Path.home()
    )


@pytest.fixture
def python(found: Found) -> Interpreter:
    return found.interpreters[0]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[PackageIndex]:
    with serve_packages(tmp_path / "index") as packages:
        packages.add_wheel("apple", "1.0", {"apple/__init__.py": "from apple import core\n",
                                            "apple/core.py": "SEEDS = 5\n"})  # fmt: skip
        packages.add_wheel("basket", "2.0", {"basket.py": "import apple\n"}, requires="apple")
        packages.add_source("homemade", "1.0", builder("told.write('built')"))
        yield packages


@pytest.fixture
def bench(tmp_path: Path, index: PackageIndex, python: Interpreter) -> Bench:
    return Bench(tmp_path, index.url, python)
