"""A model that pushes events. Here a test runs on SQLite; it runs `on_both` databases where it
depends on transactions, locks, several servers or how values are stored, and where it is the one
that covers a statement."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tapeline.settings import Settings
from tests.conftest import Person, Service, let_in
from tests.http.sharing.scene import backtest, trade
from tests.pushing import Model, pushing


@pytest.fixture
def settings(
    request: pytest.FixtureRequest, tmp_path: Path, empty: Callable[[str, Path], Settings]
) -> Settings:
    """SQLite, unless the test is marked."""
    return empty(getattr(request, "param", "sqlite"), tmp_path / "data")


@pytest.fixture
def own_model(own_service: Service, password_hash: str) -> Iterator[Model]:
    owner = let_in(own_service, "ada@example.com", password_hash)
    with owner.client, pushing(own_service, owner) as made:
        yield made


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


@pytest.fixture
def busy(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as model:
        trade(model)
        backtest(model)
        yield model
