"""Waiting for something that gives no signal: look, pause and look again until time is up."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def poll(
    look: Callable[[], T], *, within: float, every: float, done: Callable[[T], bool] = bool
) -> T:
    """The first answer that is `done`, or the last answer within so many seconds."""
    deadline = time.monotonic() + within
    while not done(found := look()) and time.monotonic() < deadline:
        time.sleep(every)
    return found
