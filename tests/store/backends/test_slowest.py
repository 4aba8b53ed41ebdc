"""The record of slow statements: bounded, of the last hour, measured on every engine."""

import pytest

from tapeline.settings import Settings
from tapeline.store.backends import slowest
from tapeline.store.backends.database import open_database
from tapeline.store.backends.slowest import Slowest


def test_only_the_slowest_are_kept() -> None:
    kept = Slowest()
    for number in range(100):
        kept.note(f"select column_{number}", 1.0 + number)
    found = kept.list()
    assert [one.seconds for one in found] == [100.0 - place for place in range(slowest.KEPT)]


def test_of_each_statement_the_worst_of_the_last_hour_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(slowest, "monotonic", lambda: now)
    kept = Slowest()
    for seconds in (2.0, 9.0, 3.0):
        kept.note("select 1", seconds)
    assert [one.seconds for one in kept.list()] == [9.0]
    now = slowest.HOUR + 1
    assert kept.list() == []
    kept.note("select 1", 3.0)
    assert [one.seconds for one in kept.list()] == [3.0]


def test_statements_of_a_database_are_measured(
    sqlite_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slowest, "SLOW", 0.0)
    database = open_database(sqlite_settings)
    for engine in (database.reading, database.writing):
        with engine.connect() as connection:
            connection.exec_driver_sql("select 'a secret' as word")
    database.dispose()
    assert "select ? as word" in [one.statement for one in database.slowest.list()]
