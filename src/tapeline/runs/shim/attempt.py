"""One start of the process: the child that confines itself, step by step, and becomes bubblewrap.

Each step that needs privileges comes before they are dropped. Until the end the child dies with
the shim and holds the launch's lock, as bubblewrap does after it.
"""

import os
import resource
from typing import Any

from tapeline.runs.shim import kernel
from tapeline.runs.shim.network import Namespace

KILL_FIRST = "300"  # when the machine runs out of memory, kill a model before the server


class Pipes:
    """The ends the shim reads and those the child writes."""

    def __init__(self) -> None:
        self.output, self._output = os.pipe()
        self.errors, self._errors = os.pipe()
        self.status, self._status = os.pipe()
        for reading in (self.output, self.errors, self.status):
            os.set_blocking(reading, False)

    def writing(self) -> tuple[int, int, int]:
        return self._output, self._errors, self._status

    def close(self) -> None:
        for one in (self.output, self.errors, self.status):
            os.close(one)
        self.close_writing()

    def close_writing(self) -> None:
        for one in self.writing():
            os.close(one)


def start(spec: dict[str, Any], namespace: Namespace | None, lock: int, pipes: Pipes) -> int:
    """Its process id. Where there is no room for a process, nothing is left open."""
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError:
        pipes.close()
        raise
    if pid:
        pipes.close_writing()
        return pid
    try:
        kernel.begin(parent)
        _limit(spec)
        if spec["unsafe"]:
            _exec_plainly(spec, lock, pipes)
        else:
            _exec_sandboxed(spec, parent, namespace, lock, pipes)
    except BaseException as error:  # noqa: BLE001 - told on the model's own error output
        kernel.give_up(error, pipes.writing()[1])
    os._exit(127)


def _limit(spec: dict[str, Any]) -> None:
    limits = spec["limits"]
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write(KILL_FIRST)
    for path in (spec["group"] or {}).get("join", []):
        with open(path, "w") as file:
            file.write("0")
    _bound(resource.RLIMIT_CORE, 0)
    _bound(resource.RLIMIT_NOFILE, limits["files"])
    if limits["disk_bytes"] is not None:
        # A little less than the limit: one file that is too large is an error that a model can
        # handle, before the size of all its folders ends the run.
        _bound(resource.RLIMIT_FSIZE, limits["disk_bytes"] * 15 // 16)
    if not spec["group"]:
        _bound(resource.RLIMIT_AS, limits["address_bytes"])


def _bound(which: int, most: int) -> None:
    hard = resource.getrlimit(which)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (most, most))


def _exec_plainly(spec: dict[str, Any], lock: int, pipes: Pipes) -> None:
    os.setsid()
    # Without a namespace, nothing else shows whether its children are gone.
    os.set_inheritable(lock, True)
    os.chdir(spec["cwd"])
    _standard_streams(pipes)
    os.execve(spec["program"], spec["argv"], spec["env"])


def _exec_sandboxed(
    spec: dict[str, Any], parent: int, namespace: Namespace | None, lock: int, pipes: Pipes
) -> None:
    assert namespace is not None
    os.umask(0o022)  # the server's own umask would block everyone, also from the staged files
    if spec["uid"] is None:
        kernel.join(namespace.user)
    kernel.join(namespace.net)
    if spec["uid"] is not None:
        _stage(spec["stage"], spec["binds"])
        kernel.become(spec["uid"], parent)
    kernel.gain_nothing()
    os.chdir("/")
    _standard_streams(pipes)
    numbers = spec["numbers"]
    os.dup2(pipes.writing()[2], numbers["status"])
    os.dup2(lock, numbers["lock"])
    os.lseek(spec["seccomp"], 0, os.SEEK_SET)
    os.dup2(spec["seccomp"], numbers["seccomp"])
    _hold(numbers["arguments"], "\0".join(spec["arguments"]) + "\0")
    for number, text in spec["files"]:
        _hold(number, text)
    os.execve(spec["program"], spec["argv"], {})


def _standard_streams(pipes: Pipes) -> None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(pipes.writing()[0], 1)
    os.dup2(pipes.writing()[1], 2)


def _stage(folder: str, binds: list[list[str]]) -> None:
    """Put the files of the sandbox where its user can reach them, invisible to all others.

    The data directory is private, so the user that the process becomes could not pass through it.
    """
    kernel.unshare(kernel.NEWNS)
    kernel.mount("none", "/", "", kernel.RECURSIVE | kernel.PRIVATE)
    # Opened before the folder is covered, because they may lie below it.
    sources = [os.open(source, os.O_PATH) for source, _ in binds]
    kernel.mount("tmpfs", folder, "tmpfs", kernel.NOSUID | kernel.NODEV, "mode=755,size=1m")
    for descriptor, (source, staged) in zip(sources, binds, strict=True):
        os.makedirs(os.path.dirname(staged), mode=0o755, exist_ok=True)
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            os.mkdir(staged, 0o755)
        else:
            os.close(os.open(staged, os.O_CREAT | os.O_WRONLY, 0o644))
        try:
            kernel.mount(f"/proc/self/fd/{descriptor}", staged, "", kernel.BIND | kernel.RECURSIVE)
        except OSError as error:
            raise OSError(error.errno, f"{source}: {error.strerror}") from error
        os.close(descriptor)


def _hold(number: int, text: str) -> None:
    descriptor = os.memfd_create("tapeline")
    os.write(descriptor, text.encode(errors="surrogateescape"))
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.dup2(descriptor, number)
    os.close(descriptor)
