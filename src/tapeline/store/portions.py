"""Walking through what is too much for one read: in batches, spans of numbers, pieces, steps."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
Place = TypeVar("Place", int, str)


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Some items at a time, because databases take a bounded number of parameters."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def spans(after: int, until: int, size: int) -> Iterator[tuple[int, int]]:
    """The numbers after one and up to another, as pairs of such numbers."""
    for start in range(after, until, size):
        yield start, min(start + size, until)


async def pieces(read: Callable[[int], Awaitable[T | None]]) -> AsyncIterator[tuple[int, T]]:
    """The pieces 0, 1, 2 and so on with their numbers, up to the first that does not exist."""
    number = 0
    while (piece := await read(number)) is not None:
        yield number, piece
        number += 1


async def each_after(
    find_next: Callable[[Place], Awaitable[Place | None]], place: Place
) -> AsyncIterator[Place]:
    """Each thing that is found after the one before; things may come and go along the way."""
    while (found := await find_next(place)) is not None:
        place = found
        yield place
