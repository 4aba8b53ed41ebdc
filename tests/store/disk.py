"""A small disk of a test's own, to fill, to make read-only, and to let hang."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import needs

LARGE = 8 * 1024**3  # takes no room until it is used


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

    @contextmanager
    def no_larger(self) -> Iterator[None]:
        """Full at once, however large it is. What is written while we look makes it larger."""
        for left in reversed(range(50)):
            found = os.statvfs(self.path)
            used = (found.f_blocks - found.f_bfree) * found.f_frsize
            try:
                self.remount(f"size={used}")
                break
            except subprocess.CalledProcessError:
                if not left:
                    raise
        try:
            yield
        finally:
            self.remount(self._size)

    def remount(self, mode: str) -> None:
        _run("mount", "-o", f"remount,{mode}", str(self.path))

    def unmount(self) -> None:
        _run("umount", "--lazy", str(self.path))


class HangingDisk:
    """A file with a file system in it; while it is frozen, whoever writes there waits."""

    def __init__(self, image: Path, path: Path) -> None:
        self.path, self._image = path, image
        with image.open("wb") as file:
            file.truncate(LARGE)
        _run("mkfs.ext4", "-q", "-F", str(image))
        self._mount()
        path.chmod(0o700)

    def _mount(self) -> None:
        # After an error it is read-only, as most distributions set it up.
        _run("mount", "-o", "loop,errors=remount-ro", str(self._image), str(self.path))

    @contextmanager
    def hanging(self) -> Iterator[None]:
        _run("fsfreeze", "--freeze", str(self.path))
        try:
            yield
        finally:
            _run("fsfreeze", "--unfreeze", str(self.path))

    def fail(self) -> None:
        """The kernel finds an error in the file system, and makes it read-only."""
        mounts = Path("/proc/self/mounts").read_text().splitlines()
        device = next(one.split()[0] for one in mounts if one.split()[1] == str(self.path))
        Path(f"/sys/fs/ext4/{Path(device).name}/trigger_fs_error").write_text("tried")

    def repair(self) -> None:
        """What an operator does once nothing uses it."""
        _run("umount", str(self.path))
        # A sandbox that starts just now, of anybody, has a copy of all mounts for a moment.
        while _run("losetup", "--associated", str(self._image)):
            time.sleep(0.1)
        checked = subprocess.run(
            ["e2fsck", "-f", "-y", str(self._image)], capture_output=True, check=False
        )
        assert checked.returncode in (0, 1), checked.stdout
        self._mount()


@contextmanager
def hanging_disk(image: Path, path: Path) -> Iterator[HangingDisk]:
    """Takes root and loop devices."""
    path.mkdir()
    try:
        disk = HangingDisk(image, path)
    except (OSError, subprocess.CalledProcessError) as error:
        needs.missing(f"a disk that hangs cannot be made here: {error}")
    try:
        yield disk
    finally:
        _run("umount", "--lazy", str(path))


@contextmanager
def small_disk(path: Path, megabytes: int = 2) -> Iterator[Disk]:
    """Mounting takes root."""
    path.mkdir()
    try:
        disk = Disk(path, megabytes)
    except (OSError, subprocess.CalledProcessError) as error:
        needs.missing(f"a disk of the test's own cannot be mounted here: {error}")
    try:
        yield disk
    finally:
        disk.unmount()


def _run(*command: str) -> bytes:
    return subprocess.run(command, check=True, capture_output=True).stdout
