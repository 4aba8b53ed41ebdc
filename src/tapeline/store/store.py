"""The store's interface: jobs that read, jobs that write, and whether it works.

A job is a plain function that takes a connection first. Writes go through the writer and are
durable when the call returns; a read sees everything that was acknowledged before it. Nobody waits
forever: a store that hangs counts as unavailable.
"""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from functools import partial
from time import monotonic
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from tapeline import tracing
from tapeline.errors import StoreUnavailable
from tapeline.fair_threads import FairThreads
from tapeline.leading import as_leader
from tapeline.logs import Log
from tapeline.settings import Settings
from tapeline.store import migrate
from tapeline.store.backends import failures
from tapeline.store.backends.database import COMPUTERS, open_database
from tapeline.store.backends.log_copier import LogCopier
from tapeline.store.pulse import Pulse
from tapeline.store.writer import HANGS, UNKNOWN, Writer

log = Log(__name__)

# Seconds. Outages that the database itself reports are over sooner; these are for those that hang.
ANSWERED_WITHIN = 20.0
READ_WITHIN = 60.0
LOOKED_EVERY = 1.0

P = ParamSpec("P")
T = TypeVar("T")


class Store:
    def __init__(self, settings: Settings) -> None:
        self.database = open_database(settings)
        self.database.serve(migrate.head())
        self.clock = self.database.clock
        self.writer = Writer(
            self.database.writing,
            settings.write_queue,
            witness=self.database.witness,
            cause=self.database.cause,
        )
        self._quiet = failures.LogLimiter()
        self.pulse = Pulse()
        self._is_remote = self.database.file is None
        self.readers = FairThreads(settings.readers, "reader")
        """Tenants take turns, and none of them can keep all the readers busy."""
        self.computers = FairThreads(COMPUTERS, "computing")
        file = self.database.file
        self._log_copier = None if file is None else LogCopier(file)
        self.require_lead: Callable[[Connection], None] = _there_is_no_other
        """Raises `LeadsNoMore`, in the transaction of what the leading server alone may write."""

    async def write(
        self, job: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        must_lead = as_leader.get()
        self._refuse_if_silent()

        def carry_out(connection: Connection) -> T:
            if must_lead:
                self.require_lead(connection)
            return job(connection, *args, **kwargs)

        handed = self.writer.submit(carry_out, tracing.current.get())
        async with _patience(ANSWERED_WITHIN, handed):
            answer: T = await asyncio.wrap_future(handed)
        return answer

    async def read(
        self, job: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        self._refuse_if_silent()
        return await self._answer(self.readers.begin(lambda: self.read_now(job, *args, **kwargs)))

    async def compute(
        self, job: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As `read`, for jobs that compute for long with what they read: they have threads and
        connections of their own, so that no look-up ever waits for them."""
        self._refuse_if_silent()
        return await self._answer(self.computers.begin(lambda: self.read_now(job, *args, **kwargs)))

    async def read_ahead(
        self, job: Callable[[Connection, T], T | None], start: T
    ) -> AsyncGenerator[T, None]:
        """Parts of something long, until the job returns None. Each is read from the one before,
        while the caller is busy with that one, by threads that compute: a part is much work."""
        following = self.computers.begin(lambda: self.read_now(job, start))
        try:
            while True:
                part = await self._answer(following)
                if part is None:
                    return
                following = self.computers.begin(partial(self.read_now, job, part))
                yield part
        finally:
            following.cancel()

    async def _answer(self, reading: "asyncio.Future[T]") -> T:
        deadline = monotonic() + READ_WITHIN
        try:
            while not reading.done():
                await asyncio.wait({reading}, timeout=LOOKED_EVERY)
                if not reading.done():
                    if self._is_remote and self.pulse.is_lost():
                        raise StoreUnavailable.because(HANGS)
                    if monotonic() > deadline:
                        raise StoreUnavailable
            return reading.result()
        finally:
            reading.cancel()

    def _refuse_if_silent(self) -> None:
        """At once, so that a proxy can ask another server. SQLite has no connection to lose, and
        whoever waits for its disk is told by the disk."""
        if self._is_remote and not self.pulse.may_ask():
            raise StoreUnavailable.because(HANGS)

    async def copy_log(self) -> None:
        """See `store/upkeep/log_copying.py`. PostgreSQL does the same by itself."""
        if self._log_copier is None:
            return
        try:
            await self._log_copier.copy()
        except sqlite3.Error as error:
            raise StoreUnavailable.because(self.database.cause(error)) from error

    def write_now(
        self, job: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """For callers without an event loop: the command line, the start-up."""
        answer: T = self.writer.submit(lambda connection: job(connection, *args, **kwargs)).result()
        return answer

    def read_now(
        self, job: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """A dead connection is replaced once: reading twice is harmless."""
        for last in (False, True):
            try:
                with (
                    self.pulse.asking(),
                    self.database.reading.connect() as connection,
                    connection.begin(),
                ):
                    return job(connection, *args, **kwargs)
            except failures.Failure as error:
                if not last and failures.is_worth_another_try(error):
                    continue
                if failures.is_outage(error):
                    if self._quiet.may_log():
                        log.error("store_cannot_read", reason=failures.reason(error))
                    raise StoreUnavailable.because(self.database.cause(error)) from error
                raise
        raise AssertionError("the second try returns or raises")

    def close(self) -> None:
        self.writer.close()
        self.readers.close()
        self.computers.close()
        if self._log_copier is not None:
            self._log_copier.close()
        self.database.dispose()


@asynccontextmanager
async def _patience(seconds: float, handed: "Future[Any] | None" = None) -> AsyncIterator[None]:
    waiting = asyncio.timeout(seconds)
    try:
        async with waiting:
            yield
    except TimeoutError:
        if not waiting.expired():
            raise
        # A job that has not begun never begins now; the outcome of a running one is unknown.
        is_under_way = handed is not None and not handed.cancelled()
        raise StoreUnavailable(UNKNOWN if is_under_way else None) from None


def _there_is_no_other(_: Connection) -> None:
    pass
