"""How many file descriptors this process may have, how many are reserved, and which are ready.

Without a reserve, a flood of connections takes the last descriptor, and the supervisor can open
neither a lock nor a journal.
"""

import resource
import select
import socket
from collections.abc import Iterable

from tapeline import host_faults

MOST = 1_048_576  # child processes inherit it, and some loop over all possible descriptors
RESERVE = 256
"""For the database, journals, locks, launches and uploads in progress."""
LEAST = 256
"""With fewer, a server would answer some requests, refuse others and leave models unsupervised."""


def raise_limit() -> int:
    """Raise the soft limit as far as possible without root, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return limit()


def shortage() -> str | None:
    """Why a server cannot run with this limit, and what to do."""
    if limit() >= LEAST:
        return None
    few = f"The server needs {LEAST} open files, and may have only {limit()}."
    return f"{few} {host_faults.MORE_FILES}"


def limit() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else soft


def for_connections() -> int:
    """How many descriptors connections may use; the rest is reserved."""
    return limit() - min(RESERVE, limit() // 2)


def readable(*some: int | socket.socket, within: float | None = None) -> list[int]:
    """Those with something to read, or whose other end is gone, within so many seconds.

    By `poll`: `select` knows no descriptor above 1023, and this process may have many more.
    """
    return _ready(some, select.POLLIN, within)


def writable(one: int, *, within: float) -> bool:
    return bool(_ready([one], select.POLLOUT, within))


def _ready(some: Iterable[int | socket.socket], event: int, within: float | None) -> list[int]:
    waiting = select.poll()
    for one in some:
        waiting.register(one, event)
    milliseconds = None if within is None else max(0.0, within) * 1000
    return [found for found, _ in waiting.poll(milliseconds)]
