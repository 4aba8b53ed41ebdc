"""The one writer: runs all waiting jobs in one transaction, commits, then answers.

A lone job waits for nobody; under load, jobs that gather during a commit share the cost of the next
one. A job is a function of a connection. It must not wait for anything else, because everybody
waits for it.

Every job is answered, whatever fails: the job, the database, or the writer itself.
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, Transaction
from sqlalchemy.exc import DBAPIError

from tapeline import buckets
from tapeline.buckets import Buckets
from tapeline.errors import StoreBusy, StoreUnavailable
from tapeline.logs import Log
from tapeline.store import facts
from tapeline.store.backends import failures
from tapeline.tracing import Trace

if TYPE_CHECKING:
    from tapeline.store.backends.lost_commits import Mark, Witness

log = Log(__name__)

GROUP = 1_000  # jobs in one transaction: bounds how long the first of them waits
TRIES = 3
PAUSE = 0.02  # seconds before another try
PATIENCE = 10.0  # seconds for a group whose jobs have to be tried one by one
STUCK = 15.0  # seconds that a group takes at most; later jobs are refused at once
HANGS = "The database does not answer."
UNKNOWN = (
    "The store went away during this write, which may or may not have been stored."
    " Look before you send it again, or send it again with the same Idempotency-Key."
)

Job = Callable[[Connection], Any]


@dataclass
class Waiting:
    job: Job
    answer: "Future[Any]" = field(default_factory=Future)
    since: float = field(default_factory=monotonic)
    trace: Trace | None = None
    outcome: Any = None
    failure: BaseException | None = None


@dataclass
class Counts:
    """What the metrics show of the writer."""

    groups: int = 0
    jobs: int = 0
    failures: int = 0
    commit_seconds: float = 0.0
    waits: Buckets = field(default_factory=lambda: Buckets(buckets.SECONDS))
    """Seconds for which jobs were queued."""
    sizes: Buckets = field(default_factory=lambda: Buckets(buckets.NUMBERS))
    """Jobs in one transaction."""


class Writer:
    def __init__(
        self,
        engine: Engine,
        capacity: int,
        *,
        witness: "Witness | None" = None,
        cause: Callable[[BaseException], str] = failures.cause,
    ) -> None:
        self.counts = Counts()
        self.outage: str | None = None
        """Why the last write failed, if that was an outage: a sentence, until one succeeds."""
        self._cause_of = cause
        self._engine = engine
        self._witness = witness
        self._capacity = capacity
        self._queue: deque[Waiting] = deque()
        self._arrived = threading.Condition()
        self._closing = False
        self._begun_at: float | None = None
        """Since when a group is under way."""
        self._quiet = failures.LogLimiter()
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self._thread.start()

    def submit(self, job: Job, trace: Trace | None = None) -> "Future[Any]":
        waiting = Waiting(job, trace=trace)
        with self._arrived:
            if self._closing:
                raise StoreUnavailable
            if self._is_stuck():
                raise StoreUnavailable.because(HANGS)
            if len(self._queue) >= self._capacity:
                raise StoreBusy
            self._queue.append(waiting)
            self._arrived.notify()
        return waiting.answer

    def unavailable(self) -> StoreUnavailable:
        """For a job that was not carried out."""
        return StoreUnavailable.because(self.outage) if self.outage else StoreUnavailable()

    def backlog(self) -> int:
        return len(self._queue)

    def close(self) -> None:
        """Finish what was accepted, then stop."""
        with self._arrived:
            self._closing = True
            self._arrived.notify()
        self._thread.join()
        if self._witness:
            self._witness.forget()

    def _is_stuck(self) -> bool:
        """While a disk or database hangs, new jobs are refused at once."""
        begun_at = self._begun_at
        return begun_at is not None and monotonic() - begun_at > STUCK

    def _work(self) -> None:
        try:
            # No variable here: it would keep a group in memory until the next one comes.
            while self._serve(self._gather()):
                pass
        finally:
            self._refuse_the_rest()

    def _serve(self, group: list[Waiting]) -> bool:
        """Whether there was anything to do."""
        if not group:
            return False
        begun = self._begun_at = monotonic()
        try:
            self._write(group)
        except BaseException as error:  # a bug of ours, but they wait all the same
            log.error("bug", exc_info=error)
            for waiting in group:
                waiting.failure = waiting.failure or StoreUnavailable(UNKNOWN)
        self._begun_at, ended = None, monotonic()
        self._tell(group, begun, ended)
        for waiting in group:
            _answer(waiting)
        return True

    def _tell(self, group: list[Waiting], begun: float, ended: float) -> None:
        """Metrics and traces. What fails there changes nothing about what was stored."""
        try:
            self.counts.sizes.add(len(group))
            for waiting in group:
                self.counts.waits.add(begun - waiting.since)
                if waiting.trace is not None:
                    waiting.trace.stored(waiting.since, begun, ended, writes=len(group))
        except BaseException as error:  # they wait all the same
            log.error("bug", exc_info=error)

    def _refuse_the_rest(self) -> None:
        """After closing, nothing is left to do. If the thread died, fail all waiting jobs."""
        with self._arrived:
            self._closing = True
            left, self._queue = list(self._queue), deque()
        for waiting in left:
            if _is_wanted(waiting):
                waiting.failure = StoreUnavailable()
                _answer(waiting)

    def _gather(self) -> list[Waiting]:
        """All waiting jobs, at least one; nothing once the writer is closed and empty."""
        group: list[Waiting] = []
        while not group:
            with self._arrived:
                self._arrived.wait_for(lambda: self._queue or self._closing)
                if not self._queue:
                    return []
                taken = [self._queue.popleft() for _ in range(min(GROUP, len(self._queue)))]
            group = [one for one in taken if _is_wanted(one)]
        return group

    def _write(self, group: list[Waiting]) -> None:
        failure = self._try(group)
        if isinstance(failure, _BrokenTransaction) and len(group) > 1:
            self._write_apart(group)
        elif failure is not None:
            self._fail(group, failure)

    def _write_apart(self, group: list[Waiting]) -> None:
        """One job's failure broke the transaction of all. Alone, each gets its own result: only the
        transaction that really fails reports a failure."""
        deadline = monotonic() + PATIENCE
        for place, waiting in enumerate(group):
            # Each may wait for a lock; the jobs behind them must not wait for all of that.
            if monotonic() > deadline:
                self._fail(group[place:], StoreBusy())
                return
            failure = self._try([waiting])
            if failure is not None:
                self._fail([waiting], failure)

    def _try(self, group: list[Waiting]) -> BaseException | None:
        """Commit, or say why not. A deadlock or a dead connection deserves another try."""
        failure: BaseException | None = None
        for _ in range(TRIES):
            try:
                self._commit(group)
            except BaseException as error:  # noqa: BLE001 - the writer outlives whatever is raised
                failure = error
                if not failures.is_worth_another_try(_cause(error)):
                    return failure
                # The other side of a deadlock goes first, or both would meet again at once.
                sleep(PAUSE)
            else:
                return None
        return failure

    def _commit(self, group: list[Waiting]) -> None:
        connection = self._engine.connect()
        try:
            mark, unanswered, seconds = self._carry_out(connection, group)
        except BaseException:
            _let_go(connection.invalidate)  # it may still be inside of its transaction
            raise
        finally:
            _let_go(connection.close)
        if unanswered is not None:
            self._settle(mark, unanswered)
        self.counts.commit_seconds += seconds
        self.counts.groups += 1
        self.counts.jobs += len(group)

    def _carry_out(
        self, connection: Connection, group: list[Waiting]
    ) -> "tuple[Mark | None, DBAPIError | None, float]":
        """The mark of the transaction, the error after which the outcome of the commit is unknown,
        and how long the commit took."""
        transaction = connection.begin()
        if len(group) == 1:
            # The usual case under load, when events gather in the inbox: its transaction is its
            # own, and a savepoint would cost more than all that it is there for.
            _run(connection, group[0], transaction)
        else:
            for waiting in group:
                _run(connection, waiting, None)
        if not transaction.is_active:  # its only job has undone it
            return None, None, 0.0
        if self.outage:
            # What a job writes may be nothing; this is something, so that its commit is a proof.
            facts.prove_writable(connection)
        started = monotonic()
        mark = self._witness.mark(connection) if self._witness else None
        unanswered = _end(transaction)
        if unanswered is None:
            self.outage = None
        return mark, unanswered, monotonic() - started

    def _settle(self, mark: "Mark | None", error: DBAPIError) -> None:
        """The connection was lost during the commit: raise unless it succeeded."""
        if self._witness is None or mark is None:
            raise error
        committed = self._witness.was_committed(mark)
        known = {True: "yes", False: "no", None: "unknown"}[committed]
        log.warning("store_lost_during_commit", reason=failures.reason(error), committed=known)
        if committed is None:
            raise StoreUnavailable(UNKNOWN)
        if not committed:
            raise error

    def _fail(self, group: list[Waiting], failure: BaseException) -> None:
        self.counts.failures += len(group)
        error = _cause(failure)
        outage = failures.is_outage(error)
        if outage:
            self.outage = self._cause_of(error)
            # The next transaction starts on a fresh connection, so recovery needs no restart.
            _let_go(self._engine.dispose)
            if self._quiet.may_log():
                reason = failures.reason(error)
                log.error("store_cannot_write", reason=reason, requests=len(group))
        for waiting in group:
            waiting.failure = self.unavailable() if outage else _carried(error)


class _BrokenTransaction(Exception):
    """A job hit a failure of the database, which ends the whole transaction."""

    def __init__(self, cause: Exception) -> None:
        self.cause = cause


def _run(connection: Connection, waiting: Waiting, own: Transaction | None) -> None:
    """Run one job in its own savepoint or transaction: an error undoes its own changes and no
    others."""
    waiting.outcome = waiting.failure = None
    try:
        undo = own or connection.begin_nested()
        try:
            waiting.outcome = waiting.job(connection)
        except BaseException as error:
            if failures.is_outage(error) or failures.is_worth_another_try(error):
                raise
            undo.rollback()
            waiting.failure = _carried(error)
        else:
            if own is None:
                undo.commit()
    except Exception as error:
        raise _BrokenTransaction(error) from error


def _is_wanted(waiting: Waiting) -> bool:
    """Whether somebody waits for it still; then it can no longer be cancelled."""
    try:
        return waiting.answer.set_running_or_notify_cancel()
    except BaseException as error:  # it was answered already; others wait too
        log.error("bug", exc_info=error)
        return False


def _answer(waiting: Waiting) -> None:
    try:
        if waiting.failure is not None:
            waiting.answer.set_exception(waiting.failure)
        else:
            waiting.answer.set_result(waiting.outcome)
    except BaseException as error:  # whoever is told may fall over; others wait too
        log.error("bug", exc_info=error)


def _let_go(act: Callable[[], None]) -> None:
    """A commit stays valid, whatever error closing its connection raises."""
    try:
        act()
    except BaseException as error:  # noqa: BLE001 - see above
        log.warning("store_not_let_go", reason=failures.reason(error))


def _carried(error: BaseException) -> BaseException:
    # asyncio refuses to carry this one, and its receiver would wait forever.
    return RuntimeError("a job raised StopIteration") if type(error) is StopIteration else error


def _end(transaction: Transaction) -> DBAPIError | None:
    """The error after which the outcome is unknown; any other is raised."""
    try:
        transaction.commit()
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
        return error
    return None


def _cause(error: BaseException) -> BaseException:
    return error.cause if isinstance(error, _BrokenTransaction) else error
