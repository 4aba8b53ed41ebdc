"""Whether the disk of the data directory has room, and can be written to."""

import os
import shutil

from tapeline import host_faults
from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red, size, yellow

LITTLE, TOO_LITTLE = 5_000_000_000, 500_000_000
FREE_SOME = "Free some space on the disk of the data directory, or move the data to a larger one."
REMOUNT = "Find the reason with dmesg, then mount it writable: mount -o remount,rw"
UNSEEN = "Check the disk with dmesg; is it mounted?"


def look(parts: Parts) -> Verdict:
    try:
        disk = shutil.disk_usage(parts.settings.data)
        is_read_only = os.statvfs(parts.settings.data).f_flag & os.ST_RDONLY
    except OSError as error:
        fault = host_faults.fault_of(error)
        return red(fault.says if fault else "The data directory cannot be seen.", UNSEEN)
    if is_read_only:
        return red("The disk of the data directory is read-only.", REMOUNT)
    return judged(disk.free, disk.total)


def judged(free: int, total: int) -> Verdict:
    says = f"{size(free)} of {size(total)} are free."
    figures = {"disk_free_bytes": float(free), "disk_size_bytes": float(total)}
    # A small disk is not yet a full one: a twentieth of it may be enough.
    if free < min(TOO_LITTLE, total / 20):
        return red(says, FREE_SOME, **figures)
    if free < min(LITTLE, total / 10):
        return yellow(says, FREE_SOME, **figures)
    return green(says, **figures)
