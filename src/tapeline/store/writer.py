"""The one writer: takes all that is waiting, runs it in one transaction, commits, then answers.

A lone job waits for nobody; under load the cost of a durable commit is shared by all that gathered
while the last one was under way. A job is a function of a connection. It must not wait for anything
else, because everybody waits for it.
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from sqlalchemy import Connection, Engine

from tapeline.errors import StoreBusy, StoreUnavailable
from tapeline.logs import Log
from tapeline.store import database

log = Log(__name__)

GROUP = 1_000  # jobs in one transaction: bounds how long the first of them waits
QUIET_SECONDS = 5.0  # between two log lines about the same outage

Job = Callable[[Connection], Any]


@dataclass
class Waiting:
    job: Job
    answer: "Future[Any]" = field(default_factory=Future)
    outcome: Any = None
    failure: BaseException | None = None


@dataclass
class Counts:
    """What the metrics show of the writer."""

    groups: int = 0
    jobs: int = 0
    failures: int = 0
    commit_seconds: float = 0.0


class Writer:
    def __init__(self, engine: Engine, capacity: int) -> None:
        self.counts = Counts()
        self._engine = engine
        self._capacity = capacity
        self._queue: deque[Waiting] = deque()
        self._arrived = threading.Condition()
        self._closing = False
        self._logged_at = float("-inf")
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> "Future[Any]":
        waiting = Waiting(job)
        with self._arrived:
            if self._closing:
                raise StoreUnavailable
            if len(self._queue) >= self._capacity:
                raise StoreBusy
            self._queue.append(waiting)
            self._arrived.notify()
        return waiting.answer

    def backlog(self) -> int:
        return len(self._queue)

    def close(self) -> None:
        """Finish what was accepted, then stop."""
        with self._arrived:
            self._closing = True
            self._arrived.notify()
        self._thread.join()

    def _work(self) -> None:
        while group := self._gather():
            self._write(group)
            for waiting in group:
                if waiting.failure is not None:
                    waiting.answer.set_exception(waiting.failure)
                else:
                    waiting.answer.set_result(waiting.outcome)

    def _gather(self) -> list[Waiting]:
        """All that is waiting, at least one; nothing once the writer is closed and empty."""
        group: list[Waiting] = []
        while not group:
            with self._arrived:
                self._arrived.wait_for(lambda: self._queue or self._closing)
                if not self._queue:
                    return []
                taken = [self._queue.popleft() for _ in range(min(GROUP, len(self._queue)))]
            group = [one for one in taken if one.answer.set_running_or_notify_cancel()]
        return group

    def _write(self, group: list[Waiting]) -> None:
        try:
            self._commit(group)
        except _Spoilt as spoilt:
            # One job met a failure that spoils the transaction of all. Alone, each gets what it
            # deserves: only the transaction that really fails reports a failure.
            if len(group) > 1 or database.is_worth_another_try(spoilt.cause):
                for waiting in group:
                    self._write_alone(waiting)
            else:
                self._fail(group, spoilt.cause)
        except Exception as error:  # noqa: BLE001 - the writer outlives whatever a commit raises
            self._fail(group, error)

    def _write_alone(self, waiting: Waiting) -> None:
        try:
            self._commit([waiting])
        except _Spoilt as spoilt:
            self._fail([waiting], spoilt.cause)
        except Exception as error:  # noqa: BLE001
            self._fail([waiting], error)

    def _commit(self, group: list[Waiting]) -> None:
        try:
            connection = self._engine.connect()
        except Exception as error:
            raise _Spoilt(error) from error
        with connection:
            try:
                transaction = connection.begin()
                for waiting in group:
                    waiting.outcome = waiting.failure = None
                    _run(connection, waiting)
            except Exception as error:
                raise _Spoilt(error) from error
            started = monotonic()
            transaction.commit()
        self.counts.commit_seconds += monotonic() - started
        self.counts.groups += 1
        self.counts.jobs += len(group)

    def _fail(self, group: list[Waiting], error: BaseException) -> None:
        self.counts.failures += len(group)
        if database.is_outage(error):
            # The next transaction starts on a fresh connection, so recovery needs no restart.
            self._engine.dispose()
            now = monotonic()
            if now - self._logged_at > QUIET_SECONDS:
                self._logged_at = now
                log.error("store_cannot_write", reason=_first_line(error), requests=len(group))
            error = StoreUnavailable()
        for waiting in group:
            waiting.failure = error


class _Spoilt(Exception):
    """The transaction is lost before its commit, so nothing of the group is stored."""

    def __init__(self, cause: BaseException) -> None:
        self.cause = cause


def _run(connection: Connection, waiting: Waiting) -> None:
    """One job in a savepoint of its own: what it raises undoes its own changes and no others."""
    savepoint = connection.begin_nested()
    try:
        waiting.outcome = waiting.job(connection)
    except Exception as error:
        if database.is_outage(error) or database.is_worth_another_try(error):
            raise
        savepoint.rollback()
        waiting.failure = error
    else:
        savepoint.commit()


def _first_line(error: BaseException) -> str:
    return str(getattr(error, "orig", None) or error).strip().splitlines()[0]
