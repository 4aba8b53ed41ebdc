"""SQLite, unless a test is marked."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tapeline.settings import Settings


@pytest.fixture
def settings(
    request: pytest.FixtureRequest, tmp_path: Path, empty: Callable[[str, Path], Settings]
) -> Settings:
    return empty(getattr(request, "param", "sqlite"), tmp_path / "data")
