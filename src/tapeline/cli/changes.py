"""A model's changes as they come: server-sent events, read by a thread, resumed when they break."""

import json
import queue
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from tapeline.cli.failures import Failure, NotFound, NotSignedIn
from tapeline.cli.session import Session
from tapeline.cli.wire import LOST

PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)  # seconds before the next try; the last one again and again


@dataclass(frozen=True)
class Change:
    seq: int
    kind: str
    """As events are named on the tape: `log`, `lifecycle`, `backtest-status`…"""
    fields: dict[str, Any]


class Changes:
    """What happens to a model after a number of its tape."""

    def __init__(self, session: Session, model_id: str, after: int) -> None:
        self._session = session
        self._path = f"/api/models/{model_id}/stream"
        self._after = after
        self._queue: queue.SimpleQueue[Change | Exception] = queue.SimpleQueue()
        # A thread, because a stream that is silent must not keep us from looking at the clock.
        threading.Thread(target=self._read_on, daemon=True).start()

    def next(self, seconds: float | None) -> Change | None:
        """The next change; None when there was none in time."""
        try:
            found = self._queue.get(timeout=seconds)
        except queue.Empty:
            return None
        if isinstance(found, Exception):
            raise found
        return found

    def __iter__(self) -> Iterator[Change]:
        while True:
            # Not for ever at once: Ctrl-C is only heard between.
            change = self.next(1.0)
            if change is not None:
                yield change

    def _read_on(self) -> None:
        tries = 0
        while True:
            try:
                for change in self._read_once():
                    tries = 0
                    self._queue.put(change)
            except NotFound as gone:
                self._queue.put(gone)
                return
            except NotSignedIn as refused:
                if tries:  # a new token did not help
                    self._queue.put(refused)
                    return
                self._renew()
            except (Failure, *LOST) as lost:
                if tries == 0:
                    self._session.screen.note(f"Lost the connection ({lost}); trying again.")
            time.sleep(PAUSES[min(tries, len(PAUSES) - 1)])
            tries += 1

    def _renew(self) -> None:
        try:
            self._session.renew()
        except Failure as failure:
            self._queue.put(failure)

    def _read_once(self) -> Iterator[Change]:
        headers = {"Last-Event-ID": str(self._after), "Accept": "text/event-stream"}
        with self._session.wire.stream(self._path, headers) as stream:
            for change in parsed(stream):
                if change.seq > self._after:
                    self._after = change.seq
                    yield change


def parsed(stream: IO[bytes]) -> Iterator[Change]:
    fields: dict[str, str] = {}
    for raw in stream:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        elif "data" in fields:
            data = json.loads(fields["data"])
            yield Change(int(fields.get("id", "0")), fields.get("event", ""), data)
            fields = {}
        else:
            fields = {}  # a comment that keeps the stream alive
