"""Work waits until its share of a budget is free; owners take turns."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from tapeline.errors import Overloaded
from tapeline.fair_line import Owner
from tapeline.tape.fair_budget import FairBudget, patience
from tests.conftest import run


class Play:
    """Pieces of work, named in the order in which they begin."""

    def __init__(self, budget: FairBudget) -> None:
        self.budget = budget
        self.begun: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def begin(self, *names: str, size: int) -> None:
        """The letter of a name is its owner."""
        for name in names:
            self._tasks[name] = asyncio.create_task(self._work(name, size))
            await _settled()

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await self._tasks[name]
        await _settled()

    async def give_up(self, name: str) -> None:
        self._tasks[name].cancel()
        await _settled()

    async def _work(self, name: str, size: int) -> None:
        self._ends[name] = asyncio.Event()
        async with self.budget.reserve(Owner(name[0]), size):
            self.begun.append(name)
            await self._ends[name].wait()


async def _settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def played(act: Coroutine[Any, Any, None]) -> None:
    run(act)


def test_owners_take_turns_and_the_work_of_each_keeps_its_order() -> None:
    async def act() -> None:
        play = Play(FairBudget(10))
        await play.begin("a1", "a2", "a3", "a4", "b1", "c1", "b2", size=10)
        for expected in ("a1", "a2", "b1", "c1", "a3", "b2", "a4"):
            assert play.begun[-1] == expected
            await play.end(expected)
        assert play.budget.free == 10

    played(act())


def test_work_that_fits_goes_together_and_what_exceeds_the_budget_goes_alone() -> None:
    async def act() -> None:
        play = Play(FairBudget(10, small=1))
        await play.begin("a1", "a2", size=5)
        await play.begin("b1", size=99)
        await play.begin("c1", size=2)
        await play.begin("d1", size=1)
        assert play.begun == ["a1", "a2", "d1"], "small work never waits"
        await play.end("a1")
        assert play.begun == ["a1", "a2", "d1"], "nobody overtakes, or large work never begins"
        await play.end("a2")
        assert play.begun[3:] == ["b1"]
        await play.end("b1")
        assert play.begun[4:] == ["c1"]

    played(act())


def test_nobody_who_gave_up_is_waited_for() -> None:
    async def act() -> None:
        play = Play(FairBudget(10))
        await play.begin("a1", size=8)
        await play.begin("b1", size=10)
        await play.begin("c1", size=2)
        await play.give_up("b1")
        assert play.begun == ["a1", "c1"]
        await play.give_up("c1")
        await play.end("a1")
        assert (play.budget.free, play.budget.waiting) == (10, 0)

    played(act())


def test_work_that_waits_too_long_is_refused_and_leaves_nothing_behind() -> None:
    async def act() -> None:
        play = Play(FairBudget(10, patience=0.01))
        await play.begin("a1", size=10)
        with pytest.raises(Overloaded):
            async with play.budget.reserve(Owner("b"), 1):
                raise AssertionError("it began")
        assert play.budget.waiting == 0
        await play.end("a1")
        assert play.budget.free == 10

    played(act())


def test_several_waits_in_a_row_have_one_limit_together() -> None:
    async def act() -> None:
        first, second = FairBudget(1), FairBudget(1)
        async with second.reserve(Owner("a"), 1):
            with pytest.raises(Overloaded):
                async with (
                    patience(0.01),
                    first.reserve(Owner("b"), 1),
                    second.reserve(Owner("b"), 1),
                ):
                    raise AssertionError("it began")
        assert (first.free, second.free, second.waiting) == (1, 1, 0)

    played(act())


def test_work_that_has_begun_has_no_limit_and_its_own_timeouts_stay_what_they_are() -> None:
    async def act() -> None:
        async with patience(0.01) as waits:
            waits.reschedule(None)
            await asyncio.sleep(0.02)
        with pytest.raises(TimeoutError):
            async with patience():
                raise TimeoutError

    played(act())
