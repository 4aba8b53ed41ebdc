"""What Ray runs on each node: it passes frames on to the node process, and starts that when nobody
listens.

The node process and the models below it outlive Ray, so nothing of Ray's may be left on them: not
its session, which Ray ends with the agent; not its secrets; and not what it gives to its workers: a
low priority (nice 15), the first place among the kernel's victims when memory runs out, and a mask
that blocks SIGINT.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

from tapeline import settings
from tapeline.runs.cluster import lines
from tapeline.runs.cluster.last_words import last_words
from tapeline.runs.node.files import LOG, SOCKET, shorten_log

MODULE = "tapeline.runs.cluster.agent"
NODE = "tapeline.runs.node"
# In seconds. It takes the lock of its folder itself, so a second one would only end.
START_AGAIN, LOOK_AGAIN = 10.0, 0.05
# With it, Ray ends whatever a worker has left behind, wherever it went.
REAPS = "RAY_kill_child_processes_on_worker_exit_with_raylet_subreaper"
REAPING = f"Ray was started with {REAPS}, so models would end with Ray. Start it without that."


class NotThere(Exception):
    """Why the node process does not answer."""


class Agent:
    def __init__(self, module: str = NODE) -> None:
        self._module = module
        self._folder = settings.node_folder()
        self._turn = Lock()
        self._started = 0.0

    def call(self, frame: bytes, seconds: float) -> bytes:
        ends = time.monotonic() + seconds
        with self._connected(ends) as line:
            lines.send(line, frame, ends)
            return lines.receive(line, ends)

    def _connected(self, ends: float) -> socket.socket:
        while True:
            try:
                return connect(self._folder)
            except (FileNotFoundError, ConnectionRefusedError):
                self._start()
            if time.monotonic() + LOOK_AGAIN > ends:
                raise NotThere(f"Its node process does not start. {last_words(self._folder / LOG)}")
            time.sleep(LOOK_AGAIN)

    def _start(self) -> None:
        variables = settings.variables_with({})
        if variables.get(REAPS, "").lower() in ("1", "true"):
            raise NotThere(REAPING)
        with self._turn:
            if self._started and time.monotonic() - self._started < START_AGAIN:
                return
            self._started = time.monotonic()
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            own = {name: value for name, value in variables.items() if not name.startswith("RAY_")}
            shorten_log(self._folder)
            with (self._folder / LOG).open("ab") as log:
                subprocess.run(  # noqa: S603 - our own program
                    [sys.executable, "-m", MODULE, self._module],
                    cwd="/",
                    env=own | {"TAPELINE_DATA": str(self._folder)},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    check=True,
                )


def connect(folder: Path) -> socket.socket:
    """By the folder's descriptor: the path of a socket has little room."""
    line = socket.socket(socket.AF_UNIX)
    try:
        descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        try:
            line.connect(f"/proc/self/fd/{descriptor}/{SOCKET}")
        finally:
            os.close(descriptor)
    except OSError:
        line.close()
        raise
    return line


def main(arguments: Sequence[str]) -> None:
    """Become the node process: nobody's child, in a session of its own."""
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    with suppress(OSError):  # as anybody but root: RAY_worker_niceness=0 does it
        os.setpriority(os.PRIO_PROCESS, 0, 0)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("0")
    os.execv(sys.executable, [sys.executable, "-m", *arguments])  # noqa: S606 - our own program


if __name__ == "__main__":
    main(sys.argv[1:])
