"""The shims: one small process per launch, so that models live on while the server restarts.

Started as `python -SIE <this folder> <room>` with a socket as standard input. This process is the
spawner: it has everything imported, and forks a shim for each launch that the server sends. So a
shim starts in a millisecond instead of fifty, and all shims share the interpreter's memory. The
spawner ends with the server; shims do not. Standard library only, and little of it.
"""

import ctypes
import errno
import gc
import json
import os
import signal
import socket
import sys
from typing import Any

sys.path[0] = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))

from tapeline.runs.shim import shortage, tree  # noqa: E402 - found only after the line above
from tapeline.runs.shim.lock import Lock  # noqa: E402
from tapeline.runs.shim.loop import Shim  # noqa: E402

LONGEST_NAME = 1000
# Errors of the host that may be gone in a moment.
PASSING = {
    errno.EACCES, errno.EAGAIN, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM,
    errno.ENOSPC, errno.ENOTDIR, errno.EROFS,
}  # fmt: skip
FORWARDS = (
    2  # to a socket in the data directory; shims without this line forward to a port, as before
)
ARGUMENTS_END = 46  # the place of `arg_end` in /proc/PID/stat, counted from the state


def main() -> None:
    server = socket.socket(fileno=os.dup(0))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no process waits for a shim
    gc.collect()
    gc.freeze()  # a collection would touch, and so copy, the memory that shims share
    while True:
        name, descriptors, _, _ = socket.recv_fds(server, LONGEST_NAME, 4)
        if not descriptors:
            return  # the server is gone
        try:
            is_shim = os.fork() == 0
        except OSError as error:
            os.write(descriptors[1], f"0\nlater {shortage.described(error)}".encode())
            is_shim = False
        if is_shim:
            server.close()
            _begin(name, descriptors)
            return
        for one in descriptors:
            os.close(one)


def _begin(name: bytes, descriptors: list[int]) -> None:
    """Standard input is the launch as JSON; the result goes to standard output."""
    os.setsid()
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.write(1, b"%d\n" % os.getpid())
    _set_title(name)
    with open(0, "rb", closefd=False) as file:
        spec = json.loads(file.read())
    spec["seccomp"] = None
    for descriptor in descriptors[3:]:
        os.set_inheritable(descriptor, False)
        spec["seccomp"] = descriptor
    _live(spec)


def _live(spec: dict[str, Any]) -> None:
    try:
        lock = Lock(spec["lock"])
        if not lock.take():
            _answer("held")
            os._exit(0)
        _announce_group(spec["folder"])
        shim = Shim(spec, lock)
    except Exception as error:  # noqa: BLE001 - whoever launched us is told
        if isinstance(error, OSError) and error.errno in PASSING:
            _answer(f"later {shortage.described(error)}")
        else:
            _answer(f"failed {error}")
        os._exit(0)
    _answer("ready")
    try:
        shim.run()
    except Exception as error:
        shim.abandon(f"The process that watches the run failed: {error!r}")
        raise
    finally:
        shim.close()


def _answer(text: str) -> None:
    os.write(1, text.encode(errors="replace"))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)


def _announce_group(folder: str) -> None:
    """A process id may be reused before it is read; together with its start time it is unique."""
    draft = os.path.join(folder, ".shim.json")
    with open(draft, "w") as file:
        known = {"pid": os.getpid(), "started": tree.started(os.getpid()), "forwards": FORWARDS}
        json.dump(known, file)
    os.replace(draft, os.path.join(folder, "shim.json"))


def _set_title(name: bytes) -> None:
    """`ps` shows our own memory: the last argument is space for a name."""
    room = len(sys.argv[-1])
    with open("/proc/self/stat") as file:
        end = int(file.read().rpartition(")")[2].split()[ARGUMENTS_END])
    ctypes.memmove(end - 1 - room, name[:room].ljust(room, b"\0"), room)


main()
