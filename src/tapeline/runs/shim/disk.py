"""Watches the disk use of a launch: often when it could soon exceed its limit, rarely otherwise.

No kernel limits several folders together. The disk's free space is a cheap check that shows how
much the folders can have grown at most; only when that could be too much are they walked. The next
check comes before the fastest writer could use up the rest.
"""

import os
import time
from collections.abc import Callable

from tapeline.runs.shim import tree

FASTEST = 4e9  # bytes a second, into the page cache
SOONEST, LATEST = 0.02, 2.0  # seconds between two checks
WALKED_EVERY = 60.0  # regardless of the free space: other processes may have freed some
WALKED_AFTER = 16  # so large a part of the limit that may have been added: people watch the use
MOST_WALKING = 50  # times as long as a walk takes is the pause after it
SLACK = 4 * 1024 * 1024  # how much a launch may add that starts over its limit
TOLERATED = 1.1  # times the limit: how full a launch may start, so that it can free space itself
UNBOUNDED = 1 << 62
STOPPED_WITHIN = 1.0  # seconds

Pids = Callable[[], list[int]]


class DiskUse:
    def __init__(self, folders: list[str], most: int) -> None:
        self._folders, self._most = folders, most
        self._free = _free_bytes(folders) or 0
        self._used = self._grown = self._mapped = 0
        self._walk_took = 0.0
        self._walk([], UNBOUNDED)
        # Files of the launch before count: it may delete them, and add nothing.
        if most < self._used <= most * TOLERATED:
            self._most = self._used + SLACK
        self._rest = 0.0
        self.look_at = 0.0
        """When to check again."""

    def is_over(self, now: float, pids: Pids) -> bool:
        free = _free_bytes(self._folders)
        if free is None:
            self.look_at = now + LATEST  # missing for a moment: no reason to end the model
            return False
        # Added up at every check, so that space freed by others hides no growth.
        self._grown += max(0, self._free - free)
        self._free = free
        if now - self._walked_at >= self._walk_after():
            self._survey(pids())
        if self._used + self._grown > self._most:
            self._count(pids)
        left = self._most - self._used - self._grown
        self.look_at = now + min(LATEST, max(SOONEST, left / FASTEST, self._rest))
        return self._used > self._most

    def known(self) -> tuple[int, int]:
        """Bytes used when last counted, and how many may be used."""
        return self._used, self._most

    def _walk_after(self) -> float:
        if self._grown < self._most // WALKED_AFTER:
            return WALKED_EVERY
        return min(WALKED_EVERY, max(LATEST, MOST_WALKING * self._walk_took))

    def _survey(self, pids: list[int]) -> None:
        """Without a pause of the processes, and so without looking at their memory: growth that is
        found nowhere stays suspected, until it is counted."""
        before = self._used
        self._walk(pids, self._most)
        self._used += self._mapped
        self._grown = max(0, self._grown - max(0, self._used - before))

    def _count(self, pids: Pids) -> None:
        """It may be too much: the processes are paused while we count."""
        stopped = tree.stop(pids)
        used, grown = self._used, self._grown
        try:
            self._walk(pids(), self._most)
            quiet = tree.settled(stopped, STOPPED_WITHIN)
            self._mapped = tree.mapped_bytes(self._folders, pids(), quiet)
        finally:
            tree.go_on(stopped)
        self._used, self._grown = self._used + self._mapped, 0
        # When other processes fill the disk, a long walk is not repeated at once.
        was_ours = self._used - used > grown / 2
        self._rest = 0.0 if was_ours else 5 * self._walk_took

    def _walk(self, pids: list[int], most: int) -> None:
        self._walked_at = time.monotonic()
        self._used = tree.disk_bytes(self._folders, pids, most)
        self._walk_took = time.monotonic() - self._walked_at


def _free_bytes(folders: list[str]) -> int | None:
    """Free bytes of their disks, each counted once; None while one cannot be read."""
    disks = {}
    try:
        for folder in folders:
            disk = os.statvfs(folder)
            disks[os.stat(folder).st_dev] = disk.f_bavail * disk.f_frsize
    except OSError:
        return None
    return sum(disks.values())
