"""The installer's messages: which packages it installs, and in one sentence what failed."""

from __future__ import annotations

import re
import textwrap
from typing import Any

# The first words of a compiler, else the last of an exception, else the last error called so.
CAUSES = (
    (r"fatal error: .+", 0),
    (r"^\S+:\d+.*: (error: .+)", 0),
    (r"^(?:\w+\.)*\w*(?:Error|Exception|Exit): .+", -1),
    (r"^(?:error|ERROR): (.+)", -1),
)
NOT_BUILT = re.compile(
    r"^error: Failed to (?:download and )?build `([A-Za-z0-9._-]+)([^`]*)`", re.MULTILINE
)
PINNED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)", re.MULTILINE)


def what_failed(words: str, doing: str, version: str) -> str:
    """One sentence that names the package and the cause, because most people read no more."""
    error = re.search(r"error: (.+)", words)
    causes = re.findall(r"^ +cause: (.+)", words, re.MULTILINE)
    if not error:
        return "{} failed.".format(doing)
    if error.group(1).startswith("No solution found") and causes:
        because = re.sub(r"^Because |, we can conclude.*", "", causes[-1])
        because = re.sub(r"^(.*(\b\S+).*) and you require \2$", r"\1", because)
        return "The requirements cannot be met on Python {}: {}.".format(
            version, shortened(because)
        )
    not_built = NOT_BUILT.search(words)
    if not_built:
        cause = cause_of_build(words) or (causes or ["the build gave no reason"])[-1]
        package = "".join(not_built.groups())
        return "{} could not be built: {}.".format(package, shortened(cause))
    cause = ": " + causes[-1] if causes else ""
    return "{} failed: {}.".format(doing, shortened(error.group(1) + cause))


def cause_of_build(words: str) -> str:
    """The line of a compiler or of an exception that gives the cause; the last line rarely does."""
    said = words.partition("[stderr]")[2] or words.partition("[stdout]")[2]
    text = textwrap.dedent(said.partition("\nhint: ")[0].strip("\n"))
    missing = re.search(r"command '([^']+)' failed: No such file", text)
    if missing:
        return "it needs {}, which this machine does not have".format(missing.group(1))
    for pattern, which in CAUSES:
        found = re.findall(pattern, text, re.MULTILINE)
        if found:
            return str(found[which])
    plain = re.findall(r"^\S.*", text, re.MULTILINE)  # what is indented belongs to a traceback
    return str(plain[-1]) if plain else ""


def shortened(cause: str) -> str:
    cause = cause.strip().rstrip(".")
    return cause if len(cause) <= 300 else cause[:299] + "\u2026"


def listed(lock: str, plan: dict[str, Any]) -> str:
    """Those that were asked for by name, then how many there are."""
    pinned = PINNED.findall(lock)
    asked = {normal(name) for name in plan["names"]}
    first = [one for one in pinned if normal(one[0]) in asked] or pinned
    names = ", ".join("{} {}".format(*one) for one in first[:8])
    more = " and {} more".format(len(first) - 8) if len(first) > 8 else ""
    total = "({} package{})".format(len(pinned), "" if len(pinned) == 1 else "s")
    return "{}{} {}".format(names, more, total) if names else "the model's own packages"


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
