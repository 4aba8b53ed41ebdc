"""Errors of this machine rather than of a request: a full disk, a read-only one, no open file left.

Each in a sentence without paths, because strangers may read it, and with what to do about it, for
messages that name the path.
"""

import errno
from pathlib import Path
from typing import NamedTuple

from tapeline.errors import StoreUnavailable


class Fault(NamedTuple):
    says: str
    cure: str


MORE_FILES = "Start it with a higher limit: ulimit -n 4096 (systemd: LimitNOFILE=4096)"
MORE_PROCESSES = (
    "Raise the limit that is reached: pids.max of the control group (systemd: TasksMax=infinity),"
    " or the user's limit (ulimit -u; systemd: LimitNPROC=infinity)"
)
_NO_THREAD = Fault(
    "The server could not start another thread: a limit on memory or on processes is reached.",
    "Allow it more memory (ulimit -v; systemd: LimitAS=infinity), or more processes:"
    " pids.max of the control group (systemd: TasksMax=infinity), ulimit -u",
)
_ACCESS = "Run this as a user who may use it"
_DMESG = "see the kernel's log (dmesg) for the reason"
_FAULTS = {
    errno.ENOSPC: Fault("The disk of the server is full.", "Free some space on it"),
    errno.EDQUOT: Fault(
        "The disk quota of the server is used up.", "Free some space, or raise the quota"
    ),
    errno.EROFS: Fault("The disk of the server is read-only.", f"Mount it writable; {_DMESG}"),
    errno.EIO: Fault("The disk of the server reports errors.", f"Check the disk; {_DMESG}"),
    errno.EMFILE: Fault("The server has too many open files.", MORE_FILES),
    errno.ENFILE: Fault(
        "The machine of the server has too many open files.",
        "Raise the limit of the machine with sysctl (fs.file-max)",
    ),
    errno.EAGAIN: Fault(
        "The machine of the server has no room for another process.", MORE_PROCESSES
    ),
    errno.ENOMEM: Fault("The machine of the server has no memory left.", "Stop other programs"),
    errno.EACCES: Fault("The server may not use its own files.", _ACCESS),
    errno.EPERM: Fault("The server may not use its own files.", _ACCESS),
    errno.ENOTDIR: Fault("A folder of the server was replaced by a file.", "Put the folder back"),
    errno.ESTALE: Fault("The disk of the server is gone.", f"Mount it again; {_DMESG}"),
    errno.ENODEV: Fault("The disk of the server is gone.", f"Mount it again; {_DMESG}"),
    errno.ENXIO: Fault("The disk of the server is gone.", f"Mount it again; {_DMESG}"),
}


def fault_of(error: BaseException) -> Fault | None:
    """None for an error that is not the machine's: perhaps a mistake of ours."""
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        return _NO_THREAD
    if isinstance(error, MemoryError):
        return _FAULTS[errno.ENOMEM]
    number = error.errno if isinstance(error, OSError) else None
    return None if number is None else _FAULTS.get(number)


def cannot_write(path: Path, error: OSError) -> str:
    """For the person at the machine: the path, the reason and what to do."""
    fault = fault_of(error)
    cure = f" {fault.cure}, or choose another place." if fault else ""
    return f"{path} cannot be written: {error.strerror or error}.{cure}"


def unavailable(error: BaseException) -> StoreUnavailable:
    """The answer to a request that failed because of it."""
    fault = fault_of(error)
    return StoreUnavailable.because(fault.says) if fault else StoreUnavailable()
