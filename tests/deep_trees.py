"""Folders as a hostile model makes them: deeper than recursion goes, longer than a path may be."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OPERATOR = 65534

MANY, LONG = ("d", 1_100), ("n" * 250, 20)
KINDS = {"many levels": MANY, "long names": LONG}


def nest(folder: Path, name: str, levels: int) -> None:
    """With a file at every hundredth level, and one at the bottom."""
    folder.mkdir(parents=True, exist_ok=True)
    here = os.open(folder, os.O_RDONLY)
    for level in range(levels):
        if level % 100 == 0:
            _put(here, "file")
        os.mkdir(name, 0o755, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    _put(here, "bottom")
    os.close(here)


def _put(folder: int, name: str) -> None:
    with os.fdopen(os.open(name, os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=folder), "wb") as file:
        file.write(b"x")


@contextmanager
def as_operator() -> Iterator[None]:
    """Without root, as a server of an ordinary user: models run as the same user there."""
    os.setegid(OPERATOR)
    os.seteuid(OPERATOR)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
