"""An API server joins Ray as a node without cpu: only from such a machine can Ray be reached."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tapeline import descriptors, settings
from tapeline.errors import InvalidSetting
from tapeline.runs.cluster.bridge import NOT_INSTALLED, VARIABLES
from tapeline.runs.cluster.last_words import last_words
from tapeline.runs.cluster.membership import is_node, own_address
from tapeline.settings import Settings

MODULE = "tapeline.runs.cluster.joining"
LOG = "ray.log"
SHARED_MEMORY = (
    80_000_000  # bytes; Ray takes a third of the machine otherwise, and we send small frames
)
LONGEST_PAUSE = 60.0  # seconds until it is started again
LAST_SECONDS = 2.0  # that Ray has to end in; a node without cpu has nothing to lose
LEFT_WITHIN = LAST_SECONDS + 1.0
PROCESSES = Path("/proc")


def check(chosen: Settings) -> None:
    """The engine `ray` needs what many machines can share."""
    if chosen.engine != "ray":
        return
    if not chosen.ray_address:
        raise InvalidSetting(
            "The engine ray needs the address of Ray's head: --ray-address HOST:6379.",
            field="ray_address",
        )
    if not chosen.database:
        raise InvalidSetting(
            "The engine ray needs PostgreSQL, which all servers share: --database postgresql://….",
            field="database",
        )
    if not chosen.blobs:
        raise InvalidSetting(
            "The engine ray needs object storage, which all servers share: --blobs s3://….",
            field="blobs",
        )
    if importlib.util.find_spec("ray") is None:
        raise InvalidSetting(NOT_INSTALLED, field="engine")


class Membership:
    """This machine as a node of Ray. One that is there is used, otherwise one is started, which
    ends with the server. One thread looks; any may ask."""

    def __init__(self, address: str, folder: Path) -> None:
        self._address, self._log = address, folder / LOG
        self._process: subprocess.Popen[bytes] | None = None
        self._trouble: str | None = None
        self._failures = 0
        self._not_before = 0.0

    def look(self) -> None:
        """Called every few seconds."""
        try:
            there = is_node(self._address)
        except OSError as error:
            self._trouble = f"The address of Ray, {self._address}, leads nowhere: {error}"
            return
        if there:
            self._trouble, self._failures = None, 0
        elif self._process is None:
            if time.monotonic() >= self._not_before:
                self._start()
        elif self._process.poll() is not None:
            self._process = None
            self._trouble = (
                f"Ray on this machine has ended. {self._log} says: {last_words(self._log)}"
            )
            self._not_before = time.monotonic() + min(LONGEST_PAUSE, 2.0**self._failures)
            self._failures += 1

    def trouble(self) -> str | None:
        return self._trouble

    def close(self) -> None:
        process, self._process = self._process, None
        if process is None or process.stdin is None:
            return
        process.stdin.close()
        try:
            process.wait(LEFT_WITHIN)
        except subprocess.TimeoutExpired:
            end_session(process.pid)
            process.wait()

    def _start(self) -> None:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-m", MODULE, self._address],
                cwd="/",
                env=VARIABLES | settings.variables_with({}),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the server, which ends this one
            )


def main(address: str) -> int:
    """`ray start`, until it ends or the server does, which has the other end of standard input."""
    return follow(_command(address))


def follow(command: Sequence[str]) -> int:
    """In a session of our own, of which nothing is left afterwards."""
    ray = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 - an installed program
    for one in (signal.SIGTERM, signal.SIGINT):  # the server's own; it closes our standard input
        signal.signal(one, signal.SIG_IGN)
    ended = os.pidfd_open(ray.pid)
    if ended not in descriptors.readable(sys.stdin.fileno(), ended):
        ray.terminate()
        descriptors.readable(ended, within=LAST_SECONDS)
    end_session(os.getpid())
    return ray.wait()


def end_session(leader: int) -> None:
    """All of it but us: Ray puts some of its processes into groups of their own."""
    killed = {os.getpid()}
    while found := {one for one in _processes() if _session_of(one) == leader} - killed:
        for one in found:
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        killed |= found


def _processes() -> set[int]:
    return {int(one.name) for one in PROCESSES.iterdir() if one.name.isdecimal()}


def _session_of(process: int) -> int | None:
    try:
        return os.getsid(process)
    except ProcessLookupError:
        return None


def _command(address: str) -> Sequence[str]:
    return [
        *(sys.executable, "-m", "ray.scripts.scripts", "start", "--block"),
        *(f"--address={address}", f"--node-ip-address={own_address(address)}"),
        *("--num-cpus=0", "--num-gpus=0", f"--object-store-memory={SHARED_MEMORY}"),
        "--dashboard-agent-listen-port=0",  # another node here may have the usual one
        "--include-log-monitor=false",  # a process for logs of workers, of which there are none
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
