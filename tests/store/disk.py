"""A small disk of a test's own, to fill and to make read-only."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class Disk:
    """A mounted tmpfs."""

    def __init__(self, path: Path, megabytes: int) -> None:
        self.path = path
        self._filler = path / "filler"
        self._size = f"size={megabytes}m"
        _run("mount", "-t", "tmpfs", "-o", self._size, "tmpfs", str(path))

    def fill(self) -> None:
        with self._filler.open("ab", buffering=0) as file:
            for size in (65536, 4096):
                try:
                    while file.write(bytes(size)):
                        pass
                except OSError:
                    continue

    def free(self) -> None:
        self._filler.unlink()

    def remount(self, mode: str) -> None:
        _run("mount", "-o", f"remount,{mode}", str(self.path))

    def unmount(self) -> None:
        _run("umount", "--lazy", str(self.path))


@contextmanager
def small_disk(path: Path, megabytes: int = 2) -> Iterator[Disk]:
    """Mounting takes root: without it the test is skipped, but never in CI."""
    path.mkdir()
    try:
        disk = Disk(path, megabytes)
    except (OSError, subprocess.CalledProcessError) as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"a disk of the test's own cannot be mounted here: {error}")
    try:
        yield disk
    finally:
        disk.unmount()


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
