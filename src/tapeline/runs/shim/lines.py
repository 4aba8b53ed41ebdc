"""Turns what a process writes into lines: masked, bounded, without their ends."""

MARK = b" [cut]"


class Lines:
    def __init__(self, limit: int, masked: list[bytes]) -> None:
        self._limit = limit
        # Longest first: a secret that contains another is hidden as a whole.
        self._masked = sorted(filter(None, set(masked)), key=len, reverse=True)
        self._held = b""
        self._skipping = False
        # A secret must not slip through because it lies across the place where a line is cut.
        self._most_held = limit + (len(self._masked[0]) if self._masked else 0)
        self.last = b""

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that this completes."""
        if self._skipping:
            end = data.find(b"\n")
            if end < 0:
                return []
            data, self._skipping = data[end + 1 :], False
        whole, newline, rest = (self._held + data).rpartition(b"\n")
        done = self._finish(whole) if newline else []
        self._held = rest
        if len(rest) > self._most_held:
            (line,) = self._finish(rest)
            done.append(line if line.endswith(MARK) else line + MARK)
            self._held, self._skipping = b"", True
        return done

    def end(self) -> list[bytes]:
        """The last line, if it has no end."""
        rest, self._held = self._held, b""
        return self._finish(rest) if rest else []

    def _finish(self, text: bytes) -> list[bytes]:
        for secret in self._masked:
            text = text.replace(secret, b"***")
        lines = text.replace(b"\r\n", b"\n").split(b"\n")
        lines[-1] = lines[-1].removesuffix(b"\r")
        if len(text) > self._limit:
            lines = [self._bounded(line) for line in lines]
        self.last = next((line for line in reversed(lines) if line), self.last)
        return lines

    def _bounded(self, line: bytes) -> bytes:
        return line[: self._limit] + MARK if len(line) > self._limit else line
