"""Journals as a shim writes them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tapeline.runs.shim.spool import Spool

Make = Callable[..., Spool]


@pytest.fixture
def spool() -> Iterator[Make]:
    made: list[Spool] = []

    def make(folder: Path, limit: int = 1_000_000) -> Spool:
        made.append(Spool(str(folder), limit, str(folder), "name", 10**9))
        return made[-1]

    yield make
    for one in made:
        one.close(0.0)
