"""Patterns from tenants: RE2 takes a time that grows with the line alone, whatever the pattern."""

import re2

MEMORY = 8_000_000  # bytes for one pattern
REMEMBERED = 1_000


class Patterns:
    def __init__(self) -> None:
        self._options = re2.Options()
        self._options.max_mem = MEMORY
        self._options.log_errors = False
        self._known: dict[str, object] = {}

    def matching(self, pattern: str, lines: list[str]) -> list[int] | str:
        """The places of the lines in which it is found, or what is wrong with it."""
        try:
            compiled = self._compiled(pattern)
        except re2.error as error:
            return str(error.args[0].decode() if isinstance(error.args[0], bytes) else error)
        return [at for at, line in enumerate(lines) if compiled.search(line) is not None]

    def _compiled(self, pattern: str):  # type: ignore[no-untyped-def]  # re2 says nothing of its types
        if pattern not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[pattern] = re2.compile(pattern, self._options)
        return self._known[pattern]
