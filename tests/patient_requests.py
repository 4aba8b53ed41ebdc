"""Requests of tests wait as long as a slow machine may take.

httpx gives up after five seconds unless told otherwise, and dozens of tests tell it nothing. What
they test is the answer, not its speed; the product does not use httpx.
"""

from httpx._config import DEFAULT_TIMEOUT_CONFIG

from tests.waiting import SLOW_MACHINE


def use() -> None:
    """From now on: the one object is the default of every function and client of httpx."""
    for part in ("connect", "read", "write", "pool"):
        setattr(DEFAULT_TIMEOUT_CONFIG, part, float(SLOW_MACHINE))
