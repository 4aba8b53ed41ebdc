"""Files in a node's folder that its process and Ray's agent both know."""

import os
from contextlib import suppress
from pathlib import Path

SOCKET, LOG, EARLIER_LOG = "node.sock", "node.log", "node.log.1"
LONGEST_LOG = 10_000_000  # bytes; of each of the two


def shorten_log(folder: Path) -> None:
    """Move a long log to the file of earlier lines. By its content: the process that writes it has
    it open, to append."""
    with suppress(OSError), (folder / LOG).open("rb+") as log:
        size = os.fstat(log.fileno()).st_size
        if size <= LONGEST_LOG:
            return
        log.seek(size - LONGEST_LOG)
        with suppress(OSError):  # on a full disk, that it becomes shorter matters more
            (folder / EARLIER_LOG).write_bytes(log.read(LONGEST_LOG))
        log.truncate(0)
