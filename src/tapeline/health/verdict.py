"""What a check says: a colour, one sentence, what to do, and the numbers behind it."""

from typing import Literal

import msgspec

State = Literal["green", "yellow", "red"]
"""Fine; look at it soon; something does not work."""
RANK: dict[State, int] = {"green": 0, "yellow": 1, "red": 2}


class Verdict(msgspec.Struct, frozen=True):
    state: State
    says: str
    """One sentence, without paths: pages and answers show it."""
    fix: str = ""
    """What to do, if it is not green."""
    figures: dict[str, float] = {}
    """Numbers by name; each becomes the metric `tapeline_<name>`."""


def green(says: str, **figures: float) -> Verdict:
    return Verdict("green", says, "", figures)


def yellow(says: str, fix: str, **figures: float) -> Verdict:
    return Verdict("yellow", says, fix, figures)


def red(says: str, fix: str, **figures: float) -> Verdict:
    return Verdict("red", says, fix, figures)


def sentence(told: str) -> str:
    """A clause of the log as a sentence."""
    return f"{told[:1].upper()}{told[1:].rstrip('.')}."


def size(value: float) -> str:
    """Bytes for people."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} TB"


def duration(seconds: float) -> str:
    """Seconds for people, in the largest unit of which there is at least one."""
    for unit, length in (("days", 86_400), ("hours", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
