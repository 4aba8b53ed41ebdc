"""The tutorial works word for word, from the clone to the checked record."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.conftest import PASSWORD, Home, Server
from tests.acceptance.traders import pythons
from tests.commands import Shell
from tests.transcripts import follow, steps_of
from tests.waiting import wait_for

ROOT = Path(__file__).parents[2]
PAGE = steps_of("tutorial.md")
# What brings the server and the command; the slow test below runs it.
FIRST = [
    "git clone <this repository> tapeline",
    "cd tapeline",
    "make run",
    'export PATH="$PWD/.venv/bin:$PATH"',
]
ADDRESS = "http://127.0.0.1:8700"


@pytest.fixture
def server(home: Home) -> Server:
    everywhere = ",".join(one.path for one in pythons())
    return home.up(TAPELINE_PYTHONS=everywhere, TAPELINE_STOP_SECONDS="2")


def read_on(shell: Shell, address: str) -> None:
    """The page after its first part. Commands that ask for a password read it from standard input
    where there is no terminal."""
    follow(PAGE[len(FIRST) :], shell, typed={ADDRESS: address}, stdin=f"{PASSWORD}\n")


@pytest.mark.heavy
def test_every_command_of_the_tutorial_works_as_it_stands(
    home: Home, server: Server, tmp_path: Path
) -> None:
    assert [one.command for one in PAGE[: len(FIRST)]] == FIRST
    assert len(PAGE) > 20
    assert sum(bool(one.shown) for one in PAGE) > 15, "the page shows what comes back"
    path = f"{Path(sys.executable).parent}:{os.defpath}"
    shell = Shell(home.path, home.environment | {"PATH": path, "NO_COLOR": "1"}, tmp_path / "at")
    read_on(shell, server.address)


@pytest.mark.slow
def test_the_first_step_works_from_nothing_but_a_clone(home: Home, tmp_path: Path) -> None:
    """What is committed, with no .venv, no node_modules and nothing built."""
    clone = ["git", "clone", "--quiet", str(ROOT), str(home.path / "tapeline")]
    subprocess.run(clone, check=True)
    # What the machine says about proxies, certificates and mirrors counts.
    environment = os.environ | {"HOME": str(home.path), "TAPELINE_PORT": "0", "NO_COLOR": "1"}
    with (
        (tmp_path / "out").open("w") as out,
        subprocess.Popen(
            ["make", "run"], cwd=home.path / "tapeline", env=environment, stdout=out, stderr=out
        ) as make,
    ):
        try:
            said = tmp_path / "out"
            wait_for(lambda: "Ctrl-C stops it." in said.read_text() or make.poll() is not None, 600)
            found = re.search(r"is ready at (http://\S+)", said.read_text())
            assert found, said.read_text()
            home_path = f"{home.path}/tapeline/.venv/bin:{os.defpath}"
            shell = Shell(home.path, environment | {"PATH": home_path}, tmp_path / "at")
            docs = shell.types(f"curl -sfL {found[1]}/docs")
            assert "<title>Tapeline" in docs
            read_on(shell, found[1])
        finally:
            make.terminate()
