"""Nobody waits long for a database that does not answer, and it is noticed when it does again."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, text

from tapeline.errors import StoreUnavailable
from tapeline.settings import Settings
from tapeline.store import facts, pulse
from tapeline.store.pulse import Pulse
from tapeline.store.store import Store
from tests.waiting import wait_for

FIRST = text("select 1")
FREEZES = """
import os, signal, sys
from pathlib import Path
from tapeline.settings import Settings
from tapeline.store import facts
from tapeline.store.backends import postgres
from tapeline.store.store import Store

def write(connection):
    facts.put(connection, "wanted", "by the frozen")
    print("holds the row", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)

postgres.FROZEN_AFTER = 500
Store(Settings(data=Path(sys.argv[1]), database=sys.argv[2])).write_now(write)
"""


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "SILENT_AFTER", 0.3)


@contextmanager
def hanging(store: Store) -> Iterator[None]:
    """Every reader of a store asks something that is not answered."""
    release = threading.Event()
    asked = [
        threading.Thread(target=store.read_now, args=(lambda _connection: release.wait(60),))
        for _ in range(2)
    ]
    for one in asked:
        one.start()
    try:
        yield
    finally:
        release.set()
        for one in asked:
            one.join()


@pytest.mark.databases("postgresql")
def test_reads_and_writes_are_refused_at_once_while_nothing_is_answered(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(connection: Connection) -> int:
        return int(connection.execute(FIRST).scalar_one())

    with hanging(store):
        wait_for(store.pulse.is_lost)
        assert store.pulse.may_ask(), "somebody has to find out that it answers again"
        monkeypatch.setattr(pulse, "TRIED_EVERY", 3600.0)  # that was the last one here
        with pytest.raises(StoreUnavailable, match="does not answer"):
            asyncio.run(store.read(ask))
        with pytest.raises(StoreUnavailable, match="does not answer"):
            asyncio.run(store.write(facts.put, "a", "b"))
    monkeypatch.setattr(pulse, "SILENT_AFTER", 60.0)
    assert asyncio.run(store.read(ask)) == 1


@pytest.mark.databases("postgresql")
def test_a_read_that_has_begun_ends_when_the_database_falls_silent(store: Store) -> None:
    over = threading.Event()

    async def read() -> None:
        with pytest.raises(StoreUnavailable, match="does not answer"):
            await store.read(lambda _connection: over.wait(60))

    try:
        asyncio.run(read())
    finally:
        over.set()


@pytest.mark.databases("sqlite")
def test_on_sqlite_a_slow_read_refuses_nobody(store: Store) -> None:
    with hanging(store):
        wait_for(store.pulse.is_lost)
        assert asyncio.run(store.read(lambda connection: connection.scalar(FIRST))) == 1


def test_a_slow_answer_is_not_silence_while_others_come(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(pulse, "monotonic", lambda: now)
    one = Pulse()
    with one.asking():
        for _ in range(5):
            now += pulse.SILENT_AFTER * 0.9
            with one.asking():
                pass
            assert not one.is_lost()
        now += pulse.SILENT_AFTER * 1.1
        assert one.is_lost()
    assert not one.is_lost()


@pytest.mark.heavy
@pytest.mark.databases("postgresql")
def test_a_server_that_freezes_inside_of_a_write_holds_up_nobody(
    store: Store, settings: Settings
) -> None:
    """It holds the row that the other one wants to write, and has not committed."""
    store.write_now(facts.put, "wanted", "by both")
    frozen = subprocess.Popen(
        [sys.executable, "-c", FREEZES, str(settings.data), settings.database],
        stdout=subprocess.PIPE,
        text=True,
    )
    with frozen:
        assert frozen.stdout
        assert frozen.stdout.readline() == "holds the row\n"
        try:
            wait_for(lambda: _is_written(store))
        finally:
            frozen.kill()
    assert store.read_now(facts.get, "wanted") == "by the other"


def _is_written(store: Store) -> bool:
    try:
        store.write_now(facts.put, "wanted", "by the other")
    except Exception:  # noqa: BLE001 - it waited for the lock for too long
        return False
    return True
