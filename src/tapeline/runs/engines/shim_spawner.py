"""The process that forks shims: started once, with everything that they need in memory.

Called from threads. It is started for the first launch, and again if it has ended. It ends when
this process ends, however that happens; the shims go on.
"""

import atexit
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from tapeline import descriptors
from tapeline.errors import CannotLaunchNow

PROGRAM = Path(__file__).parents[1] / "shim"
ROOM = "-" * 60  # space for the name of a launch, which `ps` shows
ANSWER_WITHIN = 30.0


class ShimSpawner:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def launch(self, name: str, spec: bytes, log: Path, filter_: int | None) -> str:
        """The answer of the new shim; empty when it ended without one."""
        answer, theirs = os.pipe()
        try:
            with log.open("ab") as errors, _held(spec) as held:
                handed = [held.fileno(), theirs, errors.fileno()]
                self._hand_over(name, handed if filter_ is None else [*handed, filter_])
            os.close(theirs)
            theirs = -1
            return self._listen(answer)
        finally:
            os.close(answer)
            if theirs >= 0:
                os.close(theirs)

    def open(self) -> None:
        """Before the first launch needs it."""
        with self._lock:
            self._opened()

    def close(self) -> None:
        with self._lock:
            self._end()

    def _hand_over(self, name: str, descriptors: list[int]) -> None:
        with self._lock:
            for is_last in (False, True):
                opened = self._opened()
                try:
                    socket.send_fds(opened, [name.encode()], descriptors)
                except OSError as error:
                    # The spawner was killed, and this launch never reached it.
                    self._end()
                    if is_last:
                        raise CannotLaunchNow(f"No shim could be started: {error}.") from error
                else:
                    return

    def _opened(self) -> socket.socket:
        if self._socket is None:
            # Messages arrive whole, and each side notices when the other is gone.
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                try:
                    self._process = _started(theirs)
                except OSError:  # no room for a process: the next launch tries again
                    ours.close()
                    raise
            self._socket = ours
        return self._socket

    def _end(self) -> None:
        if self._socket is not None and self._process is not None:
            self._socket.close()
            self._process.wait()
            self._socket = self._process = None

    def _listen(self, answer: int) -> str:
        """The first line is the process group, so that a silent shim can be killed."""
        said = b""
        until = time.monotonic() + ANSWER_WITHIN
        while True:
            if not descriptors.readable(answer, within=until - time.monotonic()):
                self._kill(said)
                raise CannotLaunchNow(f"The shim did not answer within {ANSWER_WITHIN:.0f} s.")
            some = os.read(answer, 65_536)
            said += some
            if not some:
                return said.partition(b"\n")[2].decode(errors="replace")

    def _kill(self, said: bytes) -> None:
        group, _, _ = said.partition(b"\n")
        with suppress(ProcessLookupError):
            if group:
                os.killpg(int(group), signal.SIGKILL)
            elif self._process is not None:
                self._process.kill()


def _started(theirs: socket.socket) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-SIE", str(PROGRAM), ROOM],
        stdin=theirs.fileno(),
        stdout=subprocess.DEVNULL,
        env={},
        cwd="/",
        start_new_session=True,
    )


def _held(content: bytes) -> BinaryIO:
    """In memory and never on disk: it holds secrets."""
    file = os.fdopen(os.memfd_create("launch"), "w+b")
    file.write(content)
    file.seek(0)
    return file


SHIM_SPAWNER = ShimSpawner()
atexit.register(SHIM_SPAWNER.close)
