"""Patterns from tenants: RE2 takes a time that grows with the line and the size of the pattern.
Counted repetitions make a pattern large, so its size is bounded."""

import time

import re2

from tapeline.watch.heavy.messages import Places

MEMORY = 2_000_000  # bytes for one pattern
LARGEST = 5_000  # instructions: a line of 4,000 characters takes a third of a second at worst
TOO_LARGE = (
    "it is too large when its repetitions are counted out, such as .{0,1000}; use fewer or smaller"
    " counts, or * instead"
)
REMEMBERED = 1_000


class Patterns:
    def __init__(self) -> None:
        self._options = re2.Options()
        self._options.max_mem = MEMORY
        self._options.log_errors = False
        self._known: dict[str, object] = {}

    def matching(self, pattern: str, lines: list[str], seconds: float) -> Places | str:
        """The lines in which it is found, or what is wrong with it."""
        ends = time.monotonic() + seconds
        try:
            compiled = self._compiled(pattern)
        except re2.error as error:
            return str(error.args[0].decode() if isinstance(error.args[0], bytes) else error)
        if compiled.programsize > LARGEST:
            return TOO_LARGE
        found: list[int] = []
        for at, line in enumerate(lines):
            if time.monotonic() >= ends:
                return Places(found, at)
            if compiled.search(line) is not None:
                found.append(at)
        return Places(found, len(lines))

    def _compiled(self, pattern: str):  # type: ignore[no-untyped-def]  # re2 says nothing of its types
        if pattern not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[pattern] = re2.compile(pattern, self._options)
        return self._known[pattern]
