"""Watches what a launch takes on disk: closely when it could be over in a moment, rarely otherwise.

Nothing in every kernel bounds several folders together. The disk's free space is one cheap question
that tells how much the folders can have grown at most; only when that could be too much are they
walked. The next question comes before the fastest writer could use up what is left.
"""

import os
import time
from collections.abc import Callable

from tapeline.runs.shim import tree

FASTEST = 4e9  # bytes a second, into the page cache
SOONEST, LATEST = 0.02, 2.0  # seconds between two questions
WALKED_EVERY = 60.0  # whatever the free space says: others may have made room meanwhile
SLACK = 4 * 1024 * 1024  # what a launch may add that begins over its limit
TOLERATED = 1.1  # times the limit: what a launch may begin with, to make room itself
UNBOUNDED = 1 << 62

Pids = Callable[[], list[int]]


class DiskUse:
    def __init__(self, folders: list[str], most: int) -> None:
        self._folders, self._most = folders, most
        self._free, self._grown, self._used = _free_bytes(folders) or 0, 0, 0
        self._walk([], UNBOUNDED)
        # Whatever the launch before left: it may take that away, and add nothing.
        if most < self._used <= most * TOLERATED:
            self._most = self._used + SLACK
        self._rest = 0.0
        self.look_at = 0.0
        """When to ask again."""

    def is_over(self, now: float, pids: Pids) -> bool:
        free = _free_bytes(self._folders)
        if free is None:
            self.look_at = now + LATEST  # away for a moment: no reason to end the model
            return False
        # Counted up at every look, so that room that others make hides nothing that is taken.
        self._grown += max(0, self._free - free)
        self._free = free
        if self._used + self._grown > self._most:
            self._count(pids)
        elif now - self._walked_at >= WALKED_EVERY:
            self._walk(pids(), self._most)
        left = self._most - self._used - self._grown
        self.look_at = now + min(LATEST, max(SOONEST, left / FASTEST, self._rest))
        return self._used > self._most

    def _count(self, pids: Pids) -> None:
        """It may be too much: nobody writes on while we look."""
        stopped = tree.stop(pids)
        used, grown = self._used, self._grown
        try:
            self._walk(pids(), self._most)
        finally:
            tree.go_on(stopped)
        # When it is others who fill the disk, a long walk is not begun again at once.
        was_ours = self._used - used > grown / 2
        self._rest = 0.0 if was_ours else 5 * self._walk_took

    def _walk(self, pids: list[int], most: int) -> None:
        self._walked_at = time.monotonic()
        self._used, self._grown = tree.disk_bytes(self._folders, pids, most), 0
        self._walk_took = time.monotonic() - self._walked_at


def _free_bytes(folders: list[str]) -> int | None:
    """Of the disks that they lie on, each once; None while one cannot be asked."""
    disks = {}
    try:
        for folder in folders:
            disk = os.statvfs(folder)
            disks[os.stat(folder).st_dev] = disk.f_bavail * disk.f_frsize
    except OSError:
        return None
    return sum(disks.values())
