"""Whoever hands events to the inbox is answered once, whatever fails on their way to the disk."""

import asyncio
import shutil
import sqlite3
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import OperationalError

from tapeline.errors import Problem, StoreBusy, StoreUnavailable
from tapeline.settings import Settings
from tapeline.store import writer as writers
from tapeline.store.store import Store
from tapeline.tape.append import inbox as inboxes
from tapeline.tape.append.appending import Appended, Appender
from tapeline.tape.append.inbox import Inbox
from tapeline.tape.append.watchers import Watchers
from tapeline.tape.events import kinds
from tapeline.tape.events.event import Event, Submission
from tapeline.tape.proof.signer import Signer
from tapeline.tape.reading import whole_tape
from tests.examples import some
from tests.tape.append.test_appending import new_tape

PATIENCE = 60  # seconds: far longer than anything here takes, on any machine
CAPACITY = 12
POINTS = ("connect", "begin", "savepoint", "append", "commit", "dispose", "watch", "answer")


def outage() -> BaseException:
    cause = sqlite3.OperationalError("database is locked")
    cause.sqlite_errorcode = sqlite3.SQLITE_BUSY
    return OperationalError("", {}, cause)


def lost() -> BaseException:
    error = OperationalError("", {}, sqlite3.OperationalError("gone"))
    error.connection_invalidated = True
    return error


ERRORS: dict[str, Callable[[], BaseException]] = {
    "outage": outage,
    "lost connection": lost,
    "no more files": lambda: OSError(24, "Too many open files"),
    "no more memory": MemoryError,
    "bug": lambda: RuntimeError("a bug"),
    "end of a generator": StopIteration,
    "end of the program": SystemExit,
}


class Faults:
    """What goes wrong next, and where: each once."""

    def __init__(self) -> None:
        self.due: dict[str, list[str]] = {point: [] for point in POINTS}

    def strike(self, point: str) -> None:
        if self.due[point]:
            raise ERRORS[self.due[point].pop(0)]()

    def clear(self) -> None:
        for waiting in self.due.values():
            waiting.clear()

    def lie_in_wait(self, engine: Engine) -> None:
        for point, name in (
            ("connect", "checkout"),
            ("begin", "begin"),
            ("savepoint", "savepoint"),
            ("commit", "commit"),
            ("dispose", "engine_disposed"),
        ):
            event.listen(engine, name, partial(self._at, point))

    def _at(self, point: str, *_: object) -> None:
        self.strike(point)


class FaultyAppender(Appender):
    def __init__(self, signer: Signer, faults: Faults) -> None:
        super().__init__(signer)
        self._faults = faults

    def append(
        self, connection: Connection, submissions: Any
    ) -> tuple[list[Problem | None], list[Appended]]:
        self._faults.strike("append")
        return super().append(connection, submissions)


class FaultyWatchers(Watchers):
    def __init__(self, faults: Faults) -> None:
        super().__init__()
        self._faults = faults

    def has_any(self, model_id: str) -> bool:
        self._faults.strike("watch")
        return super().has_any(model_id)


class Loop:
    """An event loop in a thread of its own, as the server has one."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()

    def do(self, act: Callable[[], object]) -> None:
        """Carry it out there, and wait until it has been."""
        done: Future[object] = Future()

        def carry_out() -> None:
            try:
                done.set_result(act())
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                done.set_exception(error)

        self.loop.call_soon_threadsafe(carry_out)
        done.result(PATIENCE)

    def end(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(PATIENCE)
        self.loop.close()


class Sent:
    """One submission, and what became of it."""

    def __init__(self, lines: list[str], faults: Faults) -> None:
        self.lines = lines
        self.answers: list[BaseException | None] = []
        self.answered = threading.Event()
        self._faults = faults

    def settle(self, failure: BaseException | None) -> None:
        self.answers.append(failure)
        self.answered.set()
        self._faults.strike("answer")


class Line:
    """A store, an inbox before it, and one tape."""

    def __init__(self, folder: Path) -> None:
        self.faults = Faults()
        self.settings = Settings(data=folder, busy_seconds=1)
        self._numbers = 0
        (folder / "keys").mkdir(exist_ok=True)
        self.open()
        self.tape = self.store.write_now(new_tape)

    def open(self) -> None:
        self.store = Store(self.settings)
        self.faults.lie_in_wait(self.store.database.writing)
        appender = FaultyAppender(Signer(self.settings.data / "keys"), self.faults)
        self.inbox = Inbox(self.store.writer, appender, FaultyWatchers(self.faults), CAPACITY)

    def send(
        self,
        loop: Loop,
        count: int,
        key: str | None = None,
        *,
        is_large: bool = False,
        tenant: str | None = None,
    ) -> Sent:
        sent = Sent([f"line {self._numbers + number}" for number in range(count)], self.faults)
        self._numbers += count
        events = [_line(self.tape, line) for line in sent.lines]

        def put() -> None:
            try:
                self.inbox.put(Submission(events, key, is_large, tenant=tenant), sent.settle)
            except StoreBusy as busy:
                sent.answers.append(busy)
                sent.answered.set()

        loop.do(put)
        return sent

    def stored(self) -> Counter[str]:
        def lines(connection: Connection) -> Counter[str]:
            found = whole_tape.records(connection, self.tape)
            return Counter(msgspec.json.decode(one.body)["line"] for one in found)

        return self.store.read_now(lines)


def _line(tape: int, line: str) -> Event:
    body = msgspec.json.encode({"line": line, "type": "stdout"})
    return Event(tape=tape, kind=kinds.LOG, fields={}, body=body, time=1.0, received_at=1.0)


class Handing(RuleBasedStateMachine):
    """Submissions, faults, loops that end and stores that close, in any order."""

    template: ClassVar[Path]

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        shutil.copy(self.template, Path(self._folder.name) / "tapeline.db")
        self.line = Line(Path(self._folder.name))
        self.loop = Loop()
        self.sent: list[Sent] = []
        self.forgotten: list[Sent] = []
        self.jobs: list[Future[Any]] = []
        self.closed = False
        self.held: threading.Event | None = None

    @rule(count=st.integers(0, 5))
    def send(self, count: int) -> None:
        self.sent.append(self.line.send(self.loop, count))

    @rule(point=st.sampled_from(POINTS), error=st.sampled_from(sorted(ERRORS)))
    def something_will_fail(self, point: str, error: str) -> None:
        if point == "answer" and error == "end of the program":
            return  # on an event loop that is the end of it, by the will of whoever raises it
        self.line.faults.due[point].append(error)

    @precondition(lambda self: not self.closed)
    @rule(error=st.none() | st.sampled_from(sorted(ERRORS)))
    def write_something_else(self, error: str | None) -> None:
        def job(_connection: Connection) -> None:
            if error is not None:
                raise ERRORS[error]()

        self.jobs.append(self.line.store.writer.submit(job))

    @precondition(lambda self: not self.closed and self.held is None)
    @rule()
    def hold_the_writer(self) -> None:
        """So that what comes now gathers."""
        self.held = may_end = threading.Event()
        self.jobs.append(self.line.store.writer.submit(lambda _: may_end.wait(PATIENCE)))

    @precondition(lambda self: self.held is not None)
    @rule()
    def let_the_writer_go(self) -> None:
        assert self.held is not None
        self.held.set()
        self.held = None

    @rule()
    def the_loop_ends(self) -> None:
        """Nobody can be told there any more; those of the next loop must be."""
        self.loop.end()
        self.forgotten += [one for one in self.sent if not one.answered.is_set()]
        self.sent = [one for one in self.sent if one.answered.is_set()]
        self.loop = Loop()

    @precondition(lambda self: not self.closed)
    @rule()
    def the_store_closes(self) -> None:
        if self.held is not None:
            self.let_the_writer_go()
        self.line.faults.due["dispose"].clear()  # of the whole store, not of the writer's turn
        self.line.store.close()
        self.closed = True

    @precondition(lambda self: self.closed)
    @rule()
    def it_opens_again(self) -> None:
        self.everybody_was_answered()
        self.line.faults.clear()
        self.line.open()
        self.closed = False

    @rule()
    def everybody_was_answered(self) -> None:
        if self.held is not None:
            self.let_the_writer_go()
        for one in self.sent:
            assert one.answered.wait(PATIENCE), "nobody was told"
        for job in self.jobs:
            job.exception(PATIENCE)
        self.jobs.clear()

    @invariant()
    def nobody_is_told_twice(self) -> None:
        assert all(len(one.answers) <= 1 for one in (*self.sent, *self.forgotten))

    def teardown(self) -> None:
        self.everybody_was_answered()
        self.line.faults.clear()
        if self.closed:
            self.line.open()
        last = self._next()
        # Those that were forgotten may still take room, or share a fault that struck before.
        until = time.monotonic() + (PATIENCE if self.forgotten else 0)
        while last.answers != [None] and time.monotonic() < until:
            time.sleep(0.01)
            last = self._next()
        assert last.answers == [None], "what comes later is stored"
        self._stored_is_what_was_said()
        self.line.store.close()
        self.loop.end()
        self._folder.cleanup()

    def _next(self) -> Sent:
        self.sent.append(self.line.send(self.loop, 1))
        assert self.sent[-1].answered.wait(PATIENCE), "nobody was told"
        return self.sent[-1]

    def _stored_is_what_was_said(self) -> None:
        stored = self.line.stored()
        for one in (*self.sent, *self.forgotten):
            for line in one.lines:
                if one.answers:
                    assert stored[line] == (one.answers == [None]), one.answers
                assert stored[line] <= 1


def test_whatever_fails_everybody_is_answered_once_and_the_next_are_stored(
    sqlite_template: Path,
) -> None:
    Handing.template = sqlite_template
    run_machine(
        Handing,
        settings=settings(
            max_examples=some(30),
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.fixture
def line(sqlite_settings: Settings) -> Iterator[Line]:
    made = Line(sqlite_settings.data)
    yield made
    made.store.close()


@pytest.fixture
def loop() -> Iterator[Loop]:
    made = Loop()
    yield made
    made.end()


@contextmanager
def hanging(line: Line, point: str) -> Iterator[threading.Event]:
    """The database hangs where the next transaction comes to this point."""
    reached, may_go_on = threading.Event(), threading.Event()

    def hang(*_: object) -> None:
        reached.set()  # the first only: then it is over
        may_go_on.wait(PATIENCE)

    event.listen(line.store.database.writing, point, hang)
    try:
        yield reached
    finally:
        may_go_on.set()


@pytest.mark.parametrize(
    ("point", "said"),
    [("begin", "Nothing was stored"), ("commit", "may or may not have been stored")],
)
def test_a_store_that_hangs_is_not_waited_for(
    line: Line, loop: Loop, monkeypatch: pytest.MonkeyPatch, point: str, said: str
) -> None:
    monkeypatch.setattr(inboxes, "ANSWERED_WITHIN", 3.0)
    monkeypatch.setattr(writers, "STUCK", 0.1)
    with hanging(line, point) as reached:
        first = line.send(loop, 1)
        assert reached.wait(PATIENCE)
        behind = line.send(loop, 1)
        assert first.answered.wait(PATIENCE)
        assert behind.answered.wait(PATIENCE)
        assert isinstance(first.answers[0], StoreUnavailable)
        assert said in first.answers[0].message
        assert isinstance(behind.answers[0], StoreUnavailable)
        assert "Nothing was stored" in behind.answers[0].message
        # By now it is known to hang, so that those who come need not find out by waiting.
        with pytest.raises(StoreUnavailable):
            line.store.writer.submit(lambda _: None)
        monkeypatch.undo()
    line.store.write_now(lambda _: None)  # its turn comes after the one that hung
    last = line.send(loop, 1)
    assert last.answered.wait(PATIENCE)
    assert last.answers == [None]
    stored = line.stored()
    assert stored[behind.lines[0]] == 0
    assert stored[first.lines[0]] == (point == "commit"), "what was refused stays away"
    assert len(first.answers) == len(behind.answers) == 1


def test_a_full_queue_refuses_those_who_fill_it_and_has_room_for_others(
    line: Line, loop: Loop
) -> None:
    with holding(line):
        flood = [line.send(loop, 4, "flood") for _ in range(3)]
        assert [one.answers for one in flood] == [[], [], []], "it is alone: the queue is its own"
        over = line.send(loop, 1, "flood")
        assert isinstance(over.answers[0], StoreBusy)
        others = [line.send(loop, 1, f"key {number}") for number in range(5)]
        assert [one.answers for one in others] == [[]] * 5
        assert line.send(loop, CAPACITY, "key 0").answered.is_set(), "more than its share"
        large = line.send(loop, 2 * CAPACITY, "large", is_large=True)
        assert large.answers == [], "it waited its turn before: it needs no place"
        assert line.send(loop, 0).answers == [], "asking whether events are taken is never refused"
    for one in (*flood, *others, large):
        assert one.answered.wait(PATIENCE)
    again = [line.send(loop, CAPACITY // 2, "flood") for _ in range(2)]
    for one in again:
        assert one.answered.wait(PATIENCE)
        assert not isinstance(one.answers[0], StoreBusy), "its places are free again"


def test_a_tenant_with_many_keys_leaves_room_in_the_queue_for_another(
    line: Line, loop: Loop
) -> None:
    with holding(line):
        crowd = [line.send(loop, 1, f"key {key}", tenant="ada") for key in range(3 * CAPACITY)]
        busy = sum(bool(one.answers) for one in crowd)
        assert busy >= CAPACITY, "it has at most twice what there is"
        other = line.send(loop, CAPACITY // 2, "his", tenant="ben")
        assert other.answers == []
        last = line.send(loop, 1, "one more", tenant="ada")
        assert isinstance(last.answers[0], StoreBusy)
    assert other.answered.wait(PATIENCE)
    assert not isinstance(other.answers[0], StoreBusy)


@contextmanager
def holding(line: Line) -> Iterator[None]:
    """The writer is busy until the end."""
    may_end = threading.Event()
    line.store.writer.submit(lambda _: may_end.wait(PATIENCE))
    try:
        yield
    finally:
        may_end.set()
