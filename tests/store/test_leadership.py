"""One of the servers on a database leads, and another one soon after it was killed or frozen."""

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from sqlalchemy import Connection

from tapeline.background import Background
from tapeline.leading import LeadsNoMore, as_leader
from tapeline.settings import Settings
from tapeline.store import facts, leadership
from tapeline.store.backends import common_time
from tapeline.store.leadership import Leader
from tapeline.store.store import Store
from tests.waiting import wait_for

SHORT = leadership.MARGIN + 1.0
"""Seconds that a lease lasts here which is to run out."""
LONG = 3600.0


@contextmanager
def server(settings: Settings, name: str) -> Iterator[tuple[Store, Leader]]:
    with closing(Store(settings)) as store:
        yield store, Leader(store, Background(), name, LONG)


def turn(leader: Leader) -> bool:
    asyncio.run(leader.turn())
    return leader.leads


def falls_silent(leader: Leader) -> None:
    """Its lease, renewed for the last time, runs out soon."""
    leader._lasts = SHORT
    turn(leader)


async def write_as_leader(store: Store, fact: str) -> None:
    as_leader.set(True)
    await store.write(facts.put, fact, "written")


def written(store: Store, fact: str) -> bool:
    return store.read_now(facts.get, fact) is not None


@pytest.mark.databases("postgresql")
def test_one_leads_and_another_when_it_falls_silent(store: Store, settings: Settings) -> None:
    with server(settings, "a") as (_, first), server(settings, "b") as (_, second):
        assert (turn(first), turn(second)) == (True, False)
        lease = store.read_now(leadership.holder)
        assert lease is not None
        assert lease.holder == first.holder
        falls_silent(first)
        wait_for(lambda: turn(second))
        assert not first.leads, "it stops believing before another can begin"
        assert not turn(first), "it does not take it back"


@pytest.mark.databases("postgresql")
def test_a_later_leader_has_a_later_term_whatever_the_clock_says(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server(settings, "a") as (_, first), server(settings, "b") as (_, second):
        assert turn(first)
        first.close()
        real = common_time.now
        monkeypatch.setattr(common_time, "now", lambda connection: real(connection) - 3600.0)
        assert turn(second)
        assert second.term > first.term


@pytest.mark.databases("postgresql")
def test_the_term_changes_only_when_another_server_led_in_between(
    settings: Settings, store: Store
) -> None:
    background = Background()
    first = Leader(store, background, "a", LONG)
    with server(settings, "b") as (_, second):
        assert turn(first)
        before = background.term()
        falls_silent(first)
        wait_for(lambda: not background.leads())
        first._lasts = LONG
        assert turn(first)
        assert background.term() == before, "it was away, and nobody else led"
        first.close()
        assert turn(second)
        assert background.term() == before
        second.close()
        assert turn(first)
        assert background.term() > before
        first.close()


@pytest.mark.databases("postgresql")
def test_a_leader_that_ends_hands_over_at_once(settings: Settings, store: Store) -> None:
    with server(settings, "a") as (_, first), server(settings, "b") as (_, second):
        assert (turn(first), turn(second)) == (True, False)
        first.close()
        assert (turn(second), turn(first)) == (True, False)
        first.close()
        assert turn(second), "only the holder gives it up"


@pytest.mark.databases("postgresql")
def test_a_leader_that_wakes_up_in_the_middle_of_its_work_writes_nothing(
    settings: Settings, store: Store
) -> None:
    """However long it was frozen between its last look and its write."""
    with server(settings, "a") as (there, first), server(settings, "b") as (_, second):
        assert turn(first)
        asyncio.run(write_as_leader(there, "before"))
        assert written(store, "before")
        falls_silent(first)
        wait_for(lambda: turn(second))
        with pytest.raises(LeadsNoMore):
            asyncio.run(write_as_leader(there, "after"))
        assert not written(store, "after")


@pytest.mark.databases("postgresql")
def test_servers_that_ask_at_the_same_moment_are_never_both_told_yes(
    settings: Settings, store: Store
) -> None:
    with server(settings, "a") as (one, first), server(settings, "b") as (other, second):

        def both() -> int:
            def ask(connection: Connection) -> str:
                return leadership.take(connection, first.holder, LONG).holder

            def ask_too(connection: Connection) -> str:
                return leadership.take(connection, second.holder, LONG).holder

            here = one.writer.submit(ask)
            there = other.writer.submit(ask_too)
            return len({here.result(), there.result()} - {""})

        for _ in range(20):
            assert both() == 1
            store.write_now(leadership.give_up, first.holder)
            store.write_now(leadership.give_up, second.holder)


@pytest.mark.databases("sqlite")
def test_on_sqlite_the_one_server_leads(store: Store, settings: Settings) -> None:
    background = Background()
    leader = Leader(store, background, "a")
    assert leader.leads
    assert background.leads()
    asyncio.run(write_as_leader(store, "as the only one"))
    assert written(store, "as the only one")
    assert background.states() == [], "nothing to renew"


def test_a_work_that_is_done_once_waits_until_its_server_leads() -> None:
    background, turns, leads = Background(), [0, 0], False
    background.leads = lambda: leads

    async def here() -> None:
        turns[0] += 1

    async def once() -> None:
        turns[1] += 1

    background.loop("each", here, every=0.01, within=60)
    background.loop("one of all", once, every=0.01, within=60, once=True)

    async def run() -> None:
        nonlocal leads
        async with background.running():
            await asyncio.to_thread(wait_for, lambda: turns[0] >= 5)
            assert turns[1] == 0
            leads = True
            await asyncio.to_thread(wait_for, lambda: turns[1] >= 5)

    asyncio.run(run())
