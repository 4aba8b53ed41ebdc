"""Why a process that uses Ray has ended, from what it wrote to its standard error."""

import re
from pathlib import Path

READ = 100_000  # bytes; an abort of Ray's is some 30,000, most of them addresses
LONGEST = 400  # characters
RAY_SAYS = re.compile(r"\[[-\d]+ [:,.\d]+ [EC] \d+ \d+\] +\S+:\d+: *(.*)")  # an error, or worse
OF_A_TRACE = re.compile(r"(\*\*\*|PC: |@ |Stack trace:)")
TRACE_BEHIND = re.compile(r" \S+\(\S*\+0x[0-9a-f]+\) \[0x.*")
DIED = "Fatal Python error"
NO_TAPELINE = "ModuleNotFoundError: No module named 'tapeline"


def in_plain_words(reason: str) -> str:
    if NO_TAPELINE in reason:
        return "Tapeline is not installed in the Python that runs Ray there."
    return reason


def last_words(file: Path) -> str:
    try:
        with file.open("rb") as log:
            log.seek(max(0, file.stat().st_size - READ))
            return of(log.read().decode("utf-8", "replace"))
    except OSError:
        return ""


def of(written: str) -> str:
    """When Ray aborts, its reason is followed by hundreds of lines of traces. A Python that fails
    has it in the last line."""
    said = [one.strip() for one in written.splitlines() if one.strip()]
    errors = [found[1] for one in said if (found := RAY_SAYS.match(one))]
    reasons = [TRACE_BEHIND.sub("", one) for one in errors if not OF_A_TRACE.match(one)]
    died = [one for one in said if one.startswith(DIED)]
    return next((some[-1] for some in (reasons, died, said) if some), "")[:LONGEST]
