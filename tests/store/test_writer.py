"""The writer's promises, held by both databases."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from tapeline import compose
from tapeline.errors import StoreBusy, StoreUnavailable
from tapeline.settings import Settings
from tapeline.store.store import Store
from tapeline.store.tables.core import facts, members
from tapeline.tracing import Trace
from tests.conftest import run


class Refused(Exception):
    """A job's own error."""


def put(connection: Connection, name: str, value: str = "") -> str:
    connection.execute(insert(facts).values(name=name, value=value))
    return name


def put_and_refuse(connection: Connection, name: str) -> None:
    put(connection, name)
    raise Refused(name)


def names(connection: Connection) -> set[str]:
    rows = connection.scalars(select(facts.c.name).where(facts.c.name.like("t-%")))
    return set(rows)


def job(act: Callable[..., object], *args: str) -> Callable[[Connection], object]:
    return lambda connection: act(connection, *args)


@contextmanager
def writer_held(store: Store) -> Iterator[None]:
    """While a transaction is under way, so that what comes now has to gather."""
    begun, may_end = threading.Event(), threading.Event()

    def hold(_connection: Connection) -> None:
        begun.set()
        assert may_end.wait(10)

    held = store.writer.submit(hold)
    assert begun.wait(10)
    try:
        yield
    finally:
        may_end.set()
        held.result(10)


def test_a_lone_job_is_committed_at_once(store: Store) -> None:
    before = store.writer.counts.groups
    assert store.write_now(put, "t-1") == "t-1"
    assert store.writer.counts.groups == before + 1


def test_jobs_that_gather_during_a_commit_share_the_next_one(store: Store) -> None:
    with writer_held(store):
        before = store.writer.counts.groups
        answers = [store.writer.submit(job(put, f"t-{number}")) for number in range(200)]
        assert store.writer.backlog() == 200
    assert [answer.result(10) for answer in answers] == [f"t-{number}" for number in range(200)]
    assert store.writer.counts.groups == before + 2  # the one that was held, and one for all
    assert len(store.read_now(names)) == 200


def test_a_group_is_bounded(store: Store) -> None:
    with writer_held(store):
        before = store.writer.counts.groups
        answers = [store.writer.submit(lambda _: None) for _ in range(2_500)]
    for answer in answers:
        answer.result(20)
    assert store.writer.counts.groups == before + 4


def test_a_job_that_raises_undoes_its_own_changes_and_no_others(store: Store) -> None:
    with writer_held(store):
        first = store.writer.submit(job(put, "t-first"))
        wrong = store.writer.submit(job(put_and_refuse, "t-wrong"))
        last = store.writer.submit(job(put, "t-last"))
    assert first.result(10)
    assert last.result(10)
    with pytest.raises(Refused):
        wrong.result(10)
    assert store.read_now(names) == {"t-first", "t-last"}


def test_a_broken_constraint_is_the_jobs_own_error(store: Store) -> None:
    store.write_now(put, "t-taken")
    with writer_held(store):
        good = store.writer.submit(job(put, "t-good"))
        twice = store.writer.submit(job(put, "t-taken"))
    with pytest.raises(IntegrityError):
        twice.result(10)
    assert good.result(10)
    assert store.read_now(names) == {"t-taken", "t-good"}
    assert store.writer.counts.failures == 0


def test_foreign_keys_are_enforced(store: Store) -> None:
    stray = insert(members).values(project_id="none", user_id="none", role="owner", since=0.0)
    with pytest.raises(IntegrityError):
        store.write_now(lambda connection: connection.execute(stray))


def test_an_error_that_a_job_swallowed_spoils_nobody_elses_work(store: Store) -> None:
    """PostgreSQL refuses everything after an error; the job that hid it must pay alone."""
    store.write_now(put, "t-taken")

    def swallow(connection: Connection) -> str:
        try:
            put(connection, "t-taken")
        except IntegrityError:
            return "hidden"
        return "not reached"

    with writer_held(store):
        good = store.writer.submit(job(put, "t-good"))
        hidden = store.writer.submit(swallow)
        other = store.writer.submit(job(put, "t-other"))
    assert good.result(10)
    assert other.result(10)
    # SQLite undoes the statement alone; on PostgreSQL it is a bug, and must look like one.
    failure = hidden.exception(10)
    assert failure is None or not isinstance(failure, StoreUnavailable)
    assert store.read_now(names) == {"t-taken", "t-good", "t-other"}


def test_a_misspelt_statement_is_a_bug_and_not_an_outage(store: Store) -> None:
    with pytest.raises(Exception, match="no_such_table") as caught:
        store.write_now(lambda connection: connection.exec_driver_sql("delete from no_such_table"))
    assert not isinstance(caught.value, StoreUnavailable)


def test_a_file_that_a_job_does_not_find_is_not_an_outage_of_the_database(store: Store) -> None:
    with pytest.raises(FileNotFoundError):
        store.write_now(lambda _connection: Path("/nonexistent/key").read_bytes())
    with pytest.raises(FileNotFoundError):
        store.read_now(lambda _connection: Path("/nonexistent/key").read_bytes())
    assert store.writer.outage is None


@pytest.mark.parametrize("error", [SystemExit, StopIteration, KeyboardInterrupt])
def test_the_writer_outlives_whatever_a_job_raises(
    store: Store, error: type[BaseException]
) -> None:
    def fall(_connection: Connection) -> None:
        raise error

    answer = store.writer.submit(fall)
    assert answer.exception(10) is not None
    assert not isinstance(answer.exception(), StopIteration)  # asyncio could not carry it
    assert store.write_now(put, "t-after") == "t-after"


@pytest.mark.parametrize("broken", ["waits", "sizes", "trace"])
def test_what_fails_beside_the_writing_leaves_nobody_waiting(
    store: Store, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    trace = Trace(0.0)
    with monkeypatch.context() as patched:
        with writer_held(store):
            if broken == "trace":
                patched.setattr(trace, "spans", None)
            else:
                patched.setattr(store.writer.counts, broken, None)
            some = [store.writer.submit(job(put, f"t-{name}"), trace) for name in range(3)]
        assert [one.result(60) for one in some] == ["t-0", "t-1", "t-2"]
    assert store.write_now(put, "t-later") == "t-later"


def test_a_job_that_was_answered_already_leaves_nobody_waiting(store: Store) -> None:
    with writer_held(store):
        first, second = (store.writer.submit(job(put, name)) for name in ("t-1", "t-2"))
        first.set_result("by somebody else")
    assert second.result(60) == "t-2"
    assert store.write_now(put, "t-later") == "t-later"


def test_an_answer_comes_after_its_change_is_visible(settings: Settings) -> None:
    with compose.open_store(settings) as store, compose.open_store(settings) as other:
        for number in range(50):
            name = store.write_now(put, f"t-{number}")
            assert name in store.read_now(names)
            assert name in other.read_now(names)


def test_nothing_is_visible_before_the_commit(store: Store) -> None:
    put_in, may_end = threading.Event(), threading.Event()

    def slowly(connection: Connection) -> None:
        put(connection, "t-slow")
        put_in.set()
        assert may_end.wait(10)

    answer = store.writer.submit(slowly)
    assert put_in.wait(10)
    assert store.read_now(names) == set()
    may_end.set()
    answer.result(10)
    assert store.read_now(names) == {"t-slow"}


def test_a_job_that_was_cancelled_while_waiting_is_not_run(store: Store) -> None:
    with writer_held(store):
        cancelled = store.writer.submit(job(put, "t-cancelled"))
        kept = store.writer.submit(job(put, "t-kept"))
        assert cancelled.cancel()
    kept.result(10)
    with pytest.raises(CancelledError):
        cancelled.result(10)
    assert store.read_now(names) == {"t-kept"}


def test_a_full_queue_refuses_at_once(settings: Settings) -> None:
    with compose.open_store(replace(settings, write_queue=3)) as store:
        with writer_held(store):
            waiting = [store.writer.submit(job(put, f"t-{number}")) for number in range(3)]
            with pytest.raises(StoreBusy):  # and does not wait: the writer is held
                store.writer.submit(job(put, "t-too-many"))
        for answer in waiting:
            answer.result(10)
        assert store.read_now(names) == {"t-0", "t-1", "t-2"}


def test_closing_finishes_what_was_accepted_and_refuses_the_rest(settings: Settings) -> None:
    store = Store(settings)
    with writer_held(store):
        accepted = [store.writer.submit(job(put, f"t-{number}")) for number in range(20)]
        closing = threading.Thread(target=store.close)
        closing.start()
        _wait_until_refused(store)
    closing.join(10)
    assert not closing.is_alive()
    assert all(answer.result(0) for answer in accepted)
    with compose.open_store(settings) as again:
        assert len(again.read_now(names)) == 20


def _wait_until_refused(store: Store) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            store.writer.submit(lambda _: None)
        except StoreUnavailable:
            return
    raise AssertionError("a closing store still takes jobs")


def test_closing_leaves_no_trace_of_the_writer(settings: Settings) -> None:
    with compose.open_store(settings) as store:
        store.write_now(put, "t-1")
    with compose.open_store(settings) as store:
        left = store.read_now(lambda c: set(c.scalars(select(facts.c.name))))
    assert left == {"t-1"}


async def _many(store: Store) -> list[str]:
    return await asyncio.gather(*(store.write(put, f"t-{number}") for number in range(100)))


def test_requests_of_an_event_loop_share_commits(store: Store) -> None:
    assert len(run(_many(store))) == 100
    assert store.writer.counts.groups < 50
    assert len(store.read_now(names)) == 100


def test_two_stores_write_at_once(settings: Settings) -> None:
    """Two server processes on PostgreSQL; on SQLite the server and the operator's command."""
    with compose.open_store(settings) as one, compose.open_store(settings) as two:
        answers: list[Future[object]] = []
        for number in range(100):
            answers.append(one.writer.submit(job(put, f"t-one-{number}")))
            answers.append(two.writer.submit(job(put, f"t-two-{number}")))
        for answer in answers:
            answer.result(20)
        assert len(one.read_now(names)) == 200
        assert one.read_now(names) == two.read_now(names)
