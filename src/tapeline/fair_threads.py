"""A few threads that tenants share in turns, for work that would hold up the event loop.

Work that nobody waits for any more never begins. Work that has begun hears of it at its next
`checkpoint`, so a long computation whose client has left ends early.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import ContextVar
from time import monotonic
from typing import Any, TypeVar

from tapeline.fair_line import Owner
from tapeline.thread_pools import threads
from tapeline.turns import Turns, sender

T = TypeVar("T")


class Abandoned(Exception):
    """Nobody waits for this work any more."""


class _Work:
    def __init__(self, act: Callable[[], Any]) -> None:
        self.act = act
        self.answer: Future[Any] = Future()
        self.is_wanted = True

    def leave(self, _answer: object) -> None:
        self.is_wanted = False


_current: ContextVar[_Work | None] = ContextVar("work", default=None)


def checkpoint() -> None:
    """Call it between the steps of a long computation; elsewhere it does nothing."""
    work = _current.get()
    if work is not None and not work.is_wanted:
        raise Abandoned


class FairThreads:
    def __init__(self, places: int, name: str) -> None:
        self._turns: Turns[_Work] = Turns(places)
        self._lock = threading.Lock()
        self._pool = threads(self._turns.threads, name)

    @property
    def waiting(self) -> int:
        with self._lock:
            return len(self._turns)

    def begin(self, act: Callable[[], T]) -> "asyncio.Future[T]":
        """The answer of a function, in the turn of this task's sender. Cancel it to leave."""
        work = _Work(act)
        with self._lock:
            self._turns.add(sender.get(), work)
            self._admit()
        answer = asyncio.wrap_future(work.answer)
        answer.add_done_callback(work.leave)
        return answer

    def close(self) -> None:
        self._pool.shutdown()

    def _admit(self) -> None:
        while (found := self._turns.begin()) is not None:
            owner, work = found
            if not work.answer.set_running_or_notify_cancel():
                self._turns.end(owner, 0.0)
                continue
            try:
                self._pool.submit(self._carry_out, owner, work)
            except RuntimeError as error:  # it was closed
                self._turns.end(owner, 0.0)
                work.answer.set_exception(error)

    def _carry_out(self, owner: Owner, work: _Work) -> None:
        begun, before = monotonic(), _current.set(work)
        try:
            work.answer.set_result(work.act())
        except BaseException as error:  # noqa: BLE001 - whoever asked for it gets it
            work.answer.set_exception(error)
        finally:
            _current.reset(before)
            with self._lock:
                self._turns.end(owner, monotonic() - begun)
                self._admit()
