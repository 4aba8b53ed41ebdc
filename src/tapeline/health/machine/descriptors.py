"""Whether this process can still open files and connections."""

import os

from tapeline import descriptors
from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red, yellow

MANY, TOO_MANY = 0.8, 0.95  # of the limit
RAISE = "Start the server with a higher limit: ulimit -n 65536 (systemd: LimitNOFILE=65536)."


def look(_parts: Parts) -> Verdict:
    return judged(len(os.listdir("/proc/self/fd")), descriptors.limit())  # noqa: PTH208


def judged(used: int, limit: int) -> Verdict:
    says = f"{used:,} of {limit:,} file descriptors are in use."
    if used > limit * TOO_MANY:
        return red(says, RAISE)
    return yellow(says, RAISE) if used > limit * MANY else green(says)
