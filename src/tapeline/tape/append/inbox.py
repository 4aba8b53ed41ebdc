"""Events wait here for the writer: those that gather during a commit go into its next turn.

A lone event waits for nobody. An answered event is durable; a refused one left nothing behind. Each
is answered once, whatever happens to its turn: refused, never begun, interrupted, or hanging.
"""

import asyncio
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from time import monotonic

from sqlalchemy import Connection

from tapeline import tracing
from tapeline.buckets import NUMBERS, Buckets
from tapeline.errors import StoreBusy, StoreUnavailable
from tapeline.logs import Log
from tapeline.store import facts
from tapeline.store.store import ANSWERED_WITHIN
from tapeline.store.writer import UNKNOWN, Writer
from tapeline.tape.append.appending import Appended, Appender
from tapeline.tape.append.fair_shares import RESTING, Shares
from tapeline.tape.append.watchers import Watchers
from tapeline.tape.events.event import Submission
from tapeline.tracing import Trace

log = Log(__name__)

TURN = 5_000  # events in one turn, so that the first of them does not wait for too many others

Settle = Callable[[BaseException | None], None]
"""Called once, on the event loop: None when the events are durable, else why none of them is."""

Waiting = tuple[Submission, Settle]
Outcome = tuple[Submission, Settle, BaseException | None]


class _Turn:
    """One job of the writer. It takes the waiting events when it begins, and the same ones if it is
    tried again."""

    def __init__(self, inbox: "Inbox", loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.taken: list[Waiting] | None = None
        """None until the writer has begun it."""
        self.resting: frozenset[str | None] = frozenset()
        """Keys that are answered later, because others write too."""
        self.is_over = False
        """Whether all its events are answered."""
        self.overdue: asyncio.TimerHandle | None = None
        self.begun_at = self.ended_at = 0.0
        self._inbox = inbox

    def run(self, connection: Connection) -> tuple[list[Outcome], list[Appended]]:
        taken = self._inbox.take(self)
        submissions = [submission for submission, _ in taken]
        if not any(submission.events for submission in submissions):
            self._inbox.prove_writable(connection)
        refusals, appended = self._inbox.appender.append(connection, submissions)
        self._inbox.sizes.add(sum(len(one.events) for one in submissions))
        return [(*one, why) for one, why in zip(taken, refusals, strict=True)], appended


@dataclass(frozen=True)
class _Traced:
    """A receiver whose way through the queue and the commit is measured."""

    settle: Settle
    trace: Trace
    since: float

    def __call__(self, failure: BaseException | None, /) -> None:
        self.settle(failure)


class _Undone(Exception):
    """A turn without events: it could write, and its write is rolled back."""


class Inbox:
    def __init__(
        self, writer: Writer, appender: Appender, watchers: Watchers, capacity: int
    ) -> None:
        self.appender = appender
        self.sizes = Buckets(NUMBERS)
        """Events that were stored together."""
        self._writer = writer
        self._watchers = watchers
        self._capacity = capacity
        self._waiting: deque[Waiting] = deque()
        self._shares = Shares()
        self._size = 0
        """Events in the queue; those of large batches wait before it, and are not counted."""
        self._queued: defaultdict[str | None, Counter[str | None]] = defaultdict(Counter)
        """The same by tenant and key."""
        self._asked: asyncio.AbstractEventLoop | None = None
        """The loop that asked for a turn which has not begun yet."""
        # Between the writer, which takes, and the loop, which may give up waiting for it.
        self._taking = threading.Lock()

    async def store(self, submission: Submission) -> None:
        """Return when the events are durable; raise when they are not, and then none of them is.
        A submission without events goes the same way and stores nothing."""
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.put(submission, partial(_resolve, answer))
        await answer

    def put(self, submission: Submission, settle: Settle) -> None:
        """The same for callers that cannot await: `settle` gets the result."""
        if not submission.is_large:
            self._enter(submission)
        if self._asked is None or self._asked.is_closed():
            # Later in this turn of the loop, so that events that arrived together go together.
            loop = asyncio.get_running_loop()
            loop.call_soon(self._ask, loop)
            self._asked = loop
        if (trace := tracing.current.get()) is not None:
            settle = _Traced(settle, trace, monotonic())
        self._waiting.append((submission, settle))

    def take(self, turn: _Turn) -> list[Waiting]:
        """Called by the writer when it begins a turn. Later events ask for another turn."""
        with self._taking:
            if turn.is_over:  # they were answered already: nothing was stored
                return []
            if turn.taken is None:
                # Before taking, never after: an event that comes in between would wait forever.
                self._asked = None
                turn.begun_at = monotonic()
                turn.taken = self._shares.portion(self._waiting, TURN)
                turn.resting = self._shares.filled
            return turn.taken

    def backlog(self) -> int:
        """Events that are queued or being stored."""
        return self._size

    def outage(self) -> str | None:
        """Why the last write failed, if that was an outage."""
        return self._writer.outage

    def prove_writable(self, connection: Connection) -> None:
        """A probe leaves nothing behind. After an outage the writer's own commit is the proof:
        before it, nobody knows whether the disk has room."""
        if not self._writer.outage:
            facts.prove_writable(connection)
            raise _Undone

    def _enter(self, submission: Submission) -> None:
        """A full queue refuses the keys that have more than an equal share of their tenant's equal
        share of it, and a tenant that has twice its own. Others still get in."""
        tenant, key, count = submission.tenant, submission.key_id, len(submission.events)
        if count and self._size and self._size + count > self._capacity:
            own = self._queued.get(tenant, Counter())
            share = self._capacity // (len(self._queued) + (tenant not in self._queued))
            of_key = share // (len(own) + (key not in own))
            if own[key] + count > of_key or own.total() + count > 2 * share:
                raise StoreBusy
        self._size += count
        self._queued[tenant][key] += count

    def _leave(self, submission: Submission) -> None:
        tenant, key, count = submission.tenant, submission.key_id, len(submission.events)
        own = self._queued[tenant]
        self._size -= count
        own[key] -= count
        if not own[key]:
            del own[key]
        if not own:
            del self._queued[tenant]

    def _ask(self, loop: asyncio.AbstractEventLoop) -> None:
        turn, self._asked = _Turn(self, loop), loop
        try:
            done = self._writer.submit(turn.run)
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait are told
            self._fail(turn, error)
            return
        turn.overdue = loop.call_later(ANSWERED_WITHIN, self._give_up, turn, done)
        done.add_done_callback(partial(self._done, turn))

    def _done(self, turn: _Turn, future: "Future[tuple[list[Outcome], list[Appended]]]") -> None:
        """In the writer's thread, after the commit: senders are answered before watchers."""
        turn.ended_at = monotonic()
        failure = StoreUnavailable() if future.cancelled() else future.exception()
        if failure is not None:
            _on_its_loop(turn, partial(self._fail, turn, failure))
            return
        outcomes, appended = future.result()
        _on_its_loop(turn, partial(self._settle, turn, outcomes))
        for one in appended:
            if self._watchers.has_any(one.model_id):
                self._watchers.publish(one.model_id, one.records)

    def _give_up(self, turn: _Turn, future: "Future[object]") -> None:
        """The store hangs: stop waiting for it."""
        if not future.cancel():  # else `_done` was called
            self._fail(turn, StoreUnavailable(UNKNOWN))

    def _fail(self, turn: _Turn, failure: BaseException) -> None:
        """Answer the events that it took; or all waiting ones if it never began, because then nor
        did they."""
        with self._taking:
            if turn.is_over:
                return
            turn.is_over = True
            concerned, why = turn.taken, None if isinstance(failure, _Undone) else failure
            if concerned is None:
                self._asked = None
                concerned = [self._waiting.popleft() for _ in range(len(self._waiting))]
                if isinstance(failure, StoreUnavailable):
                    why = self._writer.unavailable()  # of theirs, the outcome is known
                else:
                    why = failure
        self._answer(turn, [(*one, why) for one in concerned])

    def _settle(self, turn: _Turn, outcomes: list[Outcome]) -> None:
        if not turn.is_over:  # else they were answered already: the outcome is unknown
            turn.is_over = True
            self._answer(turn, outcomes)

    def _answer(self, turn: _Turn, outcomes: list[Outcome]) -> None:
        for submission, settle, failure in outcomes:
            if isinstance(settle, _Traced) and turn.ended_at:
                settle.trace.stored(
                    settle.since, turn.begun_at, turn.ended_at, submissions=len(outcomes)
                )
            if not submission.is_large:
                self._leave(submission)
            if submission.key_id in turn.resting and not turn.loop.is_closed():
                turn.loop.call_later(RESTING, _call, settle, failure)
            else:
                _call(settle, failure)
        if turn.loop.is_closed():
            return
        if turn.overdue is not None:
            turn.overdue.cancel()
        if self._waiting and self._asked is None:
            self._ask(turn.loop)


def _on_its_loop(turn: _Turn, finish: Callable[[], None]) -> None:
    try:
        turn.loop.call_soon_threadsafe(finish)
    except (
        RuntimeError
    ):  # the loop has ended, and those who waited with it: only the counts are kept
        finish()


def _call(settle: Settle, failure: BaseException | None) -> None:
    try:
        settle(failure)
    except Exception as error:  # a receiver may fail; others wait too
        log.error("bug", exc_info=error)


def _resolve(answer: "asyncio.Future[None]", failure: BaseException | None) -> None:
    if answer.done():
        return  # the client went away; its events are stored anyway
    if failure is None:
        answer.set_result(None)
    else:
        answer.set_exception(failure)
