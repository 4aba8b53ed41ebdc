"""The queue between a model and its server: appended to by callers, emptied by the sender.

Appending is all that happens in the caller's time: one copy into mapped memory under a lock that is
held for a microsecond. Making, sealing and deleting files is the sender's work.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import threading
import time
from collections import deque
from typing import Callable, Deque, NamedTuple

from tapeline_client.folder import Folder, Held
from tapeline_client.segments import SEGMENT_BYTES, Segment, sync_folder
from tapeline_client.shedding import without_log_lines
from tapeline_client.troubles import Report, Troubles

_FULL = 0.75
"""From this share on, log lines are dropped; the rest is reserved for other events."""
AGAIN = 5.0  # seconds between two tries of what the disk did not let us do


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
        self._troubles = Troubles(self.lock, self._report)
        self._spare: Segment | None = None
        self._next_number = 1
        self._to_seal: list[Segment] = []
        self._synced = (0, 0)
        self._next_try = self._next_tidying = 0.0
        self.folder: Folder | None = None
        self._name = secrets.token_hex(16)
        """In the keys of batches that wait in memory. It stays: a key must not change."""
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
        if self._troubles.noted:
            self._troubles.tell()
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
            self.note("full", "The queue of events is full: log lines are being dropped.")
        else:
            self.dropped_events += 1
            self.note(
                "dropped", "The queue of events is full: an event that is not a log line was lost."
            )

    def note(self, kind: str, message: str) -> None:
        """A problem, to be told as soon as the lock is free."""
        self._troubles.note(kind, message)

    def _next(self, least: int, is_log: bool) -> Segment | None:
        """Another piece to write into, or None when there may be no more."""
        size = max(SEGMENT_BYTES, least)
        made: Segment | None = None
        on_disk = self._bytes(on_disk=True)
        if self._open_folder() is not None:
            self._press(on_disk + size > self._limits.disk * _FULL)
            if on_disk + size > self._limits.disk or (is_log and self._pressed):
                return None
            made = self._on_disk(size)
        if made is None:
            in_memory = self._bytes(on_disk=False)
            self._press(in_memory + size > self._limits.memory * _FULL)
            if in_memory + size > self._limits.memory or (is_log and self._pressed):
                return None
            made = self._in_memory(size)
        if made is not None and self.segments:
            self._to_seal.append(self.segments[-1])
            if self._durable:
                self._sync_last()  # another thread may be about to ask for it
        return made

    def _in_memory(self, size: int) -> Segment | None:
        try:
            return Segment.in_memory(self._name, self._take_number(), size)
        except OSError:
            return None

    def _sync_last(self) -> None:
        try:
            if self.segments[-1].fd >= 0:
                os.fsync(self.segments[-1].fd)
        except OSError as error:
            self.note("disk", f"Events may not be on the disk itself: {error}.")

    def _bytes(self, *, on_disk: bool) -> int:
        return sum(one.size for one in self.segments if (one.path is not None) == on_disk)

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
            self.note("disk", f"Events wait in memory only, lost if this process dies: {error}.")
            return None

    def _made(self, folder: Folder, number: int, size: int) -> Segment:
        made = Segment.on_disk(folder.path, number, size)
        try:
            if self._durable:
                sync_folder(folder.path)
        except OSError:
            made.delete()
            raise
        return made

    def _open_folder(self) -> Folder | None:
        """Made when it is first needed. If that fails, it is tried again after a pause."""
        if self.folder is None and self._parent is not None and time.monotonic() >= self._next_try:
            self._next_try = time.monotonic() + AGAIN
            try:
                self.folder = Folder.make(self._parent)
                if self._durable:
                    sync_folder(self._parent)
            except (OSError, Held) as error:
                self.note(
                    "disk", f"Events wait in memory only, lost if this process dies: {error}."
                )
        return self.folder

    def _take_number(self) -> int:
        self._next_number += 1
        return self._next_number - 1

    # The sender's part

    def tend(self) -> None:
        """Seal what is full, have the next piece ready, make room when little is left. Whatever
        fails here is told, and does not keep the sender from sending."""
        self._return_to_disk()
        if time.monotonic() >= self._next_tidying:
            for tidy in (self._seal, self._make_spare, self._shed):
                try:
                    tidy()
                except OSError as error:
                    self._next_tidying = time.monotonic() + AGAIN
                    self.note("disk", f"The queue on disk cannot be tidied: {error}.")
        with self.lock:
            used, limit = self._fill()
            if self._pressed and used + SEGMENT_BYTES <= limit * _FULL:
                self._pressed = False
        self._troubles.tell()

    def _seal(self) -> None:
        with self.lock:
            sealing = list(self._to_seal)
        for one in sealing:
            one.seal()
            with self.lock:
                self._to_seal.remove(one)

    def _return_to_disk(self) -> None:
        """A new folder, if somebody deleted ours or none could be made, for the next event."""
        with self.lock:
            folder = self.folder
            if folder is not None and folder.is_gone:
                self._leave(folder)
            if self.segments and self.folder is None and self._open_folder() is not None:
                self._current = None

    def _leave(self, folder: Folder) -> None:
        """Its open pieces live on in memory. Those that were closed are gone."""
        self.folder = None
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.delete()
        lost = 0
        for one in list(self.segments):
            if one.map is not None:
                one.part_from_file()
            elif one.path is not None and not os.path.exists(one.path):
                lost += one.end
                self._remove(one)
        folder.close()
        deleted = "The folder of the queue was deleted"
        if lost:
            self.note("dropped", f"{deleted}, and up to {lost:,} bytes of events with it.")
        else:
            self.note("disk", f"{deleted}. What was in it waits in memory.")

    def sync(self) -> None:
        """Onto the disk itself, against a power failure."""
        try:
            self._sync()
        except OSError as error:
            self.note("disk", f"Events are queued, but not yet on the disk itself: {error}.")
        if self._troubles.noted:
            self._troubles.tell()

    def _sync(self) -> None:
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
        """The next piece, if the one being written will soon be full."""
        with self.lock:
            folder, last = self.folder, self.segments[-1] if self.segments else None
            if self._spare is not None or folder is None or last is None or last.path is None:
                return
            if last.end <= SEGMENT_BYTES // 4:
                return
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

    def _fill(self) -> tuple[int, int]:
        """Bytes used and allowed in the place where the queue grows now, on disk or in memory."""
        with self.lock:
            on_disk = self._grows_on_disk()
            allowed = self._limits.disk if on_disk else self._limits.memory
            return self._bytes(on_disk=on_disk), allowed

    def _grows_on_disk(self) -> bool:
        return self.segments[-1].path is not None if self.segments else self.folder is not None

    def _shed(self) -> None:
        """The oldest log lines go first. What is being sent and what is being written stay."""
        used, limit = self._fill()
        if used <= limit * _FULL * 0.9:
            return
        with self.lock:
            on_disk = self._grows_on_disk()
            pieces = [one for one in list(self.segments)[1:-1] if (one.path is not None) == on_disk]
        for one in pieces:
            used, limit = self._fill()
            if used <= limit * _FULL * 0.8:
                return
            if one.compacted or one in self._to_seal:
                continue
            kept, gone = without_log_lines(one.read(0, one.end))
            if gone:
                with self.lock:
                    one.rewrite(kept)
                    self.dropped_lines += gone
                self.note("full", "The queue of events is full: dropping the oldest log lines.")
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
                self._remove(segment)

    def _remove(self, segment: Segment) -> None:
        self.segments.remove(segment)
        if segment in self._to_seal:
            self._to_seal.remove(segment)
        segment.delete()

    def close(self, *, everything_sent: bool) -> None:
        with self.lock:
            in_memory = sum(one.end for one in self.segments if one.path is None)
            if in_memory and not everything_sent:
                self.note("dropped", f"Up to {in_memory:,} bytes of events in memory are lost.")
            for one in self.segments:
                with contextlib.suppress(OSError):  # its lines are the kernel's already
                    one.seal()
            if self._spare is not None:
                self._spare.delete()
            folder, self.folder = self.folder, None
            self.segments.clear()
            self._spare = self._current = None
            if folder is not None:
                folder.delete() if everything_sent else folder.close()
        self._troubles.tell()

    def after_fork(self) -> None:
        """In the child: all this is the parent's. A queue of our own is made when it is needed."""
        for one in [*self.segments, *([self._spare] if self._spare else [])]:
            one.forget()
        if self.folder is not None:
            self.folder.close()
        self._begin()
