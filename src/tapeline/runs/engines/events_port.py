"""The socket to which shims forward the requests of models.

It lies in the data directory: only the server's own user has access, and models do not even see
it. So the run that a shim names for a connection can be trusted.
"""

import os
import socket
from contextlib import suppress
from pathlib import Path

import msgspec

from tapeline.runs.engines import shims
from tapeline.runs.shim.forward import SOCKET

OLDER = "address"
"""Shims that an older version started read here where the server listens."""
BACKLOG = 2048


def listen(runs: Path, name: str = SOCKET) -> socket.socket:
    """At the same path as the previous server: shims connect to it for each connection."""
    runs.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = socket.socket(socket.AF_UNIX)
    folder = os.open(runs, os.O_PATH | os.O_DIRECTORY)
    draft = runs / f"{name}.new"
    try:
        draft.unlink(missing_ok=True)
        # Through a descriptor, because a socket's path may have 107 characters at most.
        made.bind(f"/proc/self/fd/{folder}/{draft.name}")
        draft.chmod(0o600)
        made.listen(BACKLOG)
        draft.rename(runs / name)
    except BaseException:
        made.close()
        raise
    finally:
        os.close(folder)
    return made


def listen_for_older(runs: Path) -> socket.socket | None:
    """A port for running shims of an older version. They know no other way; before, they were given
    the server's own port, through which their models reached all of it."""
    if not any(_is_older(folder) for folder in runs.iterdir()):
        (runs / OLDER).unlink(missing_ok=True)
        return None
    made = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
    draft = runs / f"{OLDER}.new"
    draft.write_text(f"127.0.0.1:{made.getsockname()[1]}")
    draft.rename(runs / OLDER)
    return made


def _is_older(folder: Path) -> bool:
    with suppress(OSError, msgspec.DecodeError):
        known = msgspec.json.decode((folder / "shim.json").read_bytes(), type=dict[str, int])
        return "forwards" not in known and shims.is_running(folder)
    return False
