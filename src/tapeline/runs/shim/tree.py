"""The processes of a launch: finding and measuring them, without ever waiting for one of them.

A process can be kept from running for minutes in the middle of `fork`, by its processor quota or by
its own flood of processes. It holds the lock of its memory then, for which readers of its
`cmdline`, `environ` and `maps` wait. `stat`, `status`, `statm`, `mountinfo`, `children` and `fd`
need no such lock.
"""

import errno
import os
import resource
import signal
import stat
import time
from collections.abc import Callable
from contextlib import suppress

PAGE = os.sysconf("SC_PAGE_SIZE")
ROOM_FOR_NOTE = 40
LONGEST_PATH = 2_000  # bytes, in a folder of a launch: what is nested deeper, no backup holds
PER_ENTRY = 1024  # what a name costs a file system, so that empty files count too


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


def settled(pids: list[int], within: float) -> list[int]:
    """Those of the stopped processes that have really stopped, after some seconds at most. They
    hold no lock any more."""
    until = time.monotonic() + within
    while True:
        found = [pid for pid in pids if _is_stopped(pid)]
        if len(found) == len(pids) or time.monotonic() >= until:
            return found
        time.sleep(0.005)


def _is_stopped(pid: int) -> bool:
    """All of its threads, which share its memory."""
    states = [
        read(f"{thread}/stat").rpartition(")")[2][1:2] for thread in _entries(f"/proc/{pid}/task")
    ]
    return all(state in "TtZX" for state in states)


def go_on(pids: list[int]) -> None:
    for pid in pids:
        send(pid, signal.SIGCONT)


def started(pid: int) -> int | None:
    """The start time of a process, which together with its id is unique; None if it is gone.

    Any other error is raised: while we cannot look, it may be alive.
    """
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
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


def first_titled(title: str) -> list[int]:
    """The first processes of a namespace with this title. They are bubblewrap's own, asleep, and
    not a model's: a title is in a process's memory, and models can make us wait for theirs."""
    first = f"{title}\0"
    found = filter(_is_first, processes())
    return [pid for pid in found if read(f"/proc/{pid}/cmdline").startswith(first)]


def _is_first(pid: int) -> bool:
    """Whether it is process 1 of a namespace below ours, which no model can be."""
    lines = read(f"/proc/{pid}/status").splitlines()
    numbers = next((line.split()[1:] for line in lines if line.startswith("NSpid:")), [])
    return len(numbers) > 1 and numbers[-1] == "1"


def processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children(pid: int) -> list[int]:
    """The children of a process, the oldest first."""
    listed = read(f"/proc/{pid}/task/{pid}/children")
    if listed or os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        return [int(one) for one in listed.split()]
    found = []
    for one in processes():
        fields = read(f"/proc/{one}/stat").rpartition(")")[2].split()
        if len(fields) > 19 and int(fields[1]) == pid:
            found.append((int(fields[19]), one))
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
        fields = read(f"/proc/{pid}/statm").split()
        total += int(fields[1]) * PAGE if fields else 0
    return total


def disk_bytes(folders: list[str], pids: list[int], most: int) -> int:
    """The disk use of the folders, and of deleted files that are still open.

    Stops counting beyond `most`. Folders that are nested too deeply, or cannot be read whatever we
    do, count as too much.
    """
    total = 0
    waiting = [(folder, len(os.fsencode(folder)) + 1 + LONGEST_PATH) for folder in folders]
    while waiting and total <= most:
        folder, longest = waiting.pop()
        if len(os.fsencode(folder)) > longest:
            return most + 1
        try:
            size, folders_below = _measured(folder)
        except OSError as error:
            if error.errno in {errno.ENAMETOOLONG, errno.EACCES, errno.EPERM}:
                return most + 1
            continue  # gone by now
        total += size
        waiting.extend((below, longest) for below in folders_below)
    return total + sum(_nameless(_opened(pids), _devices(folders)).values())


def _measured(folder: str) -> tuple[int, list[str]]:
    """The disk use of what is in a folder, and its subfolders."""
    try:
        return _listed(folder)
    except PermissionError:  # without root, a model is our own user, and may forbid us to read
        _allow_reading(folder)
        return _listed(folder)


def _listed(folder: str) -> tuple[int, list[str]]:
    size, folders = 0, []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # removed since; the others count
                size += PER_ENTRY + entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return size, folders


def _allow_reading(folder: str) -> None:
    """By way of /proc: that is the folder itself, whatever has its name by now."""
    seen = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.chmod(f"/proc/self/fd/{seen}", 0o700)
    finally:
        os.close(seen)


def mapped_bytes(folders: list[str], pids: list[int], stopped: list[int]) -> int:
    """The disk use of deleted files that only the memory of stopped processes still holds: to look
    at the memory of others, we would have to wait for them."""
    paths = [path for pid in stopped for path in _deleted_maps(pid)]
    devices = _devices(folders)
    if not (mapped := _nameless(paths, devices)):
        return 0
    opened = _nameless(_opened(pids), devices)
    return sum(size for file, size in mapped.items() if file not in opened)


def _devices(folders: list[str]) -> set[int]:
    devices = set()
    for folder in folders:
        with suppress(OSError):
            devices.add(os.stat(folder).st_dev)
    return devices


def _nameless(paths: list[str], devices: set[int]) -> dict[tuple[int, int], int]:
    """The deleted files among these on our disks, each once, with their sizes."""
    found: dict[tuple[int, int], int] = {}
    for path in paths:
        try:
            status = os.stat(path)
        except OSError:
            continue  # closed, gone, or not readable
        if stat.S_ISREG(status.st_mode) and not status.st_nlink and status.st_dev in devices:
            found[status.st_dev, status.st_ino] = status.st_blocks * 512
    return found


def _opened(pids: list[int]) -> list[str]:
    return [path for pid in pids for path in _entries(f"/proc/{pid}/fd")]


def _entries(folder: str) -> list[str]:
    try:
        return [f"{folder}/{name}" for name in os.listdir(folder)]
    except OSError:
        return []


def _deleted_maps(pid: int) -> list[str]:
    """Mapped files need no open descriptor."""
    lines = read(f"/proc/{pid}/maps").splitlines()
    ranges = [line.split(" ", 1)[0] for line in lines if line.endswith(" (deleted)")]
    return [f"/proc/{pid}/map_files/{one}" for one in ranges]


def read(path: str) -> str:
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""
