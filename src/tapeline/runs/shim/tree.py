"""The processes of a launch: finding them, measuring them, and ending all of them."""

import errno
import os
import resource
import signal
import stat
from collections.abc import Callable
from contextlib import suppress

PAGE = os.sysconf("SC_PAGE_SIZE")
ROOM_FOR_NOTE = 40
PER_ENTRY = 1024  # what a name costs a file system, so that empty files count too


class Group:
    """Control group files, named by the server. Without any, the processes are looked up."""

    def __init__(self, paths: dict[str, list[str]] | None) -> None:
        paths = paths or {}
        self.exists = bool(paths)
        self.join = paths.get("join", [])
        self._events = paths.get("oom", [])
        self._kill = paths.get("kill", [])
        self._folders = paths.get("folders", [])

    def members(self) -> list[int]:
        found: set[int] = set()
        for path in self.join:
            found.update(int(one) for one in _read(path).split())
        return list(found)

    def oom_kills(self) -> int:
        for path in self._events:
            for line in _read(path).splitlines():
                name, _, number = line.partition(" ")
                if name == "oom_kill":
                    return int(number)
        return 0

    def kill(self) -> None:
        for path in self._kill:
            _write(path, "1")
        for pid in self.members():
            send(pid, signal.SIGKILL)

    def remove(self) -> None:
        for folder in self._folders:
            with suppress(OSError):  # the server removes the rest
                os.rmdir(folder)
                os.rmdir(os.path.dirname(folder))  # goes with the last of all launches


def send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def stop(pids: Callable[[], list[int]]) -> list[int]:
    """Stop all processes of a tree while they are counted; return those that were stopped."""
    stopped: set[int] = set()
    while new := set(pids()) - stopped:  # they may be forking
        for one in new:
            send(one, signal.SIGSTOP)
        stopped |= new
    return list(stopped)


def go_on(pids: list[int]) -> None:
    for pid in pids:
        send(pid, signal.SIGCONT)


def started(pid: int) -> int | None:
    """The start time of a process, which together with its id is unique."""
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return int(fields[19]) if len(fields) > 19 and fields[0] not in "ZX" else None


def no_note() -> bytes:
    """Reserve space for a note: overwriting it later needs no more of the disk."""
    return b" " * ROOM_FOR_NOTE


def note(pid: int) -> bytes:
    return (b"%d %d" % (pid, started(pid) or 0)).ljust(ROOM_FOR_NOTE)


def is_alive(noted: bytes) -> bool:
    """Whether the process of a note still exists.

    Of a sandbox's first process this says whether anything of the sandbox is left: dying, it lets
    go of its files (a lock among them) first, then ends all others, and only then is gone.
    """
    pid, _, start = noted.strip().partition(b" ")
    return pid.isdigit() and start.isdigit() and started(int(pid)) == int(start)


def titled(title: str) -> list[int]:
    """The processes with this title."""
    first = f"{title}\0"
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in pids if _read(f"/proc/{pid}/cmdline").startswith(first)]


def with_mounts_of(name: str) -> list[int]:
    """The processes that have a folder of this name, or something in it, mounted. A sandbox
    cannot change that, whatever it calls itself."""
    inside = f"/{name}/"
    pids = [int(one) for one in os.listdir("/proc") if one.isdigit()]
    return [pid for pid in pids if inside in _read(f"/proc/{pid}/mountinfo")]


def children(pid: int) -> list[int]:
    """The children of a process, the oldest first."""
    listed = _read(f"/proc/{pid}/task/{pid}/children")
    if listed or os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        return [int(one) for one in listed.split()]
    found = []
    for name in os.listdir("/proc"):
        fields = _read(f"/proc/{name}/stat").rpartition(")")[2].split() if name.isdigit() else []
        if len(fields) > 19 and int(fields[1]) == pid:
            found.append((int(fields[19]), int(name)))
    return [one for _, one in sorted(found)]


def descendants(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        found.extend(children(one))
    return found


def limit_processes(pids: list[int], most: int) -> None:
    """From outside: the kernel counts per user namespace, and theirs exists only since they run."""
    for pid in pids:
        with suppress(OSError):
            resource.prlimit(pid, resource.RLIMIT_NPROC, (most, most))


def resident_bytes(pids: list[int]) -> int:
    total = 0
    for pid in pids:
        fields = _read(f"/proc/{pid}/statm").split()
        total += int(fields[1]) * PAGE if fields else 0
    return total


def disk_bytes(folders: list[str], pids: list[int], most: int) -> int:
    """The disk use of the folders, and of deleted files that are still open.

    Stops counting beyond `most`. Folders nested too deeply to be read count as too much.
    """
    total = 0
    waiting = list(folders)
    devices = set()
    for folder in folders:
        with suppress(OSError):
            devices.add(os.stat(folder).st_dev)
    while waiting and total <= most:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    total += PER_ENTRY + entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return most + 1
    return total + _nameless_bytes(pids, devices)


def _nameless_bytes(pids: list[int], devices: set[int]) -> int:
    """Of files that were deleted and are still open or mapped somewhere, each once."""
    found: dict[tuple[int, int], int] = {}
    for pid in pids:
        for path in [*_entries(f"/proc/{pid}/fd"), *_deleted_maps(pid)]:
            try:
                status = os.stat(path)
            except OSError:
                continue  # closed, gone, or not readable
            if stat.S_ISREG(status.st_mode) and not status.st_nlink and status.st_dev in devices:
                found[status.st_dev, status.st_ino] = status.st_blocks * 512
    return sum(found.values())


def _entries(folder: str) -> list[str]:
    try:
        return [f"{folder}/{name}" for name in os.listdir(folder)]
    except OSError:
        return []


def _deleted_maps(pid: int) -> list[str]:
    """Mapped files need no open descriptor."""
    lines = _read(f"/proc/{pid}/maps").splitlines()
    ranges = [line.split(" ", 1)[0] for line in lines if line.endswith(" (deleted)")]
    return [f"/proc/{pid}/map_files/{one}" for one in ranges]


def _read(path: str) -> str:
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w") as file:
            file.write(text)
    except OSError:
        return
