"""These tests do not disturb each other: the tests of a module share a server."""

import pytest

from tests.conftest import Service


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service
