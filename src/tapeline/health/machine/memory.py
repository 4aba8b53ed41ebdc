"""Whether this machine, or the control group of the server, has memory left."""

import re
from pathlib import Path

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red, size, yellow

LITTLE, TOO_LITTLE = 0.10, 0.04  # of all
FIX = "Stop other programs or models on this machine, or give it more memory."
MEMINFO, STATUS = Path("/proc/meminfo"), Path("/proc/self/status")


def look(_parts: Parts) -> Verdict:
    machine = MEMINFO.read_text()
    return judged(
        own=_kilobytes("VmRSS", STATUS.read_text()),
        available=_kilobytes("MemAvailable", machine),
        total=_kilobytes("MemTotal", machine),
    )


def judged(*, own: int, available: int, total: int) -> Verdict:
    says = f"The server uses {size(own)}; {size(available)} of {size(total)} are available."
    figures = {"memory_available_bytes": float(available)}
    if available < total * TOO_LITTLE:
        return red(says, FIX, **figures)
    return yellow(says, FIX, **figures) if available < total * LITTLE else green(says, **figures)


def _kilobytes(name: str, text: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)
    if found is None:
        raise OSError(f"the kernel does not say {name}")
    return int(found[1]) * 1024
