"""Walks in portions leave nothing out and take nothing twice."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from tapeline.store.portions import batches, each_after, pieces, spans

SIZES = st.integers(1, 7)


@given(st.lists(st.integers(), max_size=30), SIZES)
def test_batches_hold_every_item_in_order(items: list[int], size: int) -> None:
    found = list(batches(items, size))
    assert [item for some in found for item in some] == items
    assert all(0 < len(some) <= size for some in found)


@given(st.integers(0, 30), st.integers(0, 30), SIZES)
def test_spans_hold_every_number(after: int, until: int, size: int) -> None:
    found = [number for start, end in spans(after, until, size) for number in range(start, end)]
    assert found == list(range(after, until))


def test_pieces_end_before_the_first_that_does_not_exist() -> None:
    stored = {0: "a", 1: "b", 3: "d"}

    async def read(number: int) -> str | None:
        return stored.get(number)

    async def walk() -> list[tuple[int, str]]:
        return [one async for one in pieces(read)]

    assert asyncio.run(walk()) == [(0, "a"), (1, "b")]


def test_each_next_thing_is_found_although_things_come_and_go() -> None:
    there = {3, 5, 9}

    async def find_next(after: int) -> int | None:
        return min((one for one in there if one > after), default=None)

    async def walk() -> list[int]:
        found = []
        async for one in each_after(find_next, 0):
            found.append(one)
            there.discard(5)
            there.add(12)
        return found

    assert asyncio.run(walk()) == [3, 9, 12]
