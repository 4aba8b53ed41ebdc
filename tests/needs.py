"""What some tests need of their machine. In CI they fail without it; elsewhere they are skipped."""

import os
from typing import NoReturn

import pytest

IN_CI = os.environ.get("CI") == "true"


def missing(reason: str) -> NoReturn:
    """Called by a test that cannot run here."""
    if IN_CI:
        pytest.fail(f"In CI nothing is skipped: {reason}.", pytrace=False)
    pytest.skip(reason)


def that(there: bool, reason: str) -> pytest.MarkDecorator:
    """For tests that need this to be true; checked before each of them (tests/conftest.py)."""
    return pytest.mark.needs(there, reason)


def root(reason: str) -> pytest.MarkDecorator:
    return that(os.geteuid() == 0, reason)
