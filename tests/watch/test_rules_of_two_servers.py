"""Rules with two servers on one PostgreSQL: one of them evaluates, and each rule fires once."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tapeline.settings import Settings
from tapeline.store import leadership
from tests.conftest import Person, Service, running
from tests.pushing import pushing
from tests.waiting import wait_for
from tests.watch.watching import add, crash, fires, incidents, resolves

pytestmark = pytest.mark.databases("postgresql")

CRASHED = {"condition": "crashed", "within": "1s"}


@pytest.fixture
def leading(settings: Settings) -> Iterator[ExitStack]:
    """The first server, which leads until it is closed."""
    with ExitStack() as stack:
        first = stack.enter_context(running(settings))
        wait_for(first.services.background.leads)
        yield stack


@pytest.fixture
def service(settings: Settings, leading: ExitStack) -> Iterator[Service]:
    """The second one, which is asked everything."""
    assert leading
    with running(settings) as second:
        yield second


def test_each_rule_fires_once_and_the_next_leader_goes_on(
    service: Service, leading: ExitStack, enter: Callable[[str], Person]
) -> None:
    with pushing(service, enter("ada")) as model:
        rules = [add(model, CRASHED, name=f"rule {number}") for number in range(5)]
        crash(model)
        opened = [fires(model, rule)["incident_id"] for rule in rules]
        assert not service.services.background.leads(), "the other one did this"
        before = service.store.read_now(leadership.holder)
        leading.close()
        wait_for(service.services.background.leads)
        assert service.store.read_now(leadership.holder) != before
        model.push("/v1/live/lifecycle", {"message": "Running", "running": True})
        assert [resolves(model, rule)["incident_id"] for rule in rules] == opened
        crash(model)
        wait_for(lambda: len(incidents(model)) == 2 * len(rules))
