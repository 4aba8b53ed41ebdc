"""Waiting ends with the first good answer, or with the last one when time is up."""

from collections.abc import Iterator

from tapeline.polling import poll


def answers(*values: int) -> Iterator[int]:
    yield from values


def test_the_first_answer_that_is_done_ends_the_wait() -> None:
    looks = answers(0, 1, 2, 3)
    assert poll(lambda: next(looks), within=60, every=0, done=lambda found: found == 2) == 2
    assert next(looks) == 3


def test_it_looks_once_even_without_time_and_returns_the_last_answer() -> None:
    looks = answers(7, 8)
    assert poll(lambda: next(looks), within=0, every=0, done=lambda found: found == 8) == 7
