"""Pythons are found wherever they are, asked instead of believed, and remembered."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tapeline import settings
from tapeline.runs.environments import interpreters
from tapeline.runs.environments.interpreters import Found
from tapeline.settings import Settings

REAL = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]
VERSION = ".".join(map(str, sys.version_info[:2]))


def discover(
    home: Path, *, extra: list[Path] | None = None, path: list[Path] | None = None
) -> Found:
    memory = home / "pythons.json"
    return interpreters.discover(memory=memory, extra=extra or [], path=path or [], home=home)


def pyenv(home: Path, version: str) -> Path:
    folder = home / ".pyenv/versions" / version / "bin"
    folder.mkdir(parents=True)
    return folder


def reason(found: Found, path: Path) -> str:
    return next(one.reason for one in found.problems if one.path == str(path))


def test_every_python_of_this_machine_says_itself_which_it_is() -> None:
    found = interpreters.discover(
        memory=None, extra=[], path=settings.search_path(), home=Path.home()
    )
    assert found.get(VERSION)
    versions = [tuple(map(int, one.version.split("."))) for one in found.interpreters]
    assert versions == sorted(set(versions), reverse=True)
    for one in found.interpreters:
        said = subprocess.run(
            [one.path, "-c", "import sys; print(*sys.version_info[:3], sep='.')"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert said.stdout.strip() == one.release
        assert one.release.startswith(one.version + ".")


def test_a_name_that_lies_is_not_believed(tmp_path: Path) -> None:
    (pyenv(tmp_path, "3.99.0") / "python3.99").symlink_to(REAL)
    found = discover(tmp_path)
    assert found.get("3.99") is None
    assert found.get(VERSION)


def test_what_cannot_be_used_is_listed_with_the_reason(tmp_path: Path) -> None:
    script = pyenv(tmp_path, "a") / "python3"
    script.write_text("#!/bin/sh\nexec python3\n")
    script.chmod(0o755)
    damaged = pyenv(tmp_path, "b") / "python3"
    damaged.write_bytes(b"\x7fELF and nothing more")
    damaged.chmod(0o755)
    nowhere = pyenv(tmp_path, "c") / "python3"
    nowhere.symlink_to(tmp_path / "gone")
    empty = pyenv(tmp_path, "d").parent
    other = pyenv(tmp_path, "e") / "python3"
    shutil.copy(shutil.which("true") or "/bin/true", other)
    anybodys = pyenv(tmp_path, "f") / "python3"
    shutil.copy(REAL, anybodys)
    anybodys.chmod(0o777)
    found = discover(tmp_path)
    assert "script" in reason(found, script)
    assert "cannot be started" in reason(found, damaged)
    assert "nowhere" in reason(found, nowhere)
    assert "without a Python 3" in reason(found, empty)
    assert "does not answer" in reason(found, other)
    assert "everyone" in reason(found, anybodys)


def test_shims_of_pyenv_lead_to_its_versions_and_are_not_used_themselves(tmp_path: Path) -> None:
    root = tmp_path / "elsewhere"
    (root / "shims").mkdir(parents=True)
    (root / "shims/python3").write_text("#!/bin/sh\nexit 1\n")
    (root / "versions/one/bin").mkdir(parents=True)
    (root / "versions/one/bin/python3").symlink_to(REAL)
    found = discover(tmp_path, path=[root / "shims"])
    assert not [one for one in found.problems if one.path.startswith(str(tmp_path))]
    one = found.get(VERSION)
    assert one
    assert one.path == str(REAL)


@pytest.mark.parametrize("copies", [False, True])
def test_a_virtual_environment_stands_for_the_python_it_was_made_of(
    tmp_path: Path, *, copies: bool
) -> None:
    made = tmp_path / "venv"
    kind = "--copies" if copies else "--symlinks"
    subprocess.run([REAL, "-m", "venv", "--without-pip", kind, made], check=True)
    found = discover(tmp_path, path=[made / "bin"])
    assert all(not one.path.startswith(str(tmp_path)) for one in found.interpreters)
    one = found.get(VERSION)
    assert one
    assert not Path(one.prefix).is_relative_to(tmp_path)


def test_a_server_looks_where_its_settings_and_its_path_say(tmp_path: Path) -> None:
    found = interpreters.of_host(Settings(data=tmp_path, pythons=f" {REAL}, "))
    one = found.get(VERSION)
    assert one
    assert one.source == "setting"
    assert (tmp_path / "pythons.json").exists()


def test_what_the_settings_name_wins(tmp_path: Path) -> None:
    found = discover(tmp_path, extra=[REAL, tmp_path / "nothing"])
    one = found.get(VERSION)
    assert one
    assert (one.source, one.path) == ("setting", str(REAL))
    assert "no Python is there" in reason(found, tmp_path / "nothing")


def test_once_known_nobody_is_asked_again(tmp_path: Path) -> None:
    started = time.perf_counter()
    first = discover(tmp_path, path=settings.search_path())
    asking, best = time.perf_counter() - started, 1e9
    for _ in range(5):
        started = time.perf_counter()
        again = discover(tmp_path, path=settings.search_path())
        best = min(best, time.perf_counter() - started)
    assert again == first
    assert best < asking / 2


def test_a_changed_program_is_asked_again_and_damaged_memory_is_no_memory(tmp_path: Path) -> None:
    file = pyenv(tmp_path, "one") / "python3"
    shutil.copy(REAL, file)
    assert not [one for one in discover(tmp_path).problems if one.path == str(file)]
    file.write_bytes(b"\x7fELF and nothing more")
    assert "cannot be started" in reason(discover(tmp_path), file)
    (tmp_path / "pythons.json").write_text("{")
    assert discover(tmp_path).get(VERSION)


def test_a_box_gets_the_interpreter_at_its_own_path_unless_it_is_the_systems() -> None:
    def one(path: str, prefix: str) -> interpreters.Interpreter:
        return interpreters.Interpreter(
            version="3.11",
            release="3.11.7",
            path=path,
            source="pyenv",
            prefix=prefix,
            exec_prefix=prefix,
        )

    assert one("/usr/bin/python3.11", "/usr").binds() == []
    assert one("/usr/local/bin/python3.11", "/usr/local").binds() == []
    assert one("/opt/p/bin/python3", "/opt/p").binds() == [("/opt/p", "/opt/p")]
    assert one("/opt/bin/python3", "/opt/p").binds() == [
        ("/opt/bin", "/opt/bin"),
        ("/opt/p", "/opt/p"),
    ]
