"""Threads in turns: work that nobody waits for is not done."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from tapeline import turns
from tapeline.fair_line import Owner
from tapeline.fair_threads import Abandoned, FairThreads, checkpoint
from tests.conftest import run


@pytest.fixture
def two() -> Iterator[FairThreads]:
    made = FairThreads(2, "test")
    yield made
    made.close()


def asked(
    threads: FairThreads, name: str, act: "threading.Event | str"
) -> "asyncio.Future[object]":
    turns.sender.set(Owner(name))
    return threads.begin(act.wait if isinstance(act, threading.Event) else lambda: act)


def test_another_tenant_is_served_while_one_has_all_that_it_can_have(two: FairThreads) -> None:
    async def act() -> None:
        hold = threading.Event()
        flood = [asked(two, "ada", hold) for _ in range(9)]
        assert two.waiting == 8
        assert await asked(two, "ben", "served") == "served"
        assert not any(one.done() for one in flood)
        hold.set()
        assert await asyncio.gather(*flood) == [True] * 9

    run(act())


def test_work_whose_client_left_never_begins(two: FairThreads) -> None:
    async def act() -> None:
        hold, begun = threading.Event(), threading.Event()
        first = asked(two, "ada", hold)
        second = two.begin(begun.set)
        assert two.waiting == 1
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        hold.set()
        await first
        assert await asked(two, "ada", "next") == "next"
        assert not begun.is_set()
        assert two.waiting == 0

    run(act())


def test_long_work_whose_client_left_ends_at_its_next_checkpoint(two: FairThreads) -> None:
    ended: list[type[BaseException]] = []
    begun, go_on = threading.Event(), threading.Event()

    def long() -> None:
        checkpoint()
        begun.set()
        go_on.wait()
        try:
            checkpoint()
        except Abandoned as error:
            ended.append(type(error))
            raise

    async def act() -> None:
        turns.sender.set(Owner("ada"))
        work = two.begin(long)
        await asyncio.to_thread(begun.wait)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        go_on.set()
        assert await asked(two, "ada", "next") == "next"

    run(act())
    assert ended == [Abandoned]


def test_errors_reach_the_one_who_asked_and_closed_threads_refuse(two: FairThreads) -> None:
    def fails() -> None:
        raise ValueError("no")

    async def act() -> None:
        with pytest.raises(ValueError, match="no"):
            await two.begin(fails)
        two.close()
        with pytest.raises(RuntimeError):
            await two.begin(fails)

    run(act())


def test_a_checkpoint_elsewhere_does_nothing() -> None:
    checkpoint()
