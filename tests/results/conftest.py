"""One store for all tests of the arithmetic: each takes a new model, so none sees another's."""

from collections.abc import Iterator

import pytest

from tapeline import compose
from tapeline.settings import Settings
from tests.results.pnl.bookkeeping import Books, Opened, appender_in


@pytest.fixture(scope="session")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    data = tmp_path_factory.mktemp("books")
    with compose.open_store(Settings(data=data)) as store:
        yield store, appender_in(data / "keys")


@pytest.fixture
def books(opened: Opened) -> Books:
    return Books(*opened)


@pytest.fixture
def long_only(opened: Opened) -> Books:
    """Of a model that existed before positions were signed."""
    return Books(*opened, positions="long_only")
