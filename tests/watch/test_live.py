"""Open pages hear of rules and incidents, and need not ask."""

from collections.abc import Callable, Iterator

import pytest

from tests.conftest import Person, Service, on_both
from tests.pushing import Model, pushing
from tests.watch.watching import add, state


@pytest.fixture(scope="module")
def service(shared_service: Service) -> Service:
    return shared_service


@pytest.fixture
def model(service: Service, enter: Callable[[str], Person]) -> Iterator[Model]:
    with pushing(service, enter("ada")) as made:
        yield made


@on_both
def test_a_stream_tells_that_a_rule_or_an_incident_changed(model: Model) -> None:
    with model.owner.client.stream("GET", f"/api/projects/{model.project_id}/stream") as stream:
        notices = (line for line in stream.iter_lines() if line == "event: watch")
        rule = add(model, {"condition": "crashed", "within": "1s"})
        assert next(notices)
        for message, running, then in (("Crashed", False, "firing"), ("Running", True, "ok")):
            model.push("/v1/live/lifecycle", {"message": message, "running": running})
            while state(model, rule) != then:
                assert next(notices)  # each state has a notice of its own
