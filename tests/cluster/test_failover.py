"""Three nodes, one of them cut off: its models go on elsewhere, once, and the others go on."""

import time
from collections.abc import Iterator

import psutil
import pytest

from tapeline.runs.cluster import joining
from tests.cluster.fleet import Fleet, fleet
from tests.cluster.machines import MACHINES
from tests.waiting import wait_for

pytestmark = MACHINES


LEASE = 15  # seconds; a server that starts on a busy machine takes longer than the usual ones


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory, postgres_server: str) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("fleet")
    with fleet(
        folder,
        postgres_server,
        nodes=3,
        TAPELINE_LEASE_SECONDS=str(LEASE),
        TAPELINE_BACKTEST_SLOTS="1",
        TAPELINE_BACKTEST_PLANS="huge=900000/900000",
    ) as made:
        wait_until_well(made)
        yield made


def wait_until_well(three: Fleet) -> None:
    """The server and its nodes."""
    wait_for(lambda: [one["state"] for one in three.hosts().values()].count("well") == 4, 120)


def test_models_of_a_node_that_is_cut_off_go_on_elsewhere_and_never_twice(three: Fleet) -> None:
    models = [three.deploy() for _ in range(3)]
    before = {model: three.wait_until_counted(model) for model in models}
    lost = three.node_of(models[0])
    theirs = [model for model in models if three.node_of(model) is lost]
    lost.cut()
    try:
        for model in theirs:
            wait_for(lambda model=model: len(three.witness.runs(model)) == 2, 120)
    finally:
        lost.mend()
    assert not three.witness.overlaps()
    for model in set(models) - set(theirs):
        assert three.witness.runs(model) == [before[model]]


def test_a_backtest_runs_on_a_node_and_its_result_arrives(three: Fleet) -> None:
    """One that no node can take waits, and does not keep the only slot from it."""
    trader = three.member.trader
    script = "def backtest(x):\n    print('here')\n    return {'x': x}\n"
    too_large = trader.backtest(script, plan="huge")
    tested = trader.backtest(script, backtestArgs='{"x": 5}')
    assert trader.wait_for_end(tested)["state"] == "exited"
    assert "here" in trader.backtest_lines(tested, "stdout")
    model, backtest = tested["modelId"], tested["backtestId"]
    status = trader.get(f"/api/models/{model}/backtests/{backtest}")["status"]
    assert status["successful"] is True
    waiting = trader.run(too_large["modelId"], too_large["runId"])
    assert "more than any node has" in waiting["trouble"]


def test_what_is_deleted_leaves_nothing_on_its_node(three: Fleet) -> None:
    model = three.deploy()
    three.wait_until_counted(model)
    data = three.node_of(model).folder / "data"
    project = three.member.trader.get(f"/api/models/{model}")["project_id"]
    assert (data / "state" / model).exists()
    said = {"projectId": project, "modelId": model}
    three.member.trader.post("/model/delete", json=said)
    for left in (data / "state" / model, data / "runs" / "locks" / model):
        wait_for(lambda left=left: not left.exists())


def test_a_frozen_node_delays_no_halt_on_the_others(three: Fleet) -> None:
    models = [three.deploy() for _ in range(4)]
    for model in models:
        three.wait_until_counted(model)
    frozen = three.node_of(models[0])
    others = [model for model in models if three.node_of(model) is not frozen]
    assert others
    trader = three.member.trader
    project = f"/api/projects/{trader.user_id}"
    frozen.freeze()
    try:
        time.sleep(0.3)
        began = time.monotonic()
        trader.post(f"{project}/halt", json={"why": "A dead node"})
        wait_for(lambda: not any(three.witness.living(model) for model in others))
    finally:
        frozen.thaw()
    trader.post(f"{project}/resume", json={})
    wait_until_well(three)
    heard = [last for model in others for _, last in three.witness.heard[model].values()]
    assert max(heard) - began < 8.0, "less than a look at a node may take"


def test_models_live_on_while_the_only_server_is_started_anew(three: Fleet) -> None:
    model = three.deploy()
    run = three.wait_until_counted(model)
    heard = three.witness.heard[model]
    who = max(heard, key=lambda one: heard[one][1])
    three.member.server.end()
    three.start_again(three.member)
    server = psutil.Process(three.member.server.process.pid)
    wait_for(lambda: any(joining.MODULE in one.cmdline() for one in server.children()))
    time.sleep(1.0)
    began = time.monotonic()
    three.member.server.end()
    assert time.monotonic() - began < LEASE - 3, "nobody can renew without it, whatever Ray does"
    three.start_again(three.member)
    wait_until_well(three)
    wait_for(lambda: three.witness.living(model) == [who])
    assert three.member.newest(model)["run_id"] == run


def test_models_live_on_without_the_head_of_ray_and_the_nodes_say_what_is_missing(
    three: Fleet,
) -> None:
    """The last one here: this cluster has no head any more."""
    model = three.deploy()
    run = three.wait_until_counted(model)
    three.rays.head.kill()

    def is_told() -> bool:
        nodes = [one for name, one in three.hosts().items() if name != three.member.name]
        return all("Ray does not reach it" in one["trouble"] for one in nodes)

    wait_for(is_told, 120)
    wait_for(lambda: three.witness.is_heard(model, run))
    assert three.member.newest(model)["run_id"] == run
