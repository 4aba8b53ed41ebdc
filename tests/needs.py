"""What some tests need of their machine. Where it is missing they are skipped, but never in CI."""

import os

import pytest


def root(reason: str) -> pytest.MarkDecorator:
    """In CI the test runs in any case, and fails where it cannot do what it needs."""
    may_skip = os.environ.get("CI") != "true"
    return pytest.mark.skipif(os.geteuid() != 0 and may_skip, reason=reason)
