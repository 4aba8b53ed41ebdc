"""A model that pushes events, on each database."""

from collections.abc import Callable, Iterator

import pytest

from tests.conftest import Person, Service
from tests.http.sharing.scene import backtest, trade
from tests.pushing import Model, pushing


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
