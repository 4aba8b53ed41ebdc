"""A node process that only answers: who it is and what it was told. `echo.py` listens as the real
one does, and takes the lock of its folder."""

import fcntl
import os
import signal
import socket
import threading
import time
from pathlib import Path

import msgspec

from tapeline import settings
from tapeline.runs.cluster import lines
from tapeline.runs.node.files import SOCKET


def main() -> None:
    folder = settings.node_folder()
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        (folder / SOCKET).unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as listener:
            os.chdir(folder)
            listener.bind(SOCKET)
            listener.listen(128)
            while True:
                threading.Thread(target=_answer, args=listener.accept()[:1]).start()


def _answer(line: socket.socket) -> None:
    with line:
        ends = time.monotonic() + 60
        said = lines.receive(line, ends)
        if said.startswith(b"wait "):
            time.sleep(float(said[5:]))
        lines.send(line, _about_myself() if said == b"who" else said, ends)


def _about_myself() -> bytes:
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    return msgspec.json.encode(
        {
            "pid": os.getpid(),
            "folder": str(settings.node_folder()),
            "session": os.getsid(0) == os.getpid(),
            "nice": os.getpriority(os.PRIO_PROCESS, 0),
            "victim": int(Path("/proc/self/oom_score_adj").read_text()),
            "blocked": [int(one) for one in blocked],
            "secrets": [name for name in os.environ if name.startswith("RAY_")],
        }
    )


if __name__ == "__main__":
    main()
