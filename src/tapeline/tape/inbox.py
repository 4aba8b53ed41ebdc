"""Where events wait for the writer: whatever gathers while it commits goes into its next turn.

A lone event waits for nobody. An answered event is durable; a refused one left nothing behind.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial

from sqlalchemy import Connection

from tapeline.errors import Problem, StoreBusy
from tapeline.store.writer import Writer
from tapeline.tape.append import Appended, Appender
from tapeline.tape.event import Submission
from tapeline.tape.watchers import Watchers

TURN = 5_000  # events in one turn, so that the first of them does not wait for too many others


Settle = Callable[[BaseException | None], None]
"""Told once, on the event loop: None when the events are durable, else why none of them is."""


class _Turn:
    """One job of the writer: the submissions it took, so that trying again takes the same."""

    def __init__(self, inbox: "Inbox") -> None:
        self._inbox = inbox
        self.taken: list[tuple[Submission, Settle]] = []

    def run(self, connection: Connection) -> tuple[list[Problem | None], list[Appended]]:
        if not self.taken:
            self.taken = self._inbox.take()
        return self._inbox.appender.append(connection, [one for one, _ in self.taken])


class Inbox:
    def __init__(
        self, writer: Writer, appender: Appender, watchers: Watchers, capacity: int
    ) -> None:
        self.appender = appender
        self._writer = writer
        self._watchers = watchers
        self._capacity = capacity
        self._waiting: deque[tuple[Submission, Settle]] = deque()
        self._size = 0
        self._asked = False

    async def store(self, submission: Submission) -> None:
        """Return when the events are durable; raise when they are not, and then none of them is."""
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.put(submission, partial(_answer, answer))
        await answer

    def put(self, submission: Submission, settle: Settle) -> None:
        """The same for who cannot wait here: `settle` is told."""
        if self._size and self._size + len(submission.events) > self._capacity:
            raise StoreBusy
        self._waiting.append((submission, settle))
        self._size += len(submission.events)
        if not self._asked:
            # Not before the others that have arrived in this same moment stand in line too.
            self._asked = True
            asyncio.get_running_loop().call_soon(self._ask)

    def take(self) -> list[tuple[Submission, Settle]]:
        """Called by the writer when it is our turn. Whatever comes later asks for another turn."""
        # Before taking, never after: an event that comes in between would wait for nobody to come.
        self._asked = False
        taken, size = [], 0
        while self._waiting and size < TURN:
            taken.append(self._waiting.popleft())
            size += len(taken[-1][0].events)
        return taken

    def _ask(self) -> None:
        turn, loop = _Turn(self), asyncio.get_running_loop()
        self._asked = True
        try:
            done = self._writer.submit(turn.run)
        except Problem as problem:
            turn.taken = self.take()
            self._settle(turn, [problem] * len(turn.taken))
            return
        done.add_done_callback(lambda future: self._done(loop, turn, future))

    def _done(
        self,
        loop: asyncio.AbstractEventLoop,
        turn: _Turn,
        future: "Future[tuple[list[Problem | None], list[Appended]]]",
    ) -> None:
        """In the writer's thread, after the commit: those who wait come before those who watch."""
        error = future.exception()
        if error is not None:
            loop.call_soon_threadsafe(self._settle, turn, [error] * len(turn.taken))
            return
        refusals, appended = future.result()
        loop.call_soon_threadsafe(self._settle, turn, refusals)
        for one in appended:
            if self._watchers.are_there(one.model_id):
                self._watchers.tell(one.model_id, one.records)

    def _settle(self, turn: _Turn, outcomes: Sequence[BaseException | None]) -> None:
        for (submission, settle), failure in zip(turn.taken, outcomes, strict=True):
            self._size -= len(submission.events)
            settle(failure)
        if self._waiting and not self._asked:
            self._ask()


def _answer(answer: "asyncio.Future[None]", failure: BaseException | None) -> None:
    if answer.done():
        return  # the client went away; what it sent is stored all the same
    if failure is None:
        answer.set_result(None)
    else:
        answer.set_exception(failure)
