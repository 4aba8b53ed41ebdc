"""A real server for the client's tests, and a road to it that can be made bad."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tapeline_client import Client, Problem

from tapeline.settings import Settings
from tests.acceptance.conftest import home
from tests.client.road import Road
from tests.conftest import Person, Service
from tests.pushing import Model, pushing
from tests.waiting import SLOW_MACHINE

__all__ = ["home"]


@pytest.fixture
def settings(sqlite_settings: Settings) -> Settings:
    """The client sees no database: one of the two will do."""
    return sqlite_settings


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a model may wait for by default is too short for a slow machine."""
    for one in (Client.flush, Client.aflush, Client.close, Client.aclose):
        monkeypatch.setattr(one, "__defaults__", (float(SLOW_MACHINE),))


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


@pytest.fixture
def road(service: Service) -> Iterator[Road]:
    with Road(service.address) as open_road:
        yield open_road


@pytest.fixture
def problems() -> list[Problem]:
    return []


Make = Callable[..., Client]


@pytest.fixture
def make(model: Model, tmp_path: Path, problems: list[Problem]) -> Iterator[Make]:
    """Clients of the model, closed in the end."""
    made: list[Client] = []

    def one(**options: Any) -> Client:
        defaults: dict[str, Any] = {
            "url": model.service.address,
            **model.headers,
            "folder": str(tmp_path / "spool"),
            "on_problem": problems.append,
            "linger": 0.01,
        }
        made.append(Client(**{**defaults, **options}))
        return made[-1]

    yield one
    for client in made:
        client.close(0.1)
