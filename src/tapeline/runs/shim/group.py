"""The control group of a launch, as files that the server names: its members, and its end.

A group ends as a whole. Killing one process after another loses against a program that forks
faster than it is killed.
"""

import os
import signal
from contextlib import suppress
from typing import Any

from tapeline.runs.shim import tree

ROUNDS = 20  # of looking for members; after the first nothing new can appear


class Group:
    """Without any files, the processes of a launch are looked up instead."""

    def __init__(self, files: dict[str, Any] | None) -> None:
        files = files or {}
        self.exists = bool(files)
        self._join: list[str] = files.get("join", [])
        self._events: list[str] = files.get("oom", [])
        self._forks: list[str] = files.get("forks", [])
        self._kill: list[str] = files.get("kill", [])
        self._folders: list[str] = files.get("folders", [])
        self._opening: dict[str, str] = files.get("opening", {})
        self._ending: dict[str, str] = files.get("ending", {})

    def members(self) -> list[int]:
        found: set[int] = set()
        for path in self._join:
            found.update(int(one) for one in tree.read(path).split())
        return list(found)

    def oom_kills(self) -> int:
        return _counted(self._events, "oom_kill")

    def refused_forks(self) -> int:
        """Processes and threads that its members tried to start beyond their limit."""
        return _counted(self._forks, "max")

    def open(self) -> None:
        """Give it the limits of its plan again: the end of the attempt before has changed them."""
        for path, text in self._opening.items():
            _write(path, text)

    def kill(self) -> None:
        """From the first step on nothing in it can fork, and no quota delays a process that has
        to run in order to die."""
        for path, text in self._ending.items():
            _write(path, text)
        for path in self._kill:
            _write(path, "1")
        killed: set[int] = set()
        for _ in range(ROUNDS):  # a fork that was under way appears in the second
            new = set(self.members()) - killed
            if not new:
                return
            for pid in new:
                tree.send(pid, signal.SIGKILL)
            killed |= new

    def remove(self) -> None:
        for folder in self._folders:
            with suppress(OSError):  # the server removes the rest
                os.rmdir(folder)
                os.rmdir(os.path.dirname(folder))  # goes with the last of all launches


def _counted(paths: list[str], wanted: str) -> int:
    for path in paths:
        for line in tree.read(path).splitlines():
            name, _, number = line.partition(" ")
            if name == wanted:
                return int(number)
    return 0


def _write(path: str, text: str) -> None:
    with suppress(OSError), open(path, "w") as file:
        file.write(text)
