"""The real command in a process of its own, with nothing of the developer's around it."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from tapeline.runs.shim import tree
from tests import spawner
from tests.waiting import SLOW_MACHINE, wait_for

PASSWORD = "correct horse battery"


class Server:
    """A `tapeline up` that is running, or was."""

    def __init__(
        self,
        home: "Home",
        arguments: list[str],
        variables: dict[str, str],
        around: tuple[str, ...] = (),
    ) -> None:
        self.home = home
        self.variables = variables
        number = len(home.servers)
        self._out = home.path / f"out-{number}"
        self._err = home.path / f"err-{number}"
        self.process: subprocess.Popen[bytes] | spawner.Command
        with (
            self._out.open("wb") as out,
            self._err.open("wb") as err,
            Path(os.devnull).open("rb") as null,
        ):
            if around:
                self.process = subprocess.Popen(
                    [*around, *home.command("up", *arguments)],
                    env=home.environment | variables,
                    cwd=home.path,
                    stdin=null,
                    stdout=out,
                    stderr=err,
                )
            else:
                self.process = spawner.start(
                    ["up", *arguments],
                    (null.fileno(), out.fileno(), err.fileno()),
                    environment=home.environment | variables,
                    cwd=home.path,
                )

    @property
    def said(self) -> str:
        return self._out.read_text()

    @property
    def log(self) -> str:
        return self._err.read_text()

    @property
    def address(self) -> str:
        found = re.search(r"is ready at (http://\S+)", self.said)
        assert found, f"not ready:\n{self.said}\n{self.log}"
        return found[1]

    @property
    def port(self) -> int:
        return int(self.address.rsplit(":", 1)[1])

    @property
    def setup_code(self) -> str:
        """What it asks for before the first account, where it can be reached from afar."""
        found = re.search(r"setup code +(\S+)", self.said)
        return found[1] if found else ""

    def wait_until_ready(self) -> None:
        wait_for(lambda: "Ctrl-C stops it." in self.said or self.process.poll() is not None)
        assert self.process.poll() is None, f"ended at once:\n{self.said}\n{self.log}"

    def client(self) -> httpx.Client:
        # Plain http: to read the system's certificates costs more than all that a client asks.
        return httpx.Client(base_url=self.address, timeout=30, verify=False)

    def report(self) -> None:
        """Write how it ended and what it said last; pytest shows that for a failed test."""
        ended = self.process.poll()
        sys.stdout.write(f"exit status {ended}:\n{self.said}\n{self.log[-5_000:]}\n")

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(SLOW_MACHINE)


@dataclass
class Home:
    """A person's home directory, in which nothing was ever set up."""

    path: Path
    servers: list[Server] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.path), **spawner.CLEAN}

    @property
    def data(self) -> Path:
        return self.path / ".tapeline"

    def settle(self, tables: Path, pythons: Path) -> None:
        """Put there what a first start would make."""
        self.data.mkdir(mode=0o700)
        for file, name in ((tables, "tapeline.db"), (pythons, "pythons.json")):
            (self.data / name).touch(mode=0o600)
            shutil.copyfile(file, self.data / name)

    @staticmethod
    def command(*arguments: str) -> list[str]:
        return [sys.executable, "-m", "tapeline", *arguments]

    def begin_in(
        self, *around: str, options: Sequence[str] = ("--port", "0"), **variables: str
    ) -> Server:
        """Start `tapeline up` as the last arguments of another command, without waiting for it."""
        self.servers.append(Server(self, [*options], variables, around))
        return self.servers[-1]

    def up_in(
        self, *around: str, options: Sequence[str] = ("--port", "0"), **variables: str
    ) -> Server:
        server = self.begin_in(*around, options=options, **variables)
        server.wait_until_ready()
        return server

    def begin(self, *arguments: str, **variables: str) -> Server:
        """Start `tapeline up` without waiting for it."""
        chosen = [*arguments] if "--port" in arguments else [*arguments, "--port", "0"]
        self.servers.append(Server(self, chosen, variables))
        return self.servers[-1]

    def up(self, *arguments: str, **variables: str) -> Server:
        server = self.begin(*arguments, **variables)
        server.wait_until_ready()
        return server

    def run(
        self, *arguments: str, stdin: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """A command that ends by itself."""
        return spawner.run(
            arguments,
            environment=self.environment | variables,
            cwd=self.path,
            stdin=stdin,
            seconds=SLOW_MACHINE,
        )

    def run_in(
        self, *around: str, command: Sequence[str], **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """The same as the last arguments of another command, in a Python that is started anew."""
        return subprocess.run(
            [*around, *self.command(*command)],
            env=self.environment | variables,
            cwd=self.path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SLOW_MACHINE,
            check=False,
        )

    def refused(self, *arguments: str, exit_code: int, **variables: str) -> str:
        """What a command says that must not work: one line, and no traceback."""
        ended = self.run(*arguments, **variables)
        assert ended.returncode == exit_code, ended.stdout + ended.stderr
        assert "Traceback" not in ended.stderr
        said = ended.stderr.strip()
        assert said.startswith("tapeline: "), said
        assert len(said.splitlines()) == 1, said
        return said

    def close(self) -> None:
        for server in self.servers:
            server.report()
            if server.process.poll() is None:
                server.process.kill()
            server.process.wait()
        # Models outlive a server that is killed; tests must not leave any behind.
        for file in self.data.glob("runs/*/shim.json"):
            with suppress(OSError, ValueError):
                kill_shim(file)


def kill_shim(note: Path) -> None:
    """By what it noted about itself: its process id may belong to another process by now."""
    known = json.loads(note.read_text())
    if tree.started(known["pid"]) == known["started"]:
        os.kill(known["pid"], signal.SIGKILL)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path / "home")
    made.path.mkdir()
    yield made
    made.close()


@pytest.fixture(scope="session")
def first_start(sqlite_template: Path, known_pythons: Path) -> tuple[Path, Path]:
    """What a first start leaves and takes most of its time: the tables, and what the host's Pythons
    say. The next start checks both as it always does."""
    return sqlite_template, known_pythons


@pytest.fixture
def used_home(tmp_path: Path, first_start: tuple[Path, Path]) -> Iterator[Home]:
    """A home in which a server has run, without any account: for tests that begin later."""
    made = Home(tmp_path / "home")
    made.path.mkdir()
    made.settle(*first_start)
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared_home(
    tmp_path_factory: pytest.TempPathFactory, first_start: tuple[Path, Path]
) -> Iterator[Home]:
    """One of these for all tests of a module that do not disturb each other."""
    made = Home(tmp_path_factory.mktemp("home"))
    made.settle(*first_start)
    yield made
    made.close()


@pytest.fixture(scope="module")
def server(shared_home: Home) -> Server:
    return shared_home.up()


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as opened:
        yield opened
