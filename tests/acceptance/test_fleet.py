"""Two servers behind nginx under load, one of them killed, frozen and cut off: nothing is lost or
doubled, nothing runs twice, and the other one says within seconds what is the matter."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.fleet import Fleet, fleet
from tests.acceptance.loads import Load, OfTheClient, Once, Page, Repeating, under
from tests.waiting import wait_for

pytestmark = pytest.mark.heavy


@pytest.fixture
def pair(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    postgres_server: str,
    postgres_template: str,
) -> Iterator[Fleet]:
    short = tmp_path_factory.mktemp("c")
    with fleet(tmp_path, short, postgres_server, 2, postgres_template) as made:
        yield made


def loads_on(one: Fleet, folder: Path) -> tuple[str, list[Load]]:
    """The model that they report, and the loads."""
    key, token = one.key(), one.trader.client.headers["token"]
    return key["model_id"], [
        Repeating(one.address, key),
        Once(one.address, key),
        OfTheClient(one.address, key, folder),
        Page(one.address, token, key["model_id"]),
    ]


def assert_complete(one: Fleet, model: str, loads: list[Load]) -> None:
    events = one.tape(model)
    said = Counter(event["body"].get("line", "") for event in events)
    for load in loads:
        load.check(said)


def test_events_arrive_once_while_a_server_is_killed_frozen_and_cut_off(
    pair: Fleet, tmp_path: Path
) -> None:
    victim = pair.members[0]
    deployed = pair.deploy_on(victim)
    pair.trader.wait_for_line(deployed["modelId"], "number 1")
    model, loads = loads_on(pair, tmp_path / "outbox")
    with under(*loads) as running:
        running.get_on()
        said = pair.say(run_of(pair, deployed)["host"])
        with victim.frozen():
            wait_for(lambda: said.is_unreachable(deployed))
            running.get_on()
        wait_for(lambda: run_of(pair, deployed)["state"] == "running")
        with victim.cut_off():
            wait_for(lambda: said.is_unreachable(deployed))
            running.get_on()
        wait_for(lambda: run_of(pair, deployed)["state"] == "running")
        victim.kill()
        wait_for(lambda: said.is_unreachable(deployed))
        running.get_on()
        victim.start()
        wait_for(lambda: run_of(pair, deployed)["state"] == "running")
        running.get_on()
    assert_complete(pair, model, loads)
    assert run_of(pair, deployed)["fence"] == 1, "its model never noticed"


def run_of(one: Fleet, deployed: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = one.get(f"/api/models/{deployed['modelId']}/runs/{deployed['runId']}")
    return found
