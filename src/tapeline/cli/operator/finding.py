"""One thing that `tapeline doctor` has looked at, and what to do about it."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    topic: str
    state: Literal["good", "note", "weak", "bad"]
    """`bad`: models cannot run until it is fixed."""
    says: str
    fix: str = ""
