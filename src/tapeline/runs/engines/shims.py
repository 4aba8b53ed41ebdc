"""Starts, finds and ends shims: the small processes that keep a launch alive without the server.

Called from threads, because each call may wait. A launch whose lock is held is alive; the kernel
releases the lock when the shim and its sandbox are gone, so a free lock is the one proof of an end.
"""

import fcntl
import os
import resource
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from tapeline.errors import AlreadyRunning, CannotLaunch, CannotLaunchNow
from tapeline.polling import poll
from tapeline.runs.engines.shim_spawner import SHIM_SPAWNER
from tapeline.runs.sandbox import bubblewrap, cgroups, foreign_files, seccomp
from tapeline.runs.sandbox.belonging import Belonging
from tapeline.runs.sandbox.box import Box, Launch
from tapeline.runs.shim import shortage, tree

MOST_FILES = 4096
ADDRESS_SPACE = 8  # times the memory: without control groups, and per process
LEAST_ADDRESS_SPACE = 4 * 1024**3
LONGEST_NOTE = 10_000
SHORTEST_MASK = 4  # masking a shorter line of a secret would remove letters everywhere
MEGABYTE = 1024 * 1024


def launch(spec: Launch) -> None:
    """Return when the shim holds the lock and goes on alone; otherwise raise CannotLaunch."""
    _refuse_nonsense(spec)
    Path(spec.lock).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _filter(spec.unsafe) as descriptor:
        instructions = msgspec.json.encode(_instructions(spec))
        log = Path(spec.folder) / "shim.log"
        answer = SHIM_SPAWNER.launch(spec.name, instructions, log, descriptor)
    if answer == "held":
        raise AlreadyRunning
    if answer != "ready":
        cgroups.remove(Path(spec.runs), spec.name)
        if answer.startswith("later "):
            raise CannotLaunchNow(answer.removeprefix("later "))
        raise CannotLaunch(answer.removeprefix("failed ") or _last_words(Path(spec.folder)))


def is_held(lock: Path) -> bool:
    try:
        file = foreign_files.really_opened(lock)
    except foreign_files.NotAFile:
        return False  # the file was replaced, and nobody holds a lock on the new one
    except FileNotFoundError:
        return False
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return tree.is_alive(file.read(100))


def wait_free(lock: Path, timeout: float) -> bool:
    return poll(lambda: not is_held(lock), within=timeout, every=0.02)


def is_running(folder: Path) -> bool:
    """Whether the shim of this folder is alive. A sandbox may outlive it for a moment."""
    return _signal(folder, 0)


def stop(folder: Path) -> None:
    """Ask the shim, which gives the process time to clean up and then kills it. Returns at once."""
    _signal(folder, signal.SIGTERM)


def kill(folder: Path, lock: Path) -> None:
    """Kill it now. Returns when the lock is free, or after some seconds if the kernel is slow."""
    asked = _signal(folder, signal.SIGQUIT)
    if wait_free(lock, 3.0 if asked else 0.0):
        return
    _signal(folder, signal.SIGKILL)
    _end_sandboxes(folder, _sandboxes(folder))
    wait_free(lock, 10.0)


def end_orphan(folder: Path) -> bool:
    """End the sandbox that a killed shim may have left, and return whether there is one.

    bubblewrap's first process inside dies with the one outside only from some moment of its start
    on. A shim that is killed just before leaves a sandbox that nobody watches.
    """
    found = _sandboxes(folder)
    # Asked after the search: the sandbox of a shim that began meanwhile is not an orphan.
    if found and not is_running(folder):
        _end_sandboxes(folder, found)
    return bool(found)


def has_sandbox(folder: Path) -> bool:
    return bool(_sandboxes(folder))


def count_processes(folder: Path) -> int:
    """Of its shim and its sandbox."""
    return len(_sandboxes(folder)) + is_running(folder)


def sandboxes_elsewhere(folder: Path) -> list[int]:
    """Processes on this machine that have the same run in another copy of the data directory."""
    belonging = Belonging(folder.parent, folder.name)
    return sorted(filter(belonging.is_mounted_by_another, tree.processes()))


def _end_sandboxes(folder: Path, found: set[int]) -> None:
    if found & set(cgroups.members(folder.parent, folder.name) or ()):
        cgroups.kill(folder.parent, folder.name)
    for pid in found:
        tree.send(pid, signal.SIGKILL)


def _sandboxes(folder: Path) -> set[int]:
    """Its processes by its control group; without one, those that have its title or its mounts.
    The same run of another copy of this data directory is not ours."""
    belonging = Belonging(folder.parent, folder.name)
    members = cgroups.members(folder.parent, folder.name)
    if members is not None and (not members or any(map(belonging.of, members))):
        return set(members)
    titled = filter(belonging.has_opened, tree.first_titled(_title(folder.name)))
    return {*titled, *filter(belonging.has_mounted, tree.processes())}


def _title(name: str) -> str:
    """The title of the bubblewrap process, by which its launch is recognized."""
    return f"bwrap-{name}"


def _refuse_nonsense(spec: Launch) -> None:
    root, uid = os.geteuid() == 0, spec.box.uid
    if spec.unsafe:
        return
    if root and not uid:
        raise CannotLaunch("As root, a box needs a separate user: root in a sandbox is root.")
    if not root and uid is not None:
        raise CannotLaunch("Only root can start a box as another user.")


def _instructions(spec: Launch) -> dict[str, Any]:
    """The launch as the shim reads it: every decision is made here, the shim only acts."""
    box, runs = spec.box, Path(spec.runs)
    groups = cgroups.find(runs)
    try:
        group = cgroups.make(groups, spec.name, box) if groups else None
    except OSError as error:
        if shortage.is_one(error):
            raise
        raise CannotLaunch(f"Its limits could not be set: {error}.") from error
    process: dict[str, Any] = msgspec.to_builtins(_process(spec))
    return process | {
        "name": spec.name,
        "folder": spec.folder,
        "lock": spec.lock,
        "runs": spec.runs,
        "masked": _masks(spec.masked),
        "policy": spec.policy,
        "lease": spec.lease,
        "unsafe": spec.unsafe,
        "uid": None if spec.unsafe else box.uid,
        "group": group,
        "slirp": None if spec.unsafe else _slirp(box),
        "events_port": box.events_port if box.network != "none" else None,
        "tls_address": bubblewrap.TLS_ADDRESS,
        "folders": [source for source, _ in box.writable],
        "limits": {
            "memory_bytes": box.memory_mb * MEGABYTE,
            "address_bytes": max(LEAST_ADDRESS_SPACE, ADDRESS_SPACE * box.memory_mb * MEGABYTE),
            "disk_bytes": None if box.disk_mb is None else box.disk_mb * MEGABYTE,
            "pids": box.pids,
            "files": _files(),
        },
    }


def _process(spec: Launch) -> bubblewrap.Sandboxed | dict[str, Any]:
    if not spec.unsafe:
        return bubblewrap.plan(spec.box, _title(spec.name), _files())
    argv, cwd, env = bubblewrap.outside(spec.box)
    program = shutil.which(argv[0], path=env.get("PATH", bubblewrap.PATH))
    if program is None:
        raise CannotLaunch(f"There is no program {argv[0]} to start.")
    return {"program": program, "argv": argv, "cwd": cwd, "env": env}


def _files() -> int:
    """The limit on open files of a sandbox: shims inherit the server's hard limit."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)


def _slirp(box: Box) -> str | None:
    if box.network != "open":
        return None
    if (found := slirp_path()) is None:
        raise CannotLaunch("slirp4netns is missing. Install it with: apt-get install slirp4netns")
    return found


def slirp_path() -> str | None:
    return shutil.which("slirp4netns", path="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")


def _masks(texts: list[str]) -> list[str]:
    """Output is masked line by line, so each line of a secret is masked."""
    lines = {line.strip() for text in texts for line in text.split("\n")}
    return sorted(line for line in lines if len(line) >= SHORTEST_MASK)


@contextmanager
def _filter(unsafe: bool) -> Iterator[int | None]:
    """A descriptor that the shim inherits, so that a restart needs no file that may be gone."""
    if unsafe:
        yield None
        return
    descriptor = os.memfd_create("seccomp")
    try:
        os.write(descriptor, seccomp.program())
        yield descriptor
    finally:
        os.close(descriptor)


def _last_words(folder: Path) -> str:
    lines = (folder / "shim.log").read_text(errors="replace").splitlines()
    return f"The shim failed: {lines[-1]}" if lines else "The shim failed without a message."


def _signal(folder: Path, number: int) -> bool:
    """Signal only the shim of this folder: its process id may belong to another process by now,
    and the note may be a copy of another folder's.

    An error that does not say that it is gone is raised: a server without a descriptor left must
    not take every shim for dead.
    """
    with suppress(
        FileNotFoundError, NotADirectoryError, ProcessLookupError, foreign_files.NotAFile,
        ValueError, KeyError, msgspec.DecodeError,
    ):  # fmt: skip
        with foreign_files.really_opened(folder / "shim.json") as file:
            known = msgspec.json.decode(file.read(LONGEST_NOTE), type=dict[str, int])
        handle = os.pidfd_open(known["pid"])
        try:
            is_it = tree.started(known["pid"]) == known["started"]
            if is_it and Belonging(folder.parent, folder.name).has_opened(known["pid"]):
                signal.pidfd_send_signal(handle, number)
                return True
        finally:
            os.close(handle)
    return False
