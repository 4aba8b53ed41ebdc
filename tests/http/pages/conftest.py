"""Pages read and write through the same jobs as the API, which is tested on both databases."""

import pytest

from tapeline.settings import Settings


@pytest.fixture
def settings(sqlite_settings: Settings) -> Settings:
    return sqlite_settings
