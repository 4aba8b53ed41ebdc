"""From lines in a queue to batches that are stored exactly once.

A batch is a stretch of one piece of the queue, byte for byte. Where it ends is written down before
it is sent, so a process that dies, or its successor, repeats it with the same bytes under the same
`Idempotency-Key`, and the server carries it out once.
"""

from __future__ import annotations

import contextlib
import zlib
from collections import deque
from typing import Deque, NamedTuple

from tapeline_client.folder import Folder
from tapeline_client.segments import Segment, numbers_in
from tapeline_client.spool import Spool
from tapeline_client.troubles import Report

BATCH_BYTES = 256 * 1024
"""An event has at least 60 bytes, so a batch stays below the server's 10,000 events."""


class Batch(NamedTuple):
    body: bytes
    key: str
    segment: Segment
    start: int

    @property
    def stop(self) -> int:
        return self.start + len(self.body)

    @property
    def events(self) -> int:
        return self.body.count(b"\n")


class Leftovers:
    """The queue of a process that is gone, taken over."""

    def __init__(self, folder: Folder, report: Report) -> None:
        self.folder = folder
        self.note = report
        under_way = folder.cursor()[0]  # what is before it was sent, and could not be deleted
        self.segments: Deque[Segment] = deque(
            Segment.left_behind(folder.path, number)
            for number in numbers_in(folder.path)
            if number >= under_way
        )

    def first(self) -> tuple[Segment, int, bool] | None:
        if not self.segments:
            return None
        return self.segments[0], self.segments[0].end, True

    def forget(self, segment: Segment) -> None:
        self.segments.popleft()
        segment.delete()


class Outbox:
    def __init__(self, source: Spool | Leftovers, *, durable: bool = False) -> None:
        self._source = source
        self._durable = durable
        self.number, self.sent, self._until = 0, 0, 0
        if isinstance(source, Leftovers):
            self.number, self.sent, self._until = source.folder.cursor()

    def batch(self) -> Batch | None:
        """The next batch; the same one until `done` or `shorten`."""
        while True:
            found = self._source.first()
            if found is None:
                return None
            segment, end, complete = found
            if segment.number != self.number:
                self.number, self.sent, self._until = segment.number, 0, 0
            if self.sent < end:
                try:
                    return self._of(segment, end)
                except FileNotFoundError as error:
                    # Only this is for ever: other errors pass, and then it can be read again.
                    self._source.note("dropped", f"Queued events were deleted: {error}.")
            elif not complete:
                return None
            self._source.forget(segment)

    def done(self, batch: Batch) -> None:
        """Stored, or set aside: continue after it."""
        self._move(batch.stop, 0)

    def shorten(self, batch: Batch, count: int) -> None:
        """Only its first events, under a key of their own: the whole was refused."""
        stop = 0
        for _ in range(count):
            stop = batch.body.index(b"\n", stop) + 1
        self._move(batch.start, batch.start + stop)

    def rest(self) -> bytes:
        """Everything that is not sent, to be set aside. It stays where it is."""
        pieces: list[bytes] = []
        for one in list(self._source.segments):
            with contextlib.suppress(FileNotFoundError):
                pieces.append(one.read(self.sent if one.number == self.number else 0, one.end))
        return b"".join(pieces)

    def skip(self) -> None:
        """None of it is to be sent, also if it cannot be deleted."""
        if self._source.segments:
            last = self._source.segments[-1]
            self.number = last.number
            self._move(last.end, 0)

    def _of(self, segment: Segment, end: int) -> Batch:
        until = self._until if self.sent < self._until <= end else 0
        body = segment.read(self.sent, until or min(end, self.sent + BATCH_BYTES))
        if not until:
            body = body[: body.rfind(b"\n") + 1]
            if not body:  # one event that is larger than a batch
                body = segment.read(self.sent, end)
                body = body[: body.index(b"\n") + 1]
            self._move(self.sent, self.sent + len(body))
        key = f"{segment.queue}-{segment.number}-{self.sent}-{zlib.crc32(body):08x}"
        return Batch(body, key, segment, self.sent)

    def _move(self, sent: int, until: int) -> None:
        self.sent, self._until = sent, until
        folder = self._source.folder
        if folder is None:
            return
        try:
            folder.move(self.number, sent, until, sync=self._durable and until > 0)
        except OSError as error:  # the tape is worth more than the risk
            self._source.note("disk", f"If this process dies, events may be sent twice: {error}.")
