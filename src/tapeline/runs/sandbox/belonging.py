"""Proves that a process belongs to a run of this data directory, before anything is done to it.

A copy of a data directory on the same machine has the run ids, titles and notes of its original.
Only the kernel can tell them apart: it knows which folder is mounted in a sandbox, and which files
a process has open.
"""

import os
import re
from contextlib import suppress
from pathlib import Path

from tapeline.runs.sandbox import foreign_files
from tapeline.runs.shim import tree

ESCAPED = re.compile(r"[ \t\n\\]")  # the kernel writes these as octal numbers in `mountinfo`

LONGEST_NAME = 100  # of a model or a run

Place = tuple[str, str]
"""A file system, and a path in it: the same in every mount namespace, whatever is mounted where."""


class Belonging:
    """Whether processes are of the run with this name in this folder of runs."""

    def __init__(self, runs: Path, name: str) -> None:
        self._place = _place_of(runs, name)
        self._folder = f"{os.path.realpath(runs)}/"
        self._name = f"/{name}"
        # The model's user cannot write there, but whoever did must not make us wait at a pipe.
        noted = (foreign_files.read_text(runs / name / "lock", LONGEST_NAME) or "").strip() or name
        self._files = _identities(runs / name / "shim.log", runs / "locks" / noted)

    def of(self, pid: int) -> bool:
        return self.has_mounted(pid) or self.has_opened(pid)

    def is_of_another(self, pid: int) -> bool:
        """Of a run with this name in another folder, which was moved away from here or copied."""
        links = [f"/proc/{pid}/cwd", *_descriptors(pid)]
        is_named = self._name in tree.read(f"/proc/{pid}/mountinfo") or any(
            self._name in _target(one) for one in links
        )
        return is_named and not self.of(pid)

    def is_mounted_by_another(self, pid: int) -> bool:
        """A sandbox of a run with this name in another folder."""
        return f"{self._name}/" in tree.read(f"/proc/{pid}/mountinfo") and not self.of(pid)

    def has_mounted(self, pid: int) -> bool:
        """Its folder, or something in it. A sandbox cannot change that, whatever it calls itself,
        and a folder that is renamed or deleted keeps its mounts."""
        if self._place is None:
            return False
        device, inside = self._place
        # The text of nearly all processes has nothing of it, and need not be taken apart.
        mounts = tree.read(f"/proc/{pid}/mountinfo")
        return inside in mounts and any(
            line[2] == device and line[3].startswith(inside)
            for line in map(str.split, mounts.splitlines())
        )

    def has_opened(self, pid: int) -> bool:
        """A file of this folder of runs, such as the lock that a launch holds to its end. The link
        shows a deleted one, the identity one that was opened through another mount."""
        return any(map(self._is_ours, _descriptors(pid)))

    def _is_ours(self, descriptor: str) -> bool:
        if _target(descriptor).startswith(self._folder):
            return True
        with suppress(FileNotFoundError, ProcessLookupError):
            found = os.stat(descriptor)  # noqa: PTH116
            return (found.st_dev, found.st_ino) in self._files
        return False


def _descriptors(pid: int) -> list[str]:
    folder = f"/proc/{pid}/fd"
    with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
        return [f"{folder}/{number}" for number in os.listdir(folder)]  # noqa: PTH208
    return []


def _target(link: str) -> str:
    with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
        return os.readlink(link)  # noqa: PTH115 - one of thousands
    return ""


def _place_of(runs: Path, name: str) -> Place | None:
    """What `mountinfo` says of a mount of the run's folder, up to its content."""
    try:
        descriptor = os.open(runs, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None  # nothing in it can be mounted under its name
    try:
        path = os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115
        facts = tree.read(f"/proc/self/fdinfo/{descriptor}").split()
    finally:
        os.close(descriptor)
    mount = facts[facts.index("mnt_id:") + 1]
    for line in map(str.split, tree.read("/proc/self/mountinfo").splitlines()):
        if line[0] == mount:
            _, _, device, top, at, *_ = line
            inside = _escaped(path).removeprefix(at.rstrip("/"))
            return device, f"{top.rstrip('/')}{inside}/{name}/"
    return None


def _escaped(path: str) -> str:
    return ESCAPED.sub(lambda found: f"\\{ord(found[0]):03o}", path)


def _identities(*files: Path) -> set[tuple[int, int]]:
    found = set()
    for file in files:
        with suppress(OSError):
            status = file.lstat()
            found.add((status.st_dev, status.st_ino))
    return found
