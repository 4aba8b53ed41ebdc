"""Installations that hang harm only their own project, and end with their model or the server."""

import json
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tapeline.runs.shim import tree
from tapeline.runs.supervision.install_places import SLICE
from tests.acceptance.conftest import Home, Server
from tests.acceptance.traders import Trader, pythons
from tests.archives import zipped
from tests.runs.conftest import alive
from tests.runs.environments.index import builder
from tests.waiting import wait_for

pytestmark = pytest.mark.heavy

HELLO = "import homemade\nprint('hello')\n"
TURN = "waiting for its turn to install"


def with_package(during_build: str, comment: str = "") -> bytes:
    """A model with a package of its own, whose build runs this code and needs no network."""
    package = {f"src/{name}": text for name, text in builder(during_build).items()}
    main = f"{HELLO}# {comment}\n"
    return zipped(
        {"main.py": main, "req.txt": "--no-index\n./src\n", **package}, requirements="req.txt"
    )


def hanging(comment: str) -> bytes:
    return with_package("import time\ntime.sleep(1500)", comment)


@pytest.fixture(scope="module")
def server(shared_home: Home) -> Server:
    return up(shared_home)


def up(home: Home) -> Server:
    return home.up(
        TAPELINE_PYTHONS=pythons()[0].path, TAPELINE_SIGNUP="open", TAPELINE_STOP_SECONDS="2"
    )


@pytest.fixture(scope="module")
def operator(server: Server) -> Iterator[Trader]:
    trader = Trader(server)
    yield trader
    trader.client.close()


@pytest.fixture(scope="module")
def tenant(server: Server, operator: Trader) -> Iterator[Trader]:
    trader = Trader(server, "mallory@example.com")
    yield trader
    trader.client.close()


def shims_of_installations(home: Home) -> dict[str, int]:
    """By run: the living process that keeps its installation."""
    found = {}
    for note in home.data.glob("runs/*-install/shim.json"):
        try:
            known = json.loads(note.read_text())
        except (OSError, ValueError):
            continue
        if tree.started(known["pid"]) == known["started"]:
            found[note.parent.name.removesuffix("-install")] = known["pid"]
    return found


def runs_row(operator: Trader) -> str:
    rows = operator.get("/api/health")["rows"]
    return next(str(one["says"]) for one in rows if one["name"] == "runs")


def test_hanging_builds_of_one_tenant_stop_nobody_else(
    shared_home: Home, operator: Trader, tenant: Trader
) -> None:
    builds = [tenant.deploy("", archive=hanging(str(number))) for number in range(8)]
    wait_for(lambda: len(shims_of_installations(shared_home)) == 2)
    for build in builds:
        wait_for(
            lambda build=build: (
                build["runId"] in shims_of_installations(shared_home)
                or any(TURN in line for line in tenant.lines(build["modelId"]))
            )
        )
    assert len(shims_of_installations(shared_home)) == 2
    wait_for(lambda: "6 installations are waiting" in runs_row(operator))
    plain = operator.deploy("print('plain')")
    assert operator.wait_for_end(plain)["state"] == "exited"
    packaged = operator.deploy("", archive=with_package("told.write('built')"))
    assert operator.wait_for_end(packaged)["state"] == "exited"
    theirs = tenant.deploy("print('no packages')")
    assert tenant.wait_for_end(theirs)["state"] == "exited", "it needs no place"

    by_run = {one["runId"]: one["modelId"] for one in builds}
    before = shims_of_installations(shared_home)
    for run_id in before:
        deleted = {"projectId": tenant.user_id, "modelId": by_run.pop(run_id)}
        tenant.post("/model/delete", json=deleted)
    wait_for(lambda: len(shims_of_installations(shared_home).keys() - before.keys()) == 2)
    wait_for(lambda: not any(alive(pid) for pid in before.values()))

    waiting = next(run for run in by_run if run not in shims_of_installations(shared_home))
    tenant.kill(by_run[waiting])
    stopped = tenant.wait_for_end({"runId": waiting, "modelId": by_run[waiting]})
    assert stopped["state"] == "stopped"
    fixed = next(iter(shims_of_installations(shared_home)))
    good = tenant.deploy("", archive=with_package("pass"), model=by_run[fixed])
    replaced = tenant.wait_for_end({"runId": fixed, "modelId": by_run[fixed]})
    assert good["runId"] in replaced["reason"], "a newer version does not wait for the old one"


@pytest.mark.slow
def test_hanging_builds_of_many_accounts_delay_a_short_one_by_a_slice(
    shared_home: Home, server: Server, operator: Trader
) -> None:
    """Where anyone can sign up, accounts are free: shares alone would leave no place."""
    puppets = [Trader(server, f"puppet{number}@example.com") for number in range(9)]
    builds = [(one, one.deploy("", archive=hanging(one.user_id))) for one in puppets]
    wait_for(lambda: len(shims_of_installations(shared_home)) == 8)
    packaged = operator.deploy("", archive=with_package("told.write('short')"))
    wait_for(lambda: any(TURN in line for line in operator.lines(packaged["modelId"])))
    model, run = packaged["modelId"], packaged["runId"]
    wait_for(lambda: operator.run(model, run)["state"] == "exited", seconds=10 * SLICE)
    put_back = [one for one, build in builds if has_line(one, build, "Queued again")]
    assert put_back
    for one, build in builds:
        one.post("/model/delete", json={"projectId": one.user_id, "modelId": build["modelId"]})
        one.client.close()
    wait_for(lambda: not shims_of_installations(shared_home))


def has_line(trader: Trader, build: dict[str, Any], said: str) -> bool:
    return any(said in line for line in trader.lines(build["modelId"]))


def test_a_server_ends_although_builds_run_and_the_next_start_installs_again(
    shared_home: Home, tenant: Trader
) -> None:
    for comment in ("one", "another"):
        tenant.deploy("", archive=hanging(comment))
    for how in (signal.SIGTERM, signal.SIGINT):
        wait_for(lambda: len(shims_of_installations(shared_home)) == 2)
        building = shims_of_installations(shared_home).values()
        families = [pid for shim in building for pid in tree.descendants(shim)]
        assert shared_home.servers[-1].end(how) == 0
        assert not [pid for pid in families if alive(pid)]
        up(shared_home)
    wait_for(lambda: len(shims_of_installations(shared_home)) == 2)
