"""The shim: one small process per launch, so that models live on while the server restarts.

Started as `python -SIE <this folder> <name>` with the launch as JSON on standard input. It answers
on standard output, one line: `ready`, or why not. Standard library only, and little of it: there is
one of these for every model.
"""

import fcntl
import json
import os
import sys
import time

sys.path[0] = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))

from tapeline.runs.shim import tree  # noqa: E402 - found only after the line above
from tapeline.runs.shim.loop import Shim  # noqa: E402


def main() -> None:
    spec = json.loads(sys.stdin.buffer.read())
    # Nobody's child: the server need not bury it, and cannot take it along.
    if os.fork():
        os._exit(0)
    if spec["seccomp"] is not None:
        os.set_inheritable(spec["seccomp"], False)
    lock = os.open(spec["lock"], os.O_RDWR | os.O_CREAT, 0o600)
    if not _take(lock):
        _answer("held")
        os._exit(0)
    try:
        _say_who_we_are(spec["folder"])
        shim = Shim(spec, lock)
    except Exception as error:  # noqa: BLE001 - whoever launched us is told
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


def _take(lock: int) -> bool:
    """A few tries, because whoever asks whether the lock is held holds it for that moment."""
    for _ in range(10):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
            continue
        if not tree.is_alive(os.pread(lock, 100, 0)):
            return True
        fcntl.flock(lock, fcntl.LOCK_UN)
        time.sleep(0.01)
    return False


def _answer(text: str) -> None:
    os.write(1, text.encode(errors="replace"))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)


def _say_who_we_are(folder: str) -> None:
    """A process id alone may be somebody else's when it is read; with its start it cannot."""
    draft = os.path.join(folder, ".shim.json")
    with open(draft, "w") as file:
        json.dump({"pid": os.getpid(), "started": tree.started(os.getpid())}, file)
    os.replace(draft, os.path.join(folder, "shim.json"))


main()
