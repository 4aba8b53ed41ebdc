"""Whether this machine can confine models."""

from tapeline.health.parts import Parts
from tapeline.health.verdict import Verdict, green, red, yellow

DOCTOR = "Run `tapeline doctor` on the machine: it names the fix for each."


def look(parts: Parts) -> Verdict:
    host = parts.runner.host
    if problem := parts.runner.unable():
        return red(f"Models cannot run on this machine: {problem}", DOCTOR)
    if host is None:
        return green("This server runs no models.")
    if not host.sandboxed:
        return yellow("Models run without a sandbox: they can change everything.", DOCTOR)
    if host.problems:
        return yellow(" ".join(host.problems), DOCTOR)
    return green("Models run in a sandbox with network and limits.")
