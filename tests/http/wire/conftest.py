"""Bytes and limits: no statement here depends on the database."""

import pytest

from tapeline.settings import Settings


@pytest.fixture
def settings(sqlite_settings: Settings) -> Settings:
    return sqlite_settings
