"""Whether the disk of the data directory has room, and can be written to."""

import shutil
import tempfile
from pathlib import Path

from tapeline import host_faults
from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red, size, yellow

LITTLE, TOO_LITTLE = 5_000_000_000, 500_000_000
FREE_SOME = "Free some space on the disk of the data directory, or move the data to a larger one."
UNSEEN = "Check the disk with dmesg; is it mounted?"
WRITTEN = bytes(4096)


def look(parts: Parts) -> Verdict:
    try:
        disk = shutil.disk_usage(parts.settings.data)
    except OSError as error:
        return _failed(error, "The data directory cannot be seen.")
    found = judged(disk.free, disk.total)
    try:
        _write(parts.settings.data)
    except OSError as error:
        return _failed(error, "The data directory cannot be written to.", **found.figures)
    return found


def _write(folder: Path) -> None:
    """Into a file without a name. After an error, newer kernels refuse to write to a file system
    that still calls itself writable."""
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        file.write(WRITTEN)


def _failed(error: OSError, otherwise: str, **figures: float) -> Verdict:
    fault = host_faults.fault_of(error)
    says, fix = (fault.says, f"{fault.cure}.") if fault else (otherwise, UNSEEN)
    return red(says, fix, **figures)


def judged(free: int, total: int) -> Verdict:
    says = f"{size(free)} of {size(total)} are free."
    figures = {"disk_free_bytes": float(free), "disk_size_bytes": float(total)}
    # A small disk is not yet a full one: a twentieth of it may be enough.
    if free < min(TOO_LITTLE, total / 20):
        return red(says, FREE_SOME, **figures)
    if free < min(LITTLE, total / 10):
        return yellow(says, FREE_SOME, **figures)
    return green(says, **figures)
