"""The lock of a launch, which the kernel holds until the shim and its sandbox are gone.

The sandbox inherits it opened for reading only: what is noted in the file is the shim's word.
"""

import fcntl
import os
import time
from contextlib import suppress

from tapeline.runs.shim import tree

TRIES = 10  # a check of the lock holds it for a moment


class Lock:
    def __init__(self, path: str) -> None:
        self.held = os.open(path, os.O_RDONLY | os.O_CREAT, 0o600)
        """The sandbox inherits this one."""
        # The same file, even if another one has its name by now.
        self._noting = os.open(f"/proc/self/fd/{self.held}", os.O_WRONLY)

    def take(self) -> bool:
        for _ in range(TRIES):
            try:
                fcntl.flock(self.held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.01)
                continue
            if not tree.is_alive(os.pread(self.held, 100, 0)):
                os.pwrite(self._noting, tree.no_note(), 0)
                return True
            fcntl.flock(self.held, fcntl.LOCK_UN)
            time.sleep(0.01)
        return False

    def touch(self) -> None:
        """The file's time says until when the launch was alive, if the shim cannot say it any
        more."""
        with suppress(OSError):
            os.utime(self._noting)

    def note(self, first: int) -> None:
        """Note the sandbox's first process, in the space that `take` reserved: the disk may be
        full by now."""
        os.pwrite(self._noting, tree.note(first), 0)
