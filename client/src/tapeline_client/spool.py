"""The queue between a model and its server: appended to by callers, emptied by the sender.

Appending is all that happens in the caller's time: one copy into mapped memory under a lock that is
held for a microsecond. Making, sealing and deleting files is the sender's work.
"""

from __future__ import annotations

import os
import secrets
import sys
import threading
import time
from collections import deque
from typing import Callable, Deque, NamedTuple

from tapeline_client.folder import Folder
from tapeline_client.segments import SEGMENT_BYTES, Segment, sync_folder

LOG_PATHS = (b'{"path":"/v1/live/log"', b'{"path":"/v1/backtest/log"')
_FULL = 0.75
"""From this share on, log lines are dropped; the rest is reserved for other events."""

Report = Callable[[str, str], None]


class Limits(NamedTuple):
    disk: int
    memory: int


class Spool:
    def __init__(
        self, parent: str | None, limits: Limits, report: Report, *, durable: bool = False
    ) -> None:
        self._parent = parent
        self._limits = limits
        self._report = report
        self._durable = durable
        self.on_pressure: Callable[[], object] = bool
        """Called when space is short; the sender frees some."""
        self._begin()

    def _begin(self) -> None:
        self.lock = threading.RLock()
        self._inside = False
        self._deferred: Deque[tuple[bytes, bool]] = deque()
        self._spare: Segment | None = None
        self._next_number = 1
        self._to_seal: list[Segment] = []
        self._synced = (0, 0)
        self._folder_tried = False
        self.folder: Folder | None = None
        self.name = secrets.token_hex(16)
        self._pressed = False
        """Whether the remaining space is reserved for events other than log lines."""
        self.segments: Deque[Segment] = deque()
        self._current: Segment | None = None
        self.dropped_lines = 0
        self.dropped_events = 0
        self.taken = 0

    def append(self, line: bytes, is_log: bool) -> None:
        # Spelt out rather than split up: this runs in the time of the trading loop.
        with self.lock:
            if self._inside:
                # A signal handler or a finalizer, in the middle of this very function.
                self._deferred.append((line, is_log))
                return
            self._inside = True
            try:
                segment = self._current
                if segment is not None and segment.map is not None and not self._pressed:
                    start = segment.end
                    end = start + len(line)
                    if end <= segment.size:
                        segment.map[start:end] = line
                        segment.end = end
                        self.taken += 1
                        line = b""
                if line:
                    self._write(line, is_log)
                while self._deferred:
                    self._write(*self._deferred.popleft())
            finally:
                self._inside = False
        if self._durable:
            self.sync()

    def position(self) -> tuple[int, int]:
        """After everything that was appended so far."""
        with self.lock:
            if not self.segments:
                return 0, 0
            return self.segments[-1].number, self.segments[-1].end

    def used(self) -> int:
        with self.lock:
            return sum(one.size for one in self.segments)

    def _write(self, line: bytes, is_log: bool) -> None:
        current = self._current
        if is_log and self._pressed:
            self._drop(is_log)
            return
        if current is None or current.end + len(line) > current.size:
            current = self._next(len(line), is_log)
            if current is None:
                self._drop(is_log)
                return
            self.segments.append(current)
            self._current = current
        current.append(line)
        self.taken += 1

    def _drop(self, is_log: bool) -> None:
        if is_log:
            self.dropped_lines += 1
            self._report("full", "The queue of events is full: log lines are being dropped.")
        else:
            self.dropped_events += 1
            self._report(
                "dropped", "The queue of events is full: an event that is not a log line was lost."
            )

    def _next(self, least: int, is_log: bool) -> Segment | None:
        """Another piece to write into, or None when there may be no more."""
        size = max(SEGMENT_BYTES, least)
        made: Segment | None = None
        on_disk = sum(one.size for one in self.segments if one.path is not None)
        if self._open_folder() is not None:
            self._press(on_disk + size > self._limits.disk * _FULL)
            if on_disk + size > self._limits.disk or (is_log and self._pressed):
                return None
            made = self._on_disk(size)
        if made is None:
            in_memory = sum(one.size for one in self.segments if one.path is None)
            self._press(in_memory + size > self._limits.memory * _FULL)
            if in_memory + size > self._limits.memory or (is_log and self._pressed):
                return None
            made = Segment.in_memory(self._take_number(), size)
        if self.segments:
            self._to_seal.append(self.segments[-1])
            if self._durable and self.segments[-1].fd >= 0:
                os.fsync(self.segments[-1].fd)  # another thread may be about to ask for it
        return made

    def _press(self, pressed: bool) -> None:
        self._pressed = pressed
        if pressed:
            self.on_pressure()

    def _on_disk(self, size: int) -> Segment | None:
        folder = self._open_folder()
        if folder is None:
            return None
        spare, self._spare = self._spare, None
        if spare is not None:
            if spare.size >= size:
                return spare
            spare.delete()
        try:
            return self._made(folder, self._take_number(), size)
        except OSError as error:
            self._report("disk", f"Events wait in memory only, lost if this process dies: {error}.")
            return None

    def _made(self, folder: Folder, number: int, size: int) -> Segment:
        made = Segment.on_disk(folder.path, number, size)
        if self._durable:
            sync_folder(folder.path)
        return made

    def _open_folder(self) -> Folder | None:
        if self.folder is None and not self._folder_tried and self._parent is not None:
            self._folder_tried = True
            try:
                self.folder = Folder.make(self._parent)
                if self._durable:
                    sync_folder(self._parent)
                self.name = self.folder.name  # by which a successor would make the same keys
            except OSError as error:
                self._report(
                    "disk", f"Events wait in memory only, lost if this process dies: {error}."
                )
        return self.folder

    def _take_number(self) -> int:
        self._next_number += 1
        return self._next_number - 1

    # The sender's part

    def tend(self) -> None:
        """Seal what is full, have the next piece ready, make room when little is left."""
        with self.lock:
            sealing, self._to_seal = self._to_seal, []
            wants_spare = (
                self._spare is None
                and self.folder is not None
                and bool(self.segments)
                and self.segments[-1].end > SEGMENT_BYTES // 4
                and self.segments[-1].path is not None
            )
        for one in sealing:
            if one in self.segments:
                one.seal()
        if wants_spare:
            self._make_spare()
        if self.used() > self._limit() * _FULL * 0.9:
            self._shed()
        with self.lock:
            if self._pressed and self.used() + SEGMENT_BYTES <= self._limit() * _FULL:
                self._pressed = False

    def sync(self) -> None:
        """Onto the disk itself, against a power failure."""
        with self.lock:
            where = self.position()
            segment = self.segments[-1] if self.segments else None
            if segment is None or where == self._synced:
                return
            if segment.map is not None and not sys.platform.startswith("linux"):
                segment.map.flush()  # Linux knows which mapped pages belong to a file
            descriptor = os.dup(segment.fd) if segment.fd >= 0 else -1
        if descriptor >= 0:
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        self._synced = where

    def is_synced(self) -> bool:
        return self.position() == self._synced

    def _make_spare(self) -> None:
        folder = self.folder
        assert folder is not None
        with self.lock:
            number = self._take_number()
        try:
            made = self._made(folder, number, SEGMENT_BYTES)
        except OSError:
            return  # told when it is needed
        with self.lock:
            if self._spare is None and self._next_number == number + 1:
                self._spare = made
                return
        made.delete()  # a caller was quicker, and order is by number

    def _limit(self) -> int:
        return self._limits.disk if self.folder is not None else self._limits.memory

    def _shed(self) -> None:
        """The oldest log lines go first. What is being sent and what is being written stay."""
        with self.lock:
            pieces = list(self.segments)[1:-1]
        for one in pieces:
            if self.used() <= self._limit() * _FULL * 0.8:
                return
            if one.compacted or one in self._to_seal:
                continue
            lines = one.read(0, one.end).splitlines(True)
            kept = [line for line in lines if not line.startswith(LOG_PATHS)]
            gone = len(lines) - len(kept)
            if gone:
                note = _note(gone)
                with self.lock:
                    one.rewrite(b"".join([note, *kept]))
                    self.dropped_lines += gone
                self._report("full", "The queue of events is full: dropping the oldest log lines.")
            one.compacted = True

    def first(self) -> tuple[Segment, int, bool] | None:
        """The oldest piece, how much of it is written, and whether it is complete."""
        with self.lock:
            if not self.segments:
                return None
            return self.segments[0], self.segments[0].end, len(self.segments) > 1

    def forget(self, segment: Segment) -> None:
        """Sent completely. The piece being written stays, it will grow."""
        with self.lock:
            if self.segments and self.segments[0] is segment and len(self.segments) > 1:
                self.segments.popleft()
                if segment in self._to_seal:
                    self._to_seal.remove(segment)
                segment.delete()

    def close(self, *, everything_sent: bool) -> None:
        with self.lock:
            for one in [*self.segments, *([self._spare] if self._spare else [])]:
                if one.path is not None and one is not self._spare:
                    one.seal()
            if self._spare is not None:
                self._spare.delete()
            folder, self.folder = self.folder, None
            self.segments.clear()
            self._spare = self._current = None
            if folder is not None:
                folder.delete() if everything_sent else folder.close()

    def after_fork(self) -> None:
        """In the child: all this is the parent's. A queue of our own is made when it is needed."""
        for one in [*self.segments, *([self._spare] if self._spare else [])]:
            one.forget()
        if self.folder is not None:
            self.folder.close()
        self._begin()


def _note(gone: int) -> bytes:
    line = f"[tapeline] {gone:,} log lines were dropped here: the queue was full"
    return (
        '{"path":"/v1/live/log","time":%r,"body":{"line":"%s","type":"warning"}}\n'
        % (time.time(), line)
    ).encode()
