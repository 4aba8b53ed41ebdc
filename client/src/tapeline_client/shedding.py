"""What is left of a piece of the queue when its log lines have to make room for other events."""

from __future__ import annotations

import time

_LOG_PATHS = (b'{"path":"/v1/live/log"', b'{"path":"/v1/backtest/log"')


def without_log_lines(content: bytes) -> tuple[bytes, int]:
    """With a line in their place that says how many there were."""
    lines = content.splitlines(True)
    kept = [line for line in lines if not line.startswith(_LOG_PATHS)]
    gone = len(lines) - len(kept)
    return b"".join([_in_their_place(gone), *kept]), gone


def _in_their_place(gone: int) -> bytes:
    line = f"[tapeline] {gone:,} log lines were dropped here: the queue was full"
    return (
        '{"path":"/v1/live/log","time":%r,"body":{"line":"%s","type":"warning"}}\n'
        % (time.time(), line)
    ).encode()
