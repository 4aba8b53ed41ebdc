"""The next version beside this one, under load: servers are upgraded one after the other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.fleet import Fleet, fleet
from tests.acceptance.loads import all_kinds, assert_complete, under
from tests.acceptance.next_version import NUMBER, next_version
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


def test_servers_are_upgraded_one_after_the_other_under_load(pair: Fleet, tmp_path: Path) -> None:
    first, second = pair.members
    package = next_version(tmp_path / "next")
    deployed = pair.deploy_on(first)
    pair.trader.wait_for_line(deployed["modelId"], "number 1")
    fence = pair.run(deployed)["fence"]
    key = pair.key()
    loads = all_kinds(pair.address, key, pair.token, tmp_path / "outbox")
    with under(*loads) as running:
        running.get_on()
        first.server.end()
        first.start(package)
        running.get_on()
        wait_for(lambda: NUMBER in {one["version"] for one in second.get("/api/health")["hosts"]})
        assert second.get("/api/health")["version"] != NUMBER, "it goes on"
        second.server.end()
        refused = second.home.run("up", "--port", str(second.port), **second.variables)
        assert refused.returncode != 0
        assert "was made by a newer Tapeline" in " ".join(refused.stderr.split())
        second.start(package)
        running.get_on()
        wait_for(lambda: pair.run(deployed)["state"] == "running")
    assert_complete(pair.tape(key["model_id"]), loads)
    assert pair.run(deployed)["fence"] == fence, "its model never noticed"
