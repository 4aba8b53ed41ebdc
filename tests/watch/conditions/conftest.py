"""A server that the tests of a module share; each has models of its own."""

import time
from collections.abc import Callable, Iterator

import pytest

from tests.conftest import Person, Service
from tests.pushing import Model, pushing
from tests.watch.conditions.asking import Watcher


@pytest.fixture
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


@pytest.fixture
def now() -> float:
    """When the test begins."""
    return time.time()


@pytest.fixture
def watcher(service: Service) -> Iterator[Watcher]:
    made = Watcher(service)
    yield made
    made.close()
