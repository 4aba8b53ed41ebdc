"""What only PostgreSQL can do to us: deadlocks, killed connections, lost commits, restarts."""

import threading
from dataclasses import replace
from functools import partial

import pytest
from sqlalchemy import Connection, func, insert, make_url, select, text, update

from tapeline import compose
from tapeline.errors import StoreUnavailable
from tapeline.ids import new_id
from tapeline.settings import Settings
from tapeline.store.backends import lost_commits, postgres
from tapeline.store.backends.lost_commits import Mark
from tapeline.store.store import Store
from tapeline.store.tables.core import facts
from tests.conftest import run_sql
from tests.store.conftest import Accident, OwnServer, Wire

pytestmark = [pytest.mark.parametrize("settings", ["postgresql"], indirect=True)]


OFF = "options=-c%20synchronous_commit%3Doff"


def put(connection: Connection, name: str) -> str:
    connection.execute(insert(facts).values(name=name, value="0"))
    return name


def count(connection: Connection) -> int:
    ours = select(func.count()).select_from(facts).where(facts.c.name.like("t-%"))
    return connection.scalar(ours) or 0


def add_one(connection: Connection, name: str) -> None:
    row = update(facts).where(facts.c.name == name)
    connection.execute(row.values(value=facts.c.value.concat("+")))


@pytest.mark.heavy
def test_the_victim_of_a_deadlock_is_tried_again_and_both_succeed(settings: Settings) -> None:
    with compose.open_store(settings) as one, compose.open_store(settings) as two:
        one.write_now(put, "t-a")
        one.write_now(put, "t-b")
        both_hold_one = threading.Barrier(2)
        runs: list[str] = []

        def lock_both(connection: Connection, first: str, second: str) -> str:
            add_one(connection, first)
            runs.append(first)
            if runs.count(first) == 1:
                both_hold_one.wait(10)
            add_one(connection, second)
            return first

        answers = [
            one.writer.submit(lambda connection: lock_both(connection, "t-a", "t-b")),
            two.writer.submit(lambda connection: lock_both(connection, "t-b", "t-a")),
        ]
        assert [answer.result(20) for answer in answers] == ["t-a", "t-b"]
        # Under load they may meet again: PostgreSQL lets whoever comes first have a free row.
        assert len(runs) >= 3, "there was a deadlock, and its victim ran again"
        ours = select(facts.c.value).where(facts.c.name.like("t-%"))
        assert one.read_now(lambda c: set(c.scalars(ours))) == {"0++"}
        assert one.writer.counts.failures + two.writer.counts.failures == 0


@pytest.mark.heavy
def test_a_row_that_somebody_else_holds_costs_only_those_that_want_it(settings: Settings) -> None:
    impatient = replace(settings, busy_seconds=1)
    with compose.open_store(settings) as other, compose.open_store(impatient) as store:
        other.write_now(put, "t-held")
        begun, may_end = threading.Event(), threading.Event()

        def hold(connection: Connection) -> None:
            add_one(connection, "t-held")
            begun.set()
            may_end.wait(20)

        held = other.writer.submit(hold)
        assert begun.wait(10)
        block = threading.Event()
        waiting = [store.writer.submit(lambda _: block.wait(10))]
        waiting += [store.writer.submit(partial(put, name=f"t-{number}")) for number in range(5)]
        wants = store.writer.submit(lambda connection: add_one(connection, "t-held"))
        block.set()
        for answer in waiting:
            answer.result(20)
        with pytest.raises(StoreUnavailable):
            wants.result(20)
        may_end.set()
        held.result(20)
        assert store.read_now(count) == 6


def test_connections_killed_while_idle_are_replaced_without_an_error(
    settings: Settings, store: Store
) -> None:
    store.write_now(put, "t-1")
    assert store.read_now(count) == 1
    for _ in range(3):
        _kill_connections(settings)
        store.write_now(lambda connection: add_one(connection, "t-1"))
        _kill_connections(settings)
        assert store.read_now(count) == 1
    assert store.writer.counts.failures == 0


def test_a_connection_killed_in_the_middle_of_a_job_is_replaced(
    settings: Settings, store: Store
) -> None:
    runs: list[int] = []

    def interrupted(connection: Connection) -> str:
        put(connection, "t-1")
        runs.append(1)
        if len(runs) == 1:
            _kill_connections(settings)
        return put(connection, "t-2")

    assert store.write_now(interrupted) == "t-2"
    assert len(runs) == 2
    assert store.read_now(count) == 2


def _kill_connections(settings: Settings) -> None:
    run_sql(
        settings.database,
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where datname = current_database() and application_name = 'tapeline'",
    )


@pytest.mark.parametrize(
    ("accident", "times_run"), [("answer lost", 1), ("never arrives", 2), ("hangs", 2)]
)
def test_a_connection_lost_during_the_commit_stores_once_and_says_so(
    wired: tuple[Settings, Wire], accident: Accident, times_run: int
) -> None:
    through, wire = wired
    with compose.open_store(through) as store:
        store.write_now(put, "t-before")
        runs: list[int] = []

        def job(connection: Connection) -> str:
            runs.append(1)
            return put(connection, "t-1")

        wire.accident = accident
        assert store.write_now(job) == "t-1"
        assert wire.accidents == 1
        assert len(runs) == times_run, "what was committed is not done again"
        assert store.read_now(count) == 2
        assert store.writer.counts.failures == 0


def test_a_commit_that_nobody_can_tell_of_is_not_called_nothing(
    wired: tuple[Settings, Wire],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(lost_commits, "PATIENCE", 0.5)
    through, wire = wired
    with compose.open_store(through) as store:
        store.write_now(put, "t-before")
        wire.accident = "gone for good"
        with pytest.raises(StoreUnavailable, match="may or may not have been stored"):
            store.write_now(put, "t-1")
        (line,) = [one for one in caplog.records if one.message == "store_lost_during_commit"]
        assert line.__dict__["facts"]["committed"] == "unknown"
        with pytest.raises(StoreUnavailable, match="Nothing was stored"):
            store.write_now(put, "t-2")
        wire.restore()
        assert store.write_now(put, "t-3") == "t-3"
        assert store.read_now(count) == 3, "the unknown one was stored"


def test_an_id_that_a_crash_made_the_database_forget_was_not_committed(store: Store) -> None:
    store.write_now(put, "t-1")
    seen = store.database.witness
    assert seen is not None
    assert seen.was_committed(Mark("77", str(2**40), 1)) is False


def test_an_id_given_to_somebody_else_after_a_crash_is_not_taken_for_ours(store: Store) -> None:
    now = text("select pg_current_xact_id()::text")
    theirs = store.write_now(lambda connection: connection.scalar(now))
    seen = store.database.witness
    assert seen is not None
    assert seen.was_committed(Mark("77", str(theirs), 1)) is False


@pytest.mark.heavy
def test_a_server_that_stops_and_starts_again_needs_no_restart_of_ours(
    settings: Settings, own_server: OwnServer, caplog: pytest.LogCaptureFixture
) -> None:
    with compose.open_store(replace(settings, database=own_server.url)) as store:
        store.write_now(put, "t-1")
        assert store.read_now(count) == 1
        own_server.stop()
        for _ in range(5):
            with pytest.raises(StoreUnavailable):
                store.write_now(put, "t-2")
            with pytest.raises(StoreUnavailable):
                store.read_now(count)
        events = [record.message for record in caplog.records if record.levelname == "ERROR"]
        assert sorted(events) == ["store_cannot_read", "store_cannot_write"]
        own_server.start()
        assert store.read_now(count) == 1
        assert store.write_now(put, "t-2") == "t-2"


def test_a_password_is_never_part_of_the_name(settings: Settings) -> None:
    for url in (
        "postgresql://ada:hunter2@db.example/tape",
        "postgres://db.example/tape?user=ada&password=hunter2&sslmode=require",
    ):
        assert "hunter2" not in postgres.name_of(url)
        assert "db.example" in postgres.name_of(url)


def test_what_is_answered_is_durable_whatever_the_role_is_set_to(settings: Settings) -> None:
    role = f"hasty_{new_id()}"
    run_sql(settings.database, f"create role {role} login superuser")
    run_sql(settings.database, f"alter role {role} set synchronous_commit = off")
    hasty = make_url(settings.database).set(username=role).render_as_string(hide_password=False)
    show = text("show synchronous_commit")
    with compose.open_store(replace(settings, database=hasty)) as store:
        assert store.read_now(lambda connection: connection.scalar(show)) == "off"
        assert store.write_now(lambda connection: connection.scalar(show)) == "on"
    with compose.open_store(replace(settings, database=f"{hasty}&{OFF}")) as store:
        assert store.write_now(lambda connection: connection.scalar(show)) == "on"


def test_an_operators_own_connection_options_are_kept(settings: Settings) -> None:
    own = f"{settings.database}&options=-c%20application_name%3Dours%20-c%20work_mem%3D7MB"
    with compose.open_store(replace(settings, database=own)) as store:
        show = text("show work_mem")
        assert store.read_now(lambda connection: connection.scalar(show)) == "7MB"
        assert store.write_now(lambda connection: connection.scalar(show)) == "7MB"
