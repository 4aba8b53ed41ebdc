"""Writes the journal: segments named by their first byte's offset, the oldest dropped when full.

A record is one line and is written whole or not at all, so that every offset a reader keeps is the
start of a record, whatever happens to this process or to the disk. What the disk does not take
waits in memory: all states, and the newest output.
"""

import errno
import json
import os
import socket
import time
from collections import deque

MOST_KEPT = 1024 * 1024  # bytes of output in memory while the disk takes nothing
AGAIN_AFTER = 1.0  # seconds until the disk is tried again
FULL = (errno.ENOSPC, errno.EDQUOT)
LARGEST_SEGMENT = 4 * 1024 * 1024
SMALLEST_SEGMENT = 16 * 1024


class Spool:
    def __init__(self, folder: str, limit: int, runs: str, name: str, quota: int) -> None:
        self._folder = os.path.join(folder, "journal")
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        self._limit = limit
        self._segment = max(SMALLEST_SEGMENT, min(LARGEST_SEGMENT, limit // 8))
        self._name = name.encode()
        self._bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        # Through a descriptor, because a socket's path may have 107 characters at most.
        self._runs = os.open(runs, os.O_PATH | os.O_DIRECTORY)
        self._bell_path = f"/proc/self/fd/{self._runs}/bell"
        self._quota = quota
        self._minute, self._in_minute = 0.0, 0  # when it ends, and what was written in it
        self._over = 0
        self._lost = 0
        self._why = ""
        """Why the disk took nothing the last time."""
        self._waiting: deque[bytes] = deque()
        """Records that the disk has not taken, in order."""
        self._kept = 0  # bytes of output among them
        self._again_at = 0.0
        self._start, self._size = self._last_segment()
        self._file = self._open()

    def output(self, kind: bytes, lines: list[bytes]) -> None:
        """Lines of the model. The oldest are lost, and counted, if the disk takes none for long."""
        prefix = b"%s %.6f " % (kind, time.time())
        data = prefix + (b"\n" + prefix).join(lines) + b"\n"
        if self._is_over(len(data)):
            self._over += len(data)
            return
        if not (self._settle() and self._append(data)):
            self._keep(data)
        self._ring()

    @property
    def is_dropping(self) -> bool:
        """Whether its quota of this minute is used up."""
        return self._over > 0

    def state(self, **payload: object) -> None:
        """A state of the process: on the disk before anything acts on it."""
        self._note_over()
        text = json.dumps(payload, separators=(",", ":")).encode()
        self._waiting.append(b"s %.6f %s\n" % (time.time(), text))
        if self._settle():
            self._sync()
        self._ring()

    def wake_at(self) -> float | None:
        """When there is something to do without an event."""
        times = [self._minute] if self._over else []
        times += [self._again_at] if self._waiting else []
        return min(times, default=None)

    def tick(self, now: float) -> None:
        is_over = self._over and now >= self._minute
        if is_over:
            self._note_over()
        if is_over or (self._waiting and now >= self._again_at):
            self._again_at = now + AGAIN_AFTER
            self._settle()
            self._ring()

    def close(self, patience: float) -> None:
        """Wait for disk space if a state is unwritten: without its end, a run looks lost."""
        if self._bell.fileno() < 0:
            return
        until = time.monotonic() + patience
        while not self._settle() and time.monotonic() < until:
            time.sleep(0.2)
        self._sync()
        self._ring()
        self._bell.close()
        os.close(self._runs)
        os.close(self._file)

    def _is_over(self, size: int) -> bool:
        """Dropped here, at the source: the server must not have to read a flood to refuse it."""
        now = time.monotonic()
        if now >= self._minute:
            self._note_over()
            self._minute, self._in_minute = now + 60.0, 0
        if self._in_minute + size > self._quota:
            return True
        self._in_minute += size
        return False

    def _note_over(self) -> None:
        if self._over:
            self._waiting.append(
                b's %.6f {"event":"over","bytes":%d}\n' % (time.time(), self._over)
            )
            self._over = 0

    def _keep(self, data: bytes) -> None:
        """Drop the oldest output where there is too much. States are few, and none is dropped."""
        self._waiting.append(data)
        self._kept += len(data)
        while self._kept > MOST_KEPT:
            place = next(i for i, one in enumerate(self._waiting) if not _is_state(one))
            gone = len(self._waiting[place])
            del self._waiting[place]
            self._kept -= gone
            self._lost += gone

    def _settle(self) -> bool:
        """Write what waits, and first that something is missing."""
        if self._lost:
            if not self._append(_cut(self._lost, self._why)):
                return False
            self._lost = 0
        while self._waiting:
            if not self._append(self._waiting[0]):
                return False
            written = self._waiting.popleft()
            self._kept -= 0 if _is_state(written) else len(written)
        return True

    def _append(self, data: bytes) -> bool:
        if self._size and self._size + len(data) > self._segment:
            self._rotate()
        view, before = memoryview(data), self._size
        try:
            # Its actual size: another process may have appended to the file.
            before = os.fstat(self._file).st_size
            while view:
                view = view[os.write(self._file, view) :]
        except OSError as error:
            self._why = "the disk was full" if error.errno in FULL else "the disk took nothing"
            self._take_back(before)
            return False
        self._size = before + len(data)
        return True

    def _take_back(self, size: int) -> None:
        try:
            os.ftruncate(self._file, size)
        except OSError:
            return  # half a record stays; readers recognize it

    def _rotate(self) -> None:
        try:
            start = self._start + self._size
            opened = self._open(start)
        except OSError:
            return
        os.close(self._file)
        self._file, self._start, self._size = opened, start, 0
        self._drop_oldest()

    def _drop_oldest(self) -> None:
        dropped = 0
        try:
            names = sorted(one for one in os.listdir(self._folder) if _is_segment(one))
        except OSError:
            return  # after the next segment there is another chance
        while len(names) > 1 and self._start - int(names[0]) > self._limit - self._segment:
            try:
                os.unlink(os.path.join(self._folder, names[0]))
            except OSError:
                break
            dropped += int(names[1]) - int(names[0])
            del names[0]
        if dropped:
            self._append(_cut(dropped))

    def _last_segment(self) -> tuple[int, int]:
        """Where to continue. Half a record at the end, left by a kill, was never readable."""
        names = sorted(one for one in os.listdir(self._folder) if _is_segment(one))
        if not names:
            return 0, 0
        with open(os.path.join(self._folder, names[-1]), "rb+") as file:
            size = file.read().rfind(b"\n") + 1
            file.truncate(size)
        return int(names[-1]), size

    def _open(self, start: int | None = None) -> int:
        path = os.path.join(self._folder, f"{self._start if start is None else start:020d}")
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def _sync(self) -> None:
        try:
            os.fsync(self._file)
        except OSError:
            return

    def _ring(self) -> None:
        try:
            self._bell.sendto(self._name, self._bell_path)
        except OSError:
            return  # the server is away, or has enough rings to answer


def _is_state(record: bytes) -> bool:
    return record.startswith(b"s ")


def _is_segment(name: str) -> bool:
    return name.isascii() and name.isdecimal()


def _cut(count: int, why: str = "") -> bytes:
    because = b',"why":"%s"' % why.encode() if why else b""
    return b's %.6f {"event":"cut","bytes":%d%s}\n' % (time.time(), count, because)
