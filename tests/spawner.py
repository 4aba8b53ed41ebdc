"""The command `tapeline`, forked from a process that has imported all of it already.

Importing takes most of a command's time, and tests start hundreds. What runs is the same program in
a process of its own: its own environment, folder, umask, descriptors, signals and exit status.
Only the hashing of passwords is cheaper, and a test may have `deploy` wait longer for the first
lines of a model, with TESTS_FIRST_LINES in its environment. Tests of how Python itself starts use
`python -m tapeline` instead.

Run as a program, this is the process that forks; tests call `start` and `run`.
"""

import atexit
import fcntl
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TextIO

ROOT = Path(__file__).parent.parent
CLEAN = {"PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONFAULTHANDLER": "1"}
# What commands import only when they need it, or only on a first start.
LATER = ("alembic.command", "alembic.autogenerate", "tapeline.store.backends.postgres")
ROOM = 1_000_000  # bytes of one request: arguments and environment


class Command:
    """A `tapeline` that is running, or was: what `subprocess.Popen` shows of one."""

    def __init__(self, arguments: Sequence[str], status: int) -> None:
        self.args = arguments
        self.returncode: int | None = None
        self._status = os.fdopen(status, "rb", 0)
        self.pid = int(self._status.readline())

    def poll(self) -> int | None:
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._look(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def send_signal(self, one: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, one)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _look(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], timeout)[0]:
            with self._status as status:
                self.returncode = int(status.readline())
        return self.returncode


def run(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    cwd: Path,
    stdin: str = "",
    seconds: float,
) -> "subprocess.CompletedProcess[str]":
    """A command that ends by itself."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as given,
        tempfile.TemporaryFile("w+", encoding="utf-8") as out,
        tempfile.TemporaryFile("w+", encoding="utf-8") as err,
    ):
        given.write(stdin)
        given.seek(0)
        streams = (given.fileno(), out.fileno(), err.fileno())
        command = start(arguments, streams, environment=environment, cwd=cwd)
        try:
            code = command.wait(seconds)
        finally:
            command.kill()
            command.wait()
        for file in (out, err):
            file.seek(0)
        return subprocess.CompletedProcess(arguments, code, out.read(), err.read())


def start(
    arguments: Sequence[str],
    streams: tuple[int, int, int],
    *,
    environment: Mapping[str, str],
    cwd: Path,
    at_terminal: bool = False,
) -> Command:
    """`streams` are its standard input, output and error; a terminal becomes the one it obeys."""
    mask = os.umask(0)
    os.umask(mask)
    request = {
        "arguments": arguments,
        "environment": dict(environment),
        "cwd": str(cwd),
        "umask": mask,
        "at_terminal": at_terminal,
    }
    status, theirs = os.pipe()
    try:
        socket.send_fds(_spawner(), [json.dumps(request).encode()], [*streams, theirs])
    finally:
        os.close(theirs)
    return Command(arguments, status)


@functools.cache
def _spawner() -> socket.socket:
    """Started once. It ends when this process does, because nobody else holds its socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for one in (ours, theirs):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ROOM)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.spawner"],
            cwd=ROOT,
            env=CLEAN,
            stdin=theirs.fileno(),
            start_new_session=True,
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


# The process that forks


def main() -> None:
    ending = _Ending()
    _prepare()
    request, descriptors = _serve()
    # From here on, this is the command.
    _become(request, descriptors)
    with ending:
        runpy.run_module("tapeline", run_name="__main__", alter_sys=True)


class _Ending:
    """Ends the process when threads have ended and all that is to happen at the exit has happened.

    Only one thing is left out: Python would take apart every module, which takes longer than most
    commands.
    """

    def __init__(self) -> None:
        self._status: int | None = None
        atexit.register(self._end)  # the first to register is the last to be called

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: Any, error: BaseException | None, _trace: Any) -> None:
        if isinstance(error, SystemExit) and isinstance(error.code, int):
            self._status = error.code

    def _end(self) -> None:
        if self._status is not None:  # anything else ends as Python ends it
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(self._status)


def _prepare() -> None:
    from tapeline.cli.rows import ROWS
    from tests import cheap_passwords

    for name in LATER:
        importlib.import_module(name)
    for row in ROWS:
        row.function()
    cheap_passwords.use()
    threads = os.listdir("/proc/self/task")  # noqa: PTH208
    assert len(threads) == 1, "a process with threads must not fork"
    gc.collect()
    gc.freeze()  # else the collectors of all children would write to the pages that they share


def _serve() -> tuple[dict[str, Any], list[int]]:
    """Fork for each request; return in the child, with what was requested."""
    requests = socket.socket(fileno=os.dup(0))
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    children: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([requests.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _reap(children)
        if requests.fileno() in ready:
            said, descriptors, _, _ = socket.recv_fds(requests, ROOM, 4)
            if not said:
                os._exit(0)  # not through the handlers of the command at its exit
            child = os.fork()
            if not child:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for one in (*children.values(), woken, wake, descriptors.pop()):
                    os.close(one)
                requests.close()
                return json.loads(said), descriptors
            children[child] = descriptors.pop()
            os.write(children[child], b"%d\n" % child)
            for one in descriptors:
                os.close(one)


def _reap(children: dict[int, int]) -> None:
    while children:
        child, status = os.waitpid(-1, os.WNOHANG)
        if not child:
            return
        told = children.pop(child)
        with suppress(BrokenPipeError):  # the test that started it does not wait any longer
            os.write(told, b"%d\n" % os.waitstatus_to_exitcode(status))
        os.close(told)


def _become(request: dict[str, Any], descriptors: list[int]) -> None:
    from tapeline.cli.server import following

    for number, one in enumerate(descriptors):
        os.dup2(one, number)
        os.close(one)
    if request["at_terminal"]:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(request["cwd"])
    os.umask(request["umask"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    if "TESTS_FIRST_LINES" in os.environ:
        following.FIRST_LINES = float(os.environ["TESTS_FIRST_LINES"])
    sys.path[0] = request["cwd"]  # as `python -m` has it
    sys.argv[1:] = request["arguments"]
    sys.stdin = _opened(0, "r", sys.stdin)
    sys.stdout = _opened(1, "w", sys.stdout)
    sys.stderr = _opened(2, "w", sys.stderr)


def _opened(number: int, mode: Literal["r", "w"], before: TextIO) -> TextIO:
    """A standard stream as Python opens it: by line at a terminal, and standard error always."""
    buffering = 1 if before is sys.stderr else -1
    return os.fdopen(number, mode, buffering, encoding=before.encoding, errors=before.errors)


if __name__ == "__main__":
    main()
