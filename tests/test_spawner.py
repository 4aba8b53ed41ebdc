"""A forked command is the one that `python -m tapeline` runs."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import spawner
from tests.acceptance.conftest import Home
from tests.waiting import SLOW_MACHINE

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize(
    "arguments",
    [["version"], ["user", "list"], ["no-such-command"], ["deploy", "--help"]],
    ids=" ".join,
)
def test_it_says_and_returns_the_same(tmp_path: Path, arguments: list[str]) -> None:
    home = Home(tmp_path)
    anew = home.run_in(command=arguments, COLUMNS="100")
    forked = home.run(*arguments, COLUMNS="100")
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        anew.returncode,
        anew.stdout,
        anew.stderr,
    )


def test_nothing_of_the_tests_and_of_other_commands_is_around_it(tmp_path: Path) -> None:
    server = Home(tmp_path).up()
    try:
        around = Path(f"/proc/{server.process.pid}")
        assert (around / "cwd").readlink() == tmp_path
        streams = [(around / "fd" / str(number)).readlink() for number in range(3)]
        assert streams == [Path(os.devnull), tmp_path / "out-0", tmp_path / "err-0"]
        ours = set(Path("/proc/self/fd").iterdir())
        other = Home(tmp_path)
        assert other.run("version", HOME="/nowhere").returncode == 0
        assert set(Path("/proc/self/fd").iterdir()) == ours, "no descriptor stays open"
    finally:
        server.process.kill()
    assert server.process.wait(SLOW_MACHINE) == -signal.SIGKILL


def test_a_command_that_takes_too_long_ends_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with pytest.raises(subprocess.TimeoutExpired):
        spawner.run(["version"], environment=home.environment, cwd=tmp_path, seconds=0)
    assert home.run("version").returncode == 0


def test_the_process_that_forks_ends_with_the_tests() -> None:
    once = f"""
from pathlib import Path
from tests import spawner
spawner.run(["version"], environment={{}}, cwd=Path("/"), seconds={SLOW_MACHINE})
print(*Path("/proc/thread-self/children").read_text().split())
"""
    asked = [sys.executable, "-c", once]
    ended = subprocess.run(asked, cwd=spawner.ROOT, capture_output=True, text=True, check=True)
    (spawned,) = ended.stdout.split()
    assert not Path(f"/proc/{spawned}").exists()
