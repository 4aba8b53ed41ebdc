"""Large bodies are written to disk until they are complete, each in a folder that is deleted with
its request.

Their size is limited in total, per tenant, and per key or account: a disk fills up as memory does.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tapeline import host_faults
from tapeline.errors import Overloaded, StoreUnavailable, TooManyUploads
from tapeline.fair_line import Owner
from tapeline.logs import Log

log = Log(__name__)


class Spool:
    def __init__(self, folder: Path, most: int, most_of_one: int) -> None:
        self.folder = folder
        self.taken: Counter[tuple[str, str, str]] = Counter()
        """Bytes by tenant, project and key."""
        self._of_tenants: Counter[str] = Counter()
        self._most = most
        self._most_of_one = most_of_one

    @contextmanager
    def room(self, owner: Owner) -> Iterator["Room"]:
        room = Room(self, owner)
        try:
            yield room
        finally:
            room.clear()
            self._give_back(owner, room.size)

    def take(self, owner: Owner, size: int) -> None:
        """A key has a limit of its own. Beyond that limit, a tenant may take as much as it leaves
        free: one that takes all it can still leaves room for others."""
        if self.taken[owner[:3]] + size > self._most_of_one:
            raise TooManyUploads
        left = self._most - self._of_tenants.total() - size
        if left < 0 or self._of_tenants[owner.tenant] + size > max(self._most_of_one, left):
            raise Overloaded
        self.taken[owner[:3]] += size
        self._of_tenants[owner.tenant] += size

    def _give_back(self, owner: Owner, size: int) -> None:
        self.taken[owner[:3]] -= size
        self._of_tenants[owner.tenant] -= size
        if not self.taken[owner[:3]]:
            del self.taken[owner[:3]]
        if not self._of_tenants[owner.tenant]:
            del self._of_tenants[owner.tenant]


class Room:
    """The folder of one request, made when it is needed: most batches are small."""

    def __init__(self, spool: Spool, owner: Owner) -> None:
        self.size = 0
        self._spool = spool
        self._owner = owner
        self._made: tempfile.TemporaryDirectory[str] | None = None

    @property
    def folder(self) -> Path:
        if self._made is None:
            where = self._spool.folder
            try:
                self._made = tempfile.TemporaryDirectory(dir=where, ignore_cleanup_errors=True)
            except OSError as error:
                raise unavailable(error) from error
        return Path(self._made.name)

    def clear(self) -> None:
        if self._made is not None:
            self._made.cleanup()

    def grow(self, size: int) -> None:
        """Call it before writing so many bytes."""
        self._spool.take(self._owner, size)
        self.size += size


def unavailable(error: OSError) -> StoreUnavailable:
    log.error("body_not_spooled", reason=error.strerror)
    return host_faults.unavailable(error)
