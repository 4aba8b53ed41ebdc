"""SQLite, unless a test is marked."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tapeline.settings import Settings
from tests.conftest import Service, running


@pytest.fixture
def settings(
    request: pytest.FixtureRequest, tmp_path: Path, empty: Callable[[str, Path], Settings]
) -> Settings:
    return empty(getattr(request, "param", "sqlite"), tmp_path / "data")


@pytest.fixture
def own_service(settings: Settings) -> Iterator[Service]:
    """For a test that changes what the checks look at."""
    with running(settings) as started:
        yield started
