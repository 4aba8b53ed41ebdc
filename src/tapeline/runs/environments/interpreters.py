"""Which Pythons this host has. Names are never trusted: each candidate is started once and asked.

The answers are cached in the data directory, by the file's path, size and modification time, so
that the next start of the server runs none of them.
"""

import json
import os
import re
import stat
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from tapeline import private_files
from tapeline.settings import Settings, search_path

Source = Literal["setting", "uv", "pyenv", "PATH", "system"]
"""Where it was found; of two with the same release the earlier word here wins."""
SOURCES: tuple[Source, ...] = ("setting", "uv", "pyenv", "PATH", "system")

OLDEST = (3, 7)
PATIENCE_SECONDS = 30
_NAME = re.compile(r"python3(\.\d+)?t?")
_SYSTEM = (Path("/usr/bin"), Path("/usr/local/bin"))
# Works on any Python, so that an old one can report its version.
_QUESTION = """
import json, sys
def lacks(names):
    for name in names:
        try:
            __import__(name)
        except Exception:
            yield name
print(json.dumps({
    "implementation": getattr(getattr(sys, "implementation", None), "name", "cpython"),
    "version": list(sys.version_info[:3]),
    "level": sys.version_info[3],
    "prefix": getattr(sys, "base_prefix", sys.prefix),
    "exec_prefix": getattr(sys, "base_exec_prefix", sys.exec_prefix),
    "debug": hasattr(sys, "gettotalrefcount"),
    "threads": not getattr(sys, "_is_gil_enabled", lambda: True)(),
    "lacks": list(lacks(["ssl", "zlib", "sqlite3", "ctypes", "bz2", "lzma"])),
}))
"""


class Interpreter(msgspec.Struct, frozen=True, kw_only=True):
    version: str
    """`3.11`"""
    release: str
    """`3.11.7`"""
    path: str
    source: Source
    prefix: str
    exec_prefix: str
    lacks: tuple[str, ...] = ()
    """Modules of the standard library that this build cannot import."""

    def binds(self) -> list[tuple[str, str]]:
        """Pairs for a box: at its own path, because a build may carry that path inside it.

        One below /usr needs nothing, because every sandbox has /usr.
        """
        needed = {self.prefix, self.exec_prefix}
        if not any(Path(self.path).is_relative_to(folder) for folder in needed):
            needed.add(str(Path(self.path).parent))
        outside = sorted(one for one in needed if not Path(one).is_relative_to("/usr"))
        return [(one, one) for one in outside]


class Problem(msgspec.Struct, frozen=True):
    path: str
    reason: str


class Found(msgspec.Struct, frozen=True):
    interpreters: list[Interpreter]
    """The best of each minor version, newest first."""
    problems: list[Problem]
    """Candidates that cannot be used, and why."""

    @property
    def versions(self) -> frozenset[str]:
        return frozenset(one.version for one in self.interpreters)

    def get(self, version: str) -> Interpreter | None:
        return next((one for one in self.interpreters if one.version == version), None)


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What an interpreter reports about itself."""

    implementation: str
    version: tuple[int, int, int]
    level: str
    prefix: str
    exec_prefix: str
    debug: bool
    threads: bool
    lacks: tuple[str, ...]


class _Remembered(msgspec.Struct):
    size: int
    changed: int
    facts: Facts


def of_host(settings: Settings) -> Found:
    return discover(
        memory=settings.data / "pythons.json",
        extra=[
            Path(one.strip()).expanduser() for one in settings.pythons.split(",") if one.strip()
        ],
        path=search_path(),
        home=Path.home(),
    )


def discover(
    *, memory: Path | None, extra: Sequence[Path], path: Sequence[Path], home: Path
) -> Found:
    """All CPythons from 3.7 on. `memory` is the file that caches their answers."""
    problems: list[Problem] = []
    candidates: dict[Path, Source] = {}
    for source, file in _candidates(extra, path, home, problems):
        try:
            real = file.resolve(strict=True)
        except (OSError, RuntimeError):
            problems.append(Problem(str(file), "leads nowhere"))
            continue
        candidates.setdefault(real, source)
    known = _recall(memory)
    facts = _ask_all(candidates, known, problems)
    _remember(memory, known, facts)
    usable: list[tuple[Facts, Interpreter]] = []
    for file, said in facts.items():
        reason = _unfit(said)
        if reason:
            problems.append(Problem(str(file), reason))
        else:
            usable.append((said, _interpreter(file, candidates[file], said)))
    return Found(_best(usable), sorted(problems, key=lambda one: one.path))


def _best(usable: Iterable[tuple[Facts, Interpreter]]) -> list[Interpreter]:
    """One per minor version: named in the settings, complete, newest release, order of SOURCES."""
    best: dict[tuple[int, int], Interpreter] = {}
    for said, one in sorted(usable, key=lambda pair: _rank(*pair)):
        best.setdefault(said.version[:2], one)
    return [best[version] for version in sorted(best, reverse=True)]


def _rank(said: Facts, one: Interpreter) -> tuple[bool, int, int, int, str]:
    return (
        one.source != "setting",
        len(said.lacks),
        -said.version[2],
        SOURCES.index(one.source),
        one.path,
    )


def _interpreter(path: Path, source: Source, said: Facts) -> Interpreter:
    return Interpreter(
        version=".".join(map(str, said.version[:2])),
        release=".".join(map(str, said.version)),
        path=str(path),
        source=source,
        prefix=said.prefix,
        exec_prefix=said.exec_prefix,
        lacks=said.lacks,
    )


def _unfit(said: Facts) -> str | None:
    shown = ".".join(map(str, said.version))
    if said.implementation != "cpython":
        return f"is {said.implementation}, not CPython"
    if said.version[:2] < OLDEST:
        return f"is Python {shown}; models need {'.'.join(map(str, OLDEST))} or newer"
    if said.level != "final":
        return f"is a pre-release of Python {shown}"
    if said.debug:
        return f"is a debug build of Python {shown}"
    if said.threads:
        return f"is a free-threaded build of Python {shown}"
    return None


# Looking


def _candidates(
    extra: Sequence[Path], path: Sequence[Path], home: Path, problems: list[Problem]
) -> Iterator[tuple[Source, Path]]:
    for one in extra:
        found = [one] if one.is_file() else [*_in(one), *_in(one / "bin"), *_below(one)]
        if not found:
            problems.append(Problem(str(one), "is set in `pythons`, but no Python is there"))
        yield from (("setting", file) for file in found)
    yield from (("uv", file) for file in _below(home / ".local/share/uv/python"))
    for root in _pyenv_roots(path, home):
        for version in _folders(root / "versions"):
            found = _in(version / "bin")
            if not found and not (version / "bin").is_symlink():
                problems.append(
                    Problem(str(version), "is a version of pyenv without a Python 3 in it")
                )
            yield from (("pyenv", file) for file in found)
    for folder in path:
        if not _is_shims(folder):
            yield from (("PATH", file) for file in _in(folder))
    for folder in _SYSTEM:
        yield from (("system", file) for file in _in(folder))
    yield from (("system", file) for file in _below(Path("/opt/python")))


def _pyenv_roots(path: Sequence[Path], home: Path) -> list[Path]:
    """pyenv puts its shims on PATH, which shows where its root is."""
    roots = [home / ".pyenv", *(one.parent for one in path if _is_shims(one))]
    return list(dict.fromkeys(root.resolve() for root in roots))


def _is_shims(folder: Path) -> bool:
    return folder.name == "shims" and (folder.parent / "versions").is_dir()


def _below(folder: Path) -> list[Path]:
    return [file for one in _folders(folder) for file in _in(one / "bin")]


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(one for one in folder.iterdir() if one.is_dir())
    except OSError:
        return []


def _in(folder: Path) -> list[Path]:
    """Interpreters of a folder; that of a virtual environment stands for the one it was made of."""
    try:
        names = sorted(name for name in os.listdir(folder) if _NAME.fullmatch(name))  # noqa: PTH208
    except OSError:
        return []
    home = _home_of_virtual_environment(folder) if names else None
    if home is not None:
        return [home / name for name in names if (home / name).exists()]
    return [folder / name for name in names]


def _home_of_virtual_environment(folder: Path) -> Path | None:
    try:
        text = (folder.parent / "pyvenv.cfg").read_text("utf-8", "replace")
    except OSError:
        return None
    match = re.search(r"^home\s*=\s*(.+?)\s*$", text, re.MULTILINE)
    return Path(match[1]) if match else folder / "nowhere"


# Asking


def _ask_all(
    candidates: Iterable[Path], known: dict[str, _Remembered], problems: list[Problem]
) -> dict[Path, Facts]:
    facts: dict[Path, Facts] = {}
    strangers: list[Path] = []
    for path in candidates:
        before, now = known.get(str(path)), path.stat()
        if before and (before.size, before.changed) == (now.st_size, now.st_mtime_ns):
            facts[path] = before.facts
        else:
            strangers.append(path)
    if strangers:
        with ThreadPoolExecutor(min(8, len(strangers))) as threads:
            answers = threads.map(_ask, strangers)
            for path, answer in zip(strangers, answers, strict=True):
                if isinstance(answer, Facts):
                    facts[path] = answer
                else:
                    problems.append(Problem(str(path), answer))
    return facts


def _ask(path: Path) -> Facts | str:
    """What it reports about itself, or why it cannot be used."""
    try:
        if path.stat().st_mode & stat.S_IWOTH:
            return "is writable by everyone on this machine"
        with path.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                return "is not a program but a script"
        done = subprocess.run(  # noqa: S603
            [str(path), "-I", "-S", "-c", _QUESTION],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            env={"LC_ALL": "C.UTF-8"},
            cwd="/",
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"did not answer within {PATIENCE_SECONDS} seconds"
    except OSError as error:
        return f"cannot be started: {error.strerror}"
    return _understood(done)


def _understood(done: subprocess.CompletedProcess[bytes]) -> Facts | str:
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return f"does not start: {said[-1][:300] if said else f'status {done.returncode}'}"
    try:
        return msgspec.convert(json.loads(done.stdout), Facts)
    except (ValueError, msgspec.ValidationError):
        return "does not answer as a Python does"


def _recall(memory: Path | None) -> dict[str, _Remembered]:
    """If the file is missing or damaged, every interpreter is asked again."""
    try:
        if memory is not None:
            return msgspec.json.decode(memory.read_bytes(), type=dict[str, _Remembered])
    except (OSError, msgspec.DecodeError):
        pass
    return {}


def _remember(memory: Path | None, known: dict[str, _Remembered], facts: dict[Path, Facts]) -> None:
    """Failures are not kept: a missing library can be installed without touching the program."""
    now: dict[str, _Remembered] = {}
    for path, said in facts.items():
        status = path.stat()
        now[str(path)] = _Remembered(status.st_size, status.st_mtime_ns, said)
    if memory is not None and now != known:
        with suppress(OSError):  # it only saves time at the next start
            private_files.write(memory, msgspec.json.encode(now))
