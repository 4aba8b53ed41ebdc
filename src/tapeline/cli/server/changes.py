"""A model's changes as they come: server-sent events, read by a thread, resumed when they break."""

import json
import queue
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from tapeline.cli.server.session import Session
from tapeline.cli.server.wire import LOST, Refused
from tapeline.cli.terminal.failures import Failure, NotFound, NotSignedIn, Unreachable

END = "end"
UNIDENTIFIED = {"unidentified", "invalid_token"}
PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)  # seconds before the next try; the last one repeats


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
        # A thread, because a silent stream must not keep us from checking the clock.
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

    def _read_on(self) -> None:
        try:
            self._follow()
        except Failure as refused:  # asking again would change nothing
            self._queue.put(refused)

    def _follow(self) -> None:
        tries, is_renewed = 0, False
        while True:
            try:
                for change in self._read_once():
                    tries, is_renewed = 0, False
                    if change is not None:
                        self._queue.put(change)
            except NotSignedIn:
                if is_renewed:  # a new token did not help
                    raise
                self._session.renew()
                is_renewed = True
            except (Unreachable, Refused, *LOST) as lost:
                if isinstance(lost, Refused) and lost.status < 500:
                    raise
                if tries == 0:
                    self._session.screen.note(f"Lost the connection ({lost}); trying again.")
            time.sleep(PAUSES[min(tries, len(PAUSES) - 1)])
            tries += 1

    def _read_once(self) -> Iterator[Change | None]:
        """None once it is open; then the changes, until the stream breaks or ends."""
        headers = {"Last-Event-ID": str(self._after), "Accept": "text/event-stream"}
        with self._session.wire.stream(self._path, headers) as stream:
            yield None
            for change in parsed(stream):
                if change.kind == END:
                    raise _reason(change.fields)
                if change.seq > self._after:
                    self._after = change.seq
                    yield change


def _reason(said: dict[str, Any]) -> Failure:
    """Why the server ended a stream, in its own words. An expired token is renewed."""
    code, sentence = str(said.get("code", "")), str(said.get("error", ""))
    if code in UNIDENTIFIED:
        return NotSignedIn(sentence or None)
    return NotFound(sentence or None) if code.startswith("no_such_") else Failure(sentence or None)


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
