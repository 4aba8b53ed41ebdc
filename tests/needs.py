"""What some tests need of their machine. Without it they fail, and say so: a check that is skipped
in silence is none. Whoever cannot have it leaves them out by hand: `pytest -m "not needs"`."""

import os
from typing import NoReturn

import pytest


def missing(reason: str) -> NoReturn:
    """Called by a test that cannot run here."""
    pytest.fail(f'{reason}. To leave such tests out: pytest -m "not needs"', pytrace=False)


def that(there: bool, reason: str) -> pytest.MarkDecorator:
    """For tests that need this to be true; checked before each of them (tests/conftest.py)."""
    return pytest.mark.needs(there, reason)


def root(reason: str) -> pytest.MarkDecorator:
    return that(os.geteuid() == 0, reason)
