"""A person at a terminal: a home of their own, the real command, the real server."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import spawner
from tests.acceptance.conftest import PASSWORD, Home, Server, first_start, shared_home, used_home
from tests.acceptance.traders import pythons
from tests.waiting import SLOW_MACHINE

__all__ = ["first_start", "shared_home", "used_home"]  # fixtures, for the tests here

QUESTION_ENDS = (b": ", b"] ")
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Person:
    """Runs `tapeline`; knows nothing of the server's own home."""

    def __init__(self, path: Path, server: Server) -> None:
        path.mkdir(exist_ok=True)
        self.home = Home(path)
        self.server = server
        self.at = path

    def environment(self, **variables: str) -> dict[str, str]:
        return self.home.environment | {"TERM": "xterm-256color", "TZ": "UTC"} | variables

    def run(
        self, *arguments: str, stdin: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return spawner.run(
            arguments,
            environment=self.environment(**variables),
            cwd=self.at,
            stdin=stdin,
            seconds=SLOW_MACHINE,
        )

    def does(self, *arguments: str, stdin: str = "", **variables: str) -> str:
        """A command that works: what it prints."""
        ended = self.run(*arguments, stdin=stdin, **variables)
        assert ended.returncode == 0, f"{arguments}\n{ended.stdout}\n{ended.stderr}"
        return ended.stdout

    def gets(self, *arguments: str, stdin: str = "", **variables: str) -> Any:
        """The same with --json: what it answers."""
        return json.loads(self.does(*arguments, "--json", stdin=stdin, **variables))

    def fails(self, exit_code: int, *arguments: str, stdin: str = "", **variables: str) -> str:
        """A command that must not work: the one sentence it says."""
        ended = self.run(*arguments, stdin=stdin, **variables)
        assert ended.returncode == exit_code, f"{arguments}\n{ended.stdout}\n{ended.stderr}"
        assert "Traceback" not in ended.stderr
        said = ended.stderr.strip().splitlines()[-1]
        assert said.startswith("tapeline: "), ended.stderr
        return said

    def begins(self, *arguments: str, **variables: str) -> "subprocess.Popen[str]":
        """A command that goes on."""
        return subprocess.Popen(
            self.home.command(*arguments),
            env=self.environment(**variables),
            cwd=self.at,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def signs_in(self) -> "Person":
        self.does(
            "login", "--server", self.server.address, "--email", "ada@example.com",
            "--password-stdin", stdin=f"{PASSWORD}\n",
        )  # fmt: skip
        return self

    def in_terminal(
        self, *arguments: str, columns: int = 80, types: str = "", **variables: str
    ) -> tuple[int, str]:
        """The exit status, and all that a terminal of this width was sent."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        command = spawner.start(
            arguments,
            (theirs, theirs, theirs),
            environment=self.environment(**variables),
            cwd=self.at,
            at_terminal=True,  # as a person has: a secret is asked for at the controlling one
        )
        os.close(theirs)
        sent = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # how Linux says that nobody is left at the other end
                break
            sent += piece
            # Not before it is asked: who asks for a secret throws away what was typed ahead.
            # The space after the question is what comes last, when it listens.
            if types and sent.endswith(QUESTION_ENDS):
                os.write(ours, types.encode())
                types = ""
        os.close(ours)
        return command.wait(SLOW_MACHINE), sent.decode()


def plain(text: str) -> str:
    return COLOURS.sub("", text)


def until(process: "subprocess.Popen[str]", text: str, seconds: float = SLOW_MACHINE) -> str:
    """What a command that goes on has printed up to and with the line that holds a text."""
    assert process.stdout is not None
    deadline, lines = time.monotonic() + seconds, ""
    for line in process.stdout:
        lines += line
        if text in line:
            return lines
        assert time.monotonic() < deadline, lines
    raise AssertionError(f"{text!r} never came:\n{lines}")


@pytest.fixture(scope="module")
def server(shared_home: Home) -> Iterator[Server]:
    home = shared_home
    everywhere = ",".join(one.path for one in pythons())
    started = home.up(TAPELINE_PYTHONS=everywhere, TAPELINE_STOP_SECONDS="2")
    added = home.run("user", "add", "ada@example.com", "--name", "Ada", stdin=PASSWORD)
    assert added.returncode == 0, added.stderr
    yield started
    home.servers[-1].end()


@pytest.fixture
def person(tmp_path: Path, server: Server) -> Person:
    """Somebody who has never used the command here."""
    return Person(tmp_path / "person", server)


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory, server: Server) -> Person:
    """Signed in; shared by the tests of a module."""
    return Person(tmp_path_factory.mktemp("ada") / "home", server).signs_in()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A host on which nothing was ever set up."""
    made = Home(tmp_path / "home")
    made.path.mkdir()
    yield made
    made.close()
