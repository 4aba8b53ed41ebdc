"""Work beside the requests: it outlives what it raises, and everybody can see how it is doing."""

import asyncio
import logging
import socket
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from tapeline import descriptors
from tapeline.background import LONGEST_PAUSE, Background, State, pause_after
from tapeline.errors import StoreUnavailable
from tests.conftest import run

QUICKLY = 0.01


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tapeline.background.FIRST_PAUSE", QUICKLY)


def state(background: Background, name: str) -> State:
    return next(one for one in background.states() if one.name == name)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - what changes it is what is tested
            await asyncio.sleep(0.005)


def kept(
    turn: Callable[[], Awaitable[None]],
    condition: Callable[[Background], object],
    *,
    within: float = 60.0,
) -> Background:
    """Take turns in a background until the condition holds."""
    background = Background()
    background.loop("work", turn, every=QUICKLY, within=within, essential=True)

    async def live() -> None:
        async with background.running():
            await until(lambda: condition(background))

    run(live())
    return background


@pytest.mark.parametrize(
    "error", [OSError(24, "Too many open files"), KeyError("run"), ValueError()]
)
def test_a_loop_outlives_what_its_turn_raises(error: Exception) -> None:
    raised = [error, error]

    async def turn() -> None:
        if raised:
            raise raised.pop()

    found = state(kept(turn, lambda one: state(one, "work").turns >= 3), "work")
    assert (found.failures, found.in_a_row, found.overdue) == (2, 0, False)


def test_work_that_is_added_while_the_service_runs_runs_and_ends_with_it() -> None:
    background = Background()

    async def main() -> None:
        taken = asyncio.Event()

        async def turn() -> None:
            taken.set()

        async with background.running():
            background.loop("late", turn, every=QUICKLY, within=60.0)
            async with asyncio.timeout(60):
                await taken.wait()
        assert [one.get_name() for one in asyncio.all_tasks() if one.get_name() == "late"] == []

    run(main())


def test_a_cancelled_thing_that_a_turn_waits_for_does_not_end_the_loop() -> None:
    async def turn() -> None:
        waiting = asyncio.get_running_loop().create_future()
        waiting.cancel()
        await waiting

    assert state(kept(turn, lambda one: state(one, "work").failures >= 2), "work").turns == 0


def test_each_failure_is_logged_with_its_traceback_and_the_same_one_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    messages = ["first", "second", "second"]

    async def turn() -> None:
        if messages:
            raise RuntimeError(messages.pop(0))

    with caplog.at_level(logging.ERROR, "tapeline.background"):
        kept(turn, lambda one: state(one, "work").turns)
    told = [str(one.exc_info[1]) for one in caplog.records if one.exc_info]
    assert told == ["first", "second"]


def test_pauses_grow_with_every_failure_in_a_row_up_to_a_limit() -> None:
    assert pause_after(0, 2.0) == 2.0
    pauses = [pause_after(times, 3600.0) for times in range(1, 2000)]
    assert pauses == sorted(pauses)
    assert pauses[0] < 1.0
    assert pauses[-1] == LONGEST_PAUSE
    assert max(pause_after(times, 2.0) for times in range(1, 100)) <= 5.0


def test_a_turn_that_hangs_is_noticed_and_named(caplog: pytest.LogCaptureFixture) -> None:
    async def turn() -> None:
        await asyncio.Event().wait()

    with caplog.at_level(logging.ERROR, "tapeline.background"):
        background = kept(
            turn,
            lambda _: any(one.message == "work_overdue" for one in caplog.records),
            within=QUICKLY,
        )
    trouble = background.trouble()
    assert trouble is not None
    assert trouble.startswith("the work has not finished a turn for")


def test_a_long_turn_that_says_so_is_not_overdue() -> None:
    background = Background()

    async def turn() -> None:
        while True:
            work.beat()
            await asyncio.sleep(0.001)

    work = background.loop("work", turn, every=0.0, within=30.0, essential=True)

    async def live() -> None:
        async with background.running():
            await asyncio.sleep(0.05)
            assert background.trouble() is None

    run(live())


def test_only_essential_work_makes_the_service_unready() -> None:
    background = Background()

    async def turn() -> None:
        raise OSError("no")

    background.loop("luxury", turn, every=0.0, within=-1.0)

    async def live() -> None:
        async with background.running():
            await until(lambda: state(background, "luxury").failures)
            assert background.trouble() is None
            assert "(OSError)" in (background.trouble("luxury") or "")

    run(live())


def test_a_ring_starts_a_turn_at_once() -> None:
    background, turns = Background(), list[int]()

    async def turn() -> None:
        turns.append(1)

    loop = background.loop("work", turn, every=3600.0, within=60.0)

    async def live() -> None:
        async with background.running():
            await until(lambda: turns)
            loop.wake()
            await until(lambda: len(turns) == 2)

    run(live())


def test_an_errand_that_fails_is_counted_and_its_error_kept() -> None:
    background = Background()

    async def fail() -> None:
        raise KeyError("journal")

    async def live() -> None:
        async with background.running():
            task = background.begin("run", fail(), "r1")
            with suppress(KeyError):
                await task
            await until(lambda: state(background, "run").failures)

    run(live())
    assert state(background, "run").last_error == "KeyError"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(20, "Not a directory", "/srv/tapeline/runs"), "Not a directory"),
        (KeyError("a name of a row"), "KeyError"),
        (StoreUnavailable("The store is away."), "The store is away."),
    ],
)
def test_what_everybody_may_see_names_no_file_and_no_row(error: Exception, told: str) -> None:
    background = Background()
    background.kind("run").note(error, "r1")
    assert state(background, "run").last_error == told


def test_errands_that_are_under_way_end_with_the_service() -> None:
    background, ended = Background(), list[str]()

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("errand")

    async def live() -> None:
        async with background.running():
            background.begin("run", wait(), "r1")
            await asyncio.sleep(0)

    run(live())
    assert ended == ["errand"]


def test_an_errand_in_a_thread_is_counted_too() -> None:
    background = Background()

    def fail() -> None:
        raise OSError("no space")

    background.begin_in_thread("bytecode", fail, "e1")
    run(until(lambda: state(background, "bytecode").failures == 1))


def test_a_machine_without_room_for_a_thread_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also to whoever began it, and has noted that it is under way."""
    background = Background()

    def no_room(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as short:
        short.setattr(threading.Thread, "start", no_room)
        assert not background.begin_in_thread("news", lambda: None, "n1")
    assert state(background, "news").failures == 1
    assert background.begin_in_thread("news", lambda: None, "n1")
    run(until(lambda: state(background, "news").turns == 1))


def test_a_thread_outlives_what_its_turn_raises_and_ends_with_the_service() -> None:
    background, raised = Background(), [OSError("gone"), ValueError("nonsense")]
    here, there = socket.socketpair()

    def turn() -> None:
        if raised:
            raise raised.pop()
        here.recv(1)

    background.thread(
        "listener", turn, every=QUICKLY, within=60.0, interrupt=lambda: there.sendall(b".")
    )

    async def live() -> None:
        async with background.running():
            await until(lambda: state(background, "listener").failures == 2)

    with here, there:
        run(live())
    assert not any(one.name == "listener" for one in threading.enumerate())


def test_some_descriptors_are_kept_from_connections() -> None:
    most = descriptors.raise_limit()
    assert 0 < descriptors.for_connections() <= most - min(descriptors.RESERVE, most // 2)


def test_the_refusal_of_somebody_else_is_one_line_with_its_reason(
    caplog: pytest.LogCaptureFixture,
) -> None:
    work = Background().kind("work")
    for _ in range(2):
        work.note(StoreUnavailable("They are away."), "https://there.example", is_ours=False)
    (line,) = caplog.records
    assert (line.getMessage(), line.exc_info) == ("work_failed", None)
    assert line.__dict__["facts"]["why"] == "They are away."
    assert (work.state().failures, work.state().last_error) == (2, "They are away.")
