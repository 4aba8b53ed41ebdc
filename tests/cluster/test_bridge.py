"""A real Ray behind the bridge, with a node process that answers what it is told."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from tapeline.runs.cluster import bridge as bridges
from tapeline.runs.cluster.bridge import Bridge, CannotReach, RayNode
from tests.cluster.conftest import RayCluster
from tests.cluster.machines import MACHINES, Machine
from tests.cluster.rays import Rays
from tests.waiting import wait_for

pytestmark = [MACHINES, pytest.mark.heavy]
MB = 1_000_000


def node_of(bridge: Bridge, machine: Machine) -> RayNode:
    return next(one for one in bridge.nodes() if one.alive and one.address == machine.address)


def who(bridge: Bridge, machine: Machine) -> dict[str, Any]:
    said = bridge.call(node_of(bridge, machine).id, b"who", 30)
    return msgspec.json.decode(said, type=dict[str, Any])


def answers(bridge: Bridge, machine: Machine) -> bool:
    try:
        return bridge.call(node_of(bridge, machine).id, b"there", 10) == b"there"
    except (CannotReach, StopIteration):
        return False


def raylet_of(machine: Machine) -> psutil.Process:
    return next(one for one in machine.processes() if one.name() == "raylet")


def test_nodes_say_what_they_have(bridge: Bridge, ray_cluster: RayCluster) -> None:
    cpus = {one.address: one.cpu for one in bridge.nodes() if one.alive}
    assert cpus == {
        ray_cluster.rays.head.address: 0,
        ray_cluster.network.here: 0,
        ray_cluster.one.address: 2,
        ray_cluster.two.address: 2,
    }
    assert node_of(bridge, ray_cluster.one).memory_free > 100 * MB
    assert bridge.trouble() is None


def test_a_call_starts_the_node_process_which_owes_nothing_to_ray(
    bridge: Bridge, ray_cluster: RayCluster
) -> None:
    said = who(bridge, ray_cluster.one)
    assert said.pop("pid") == who(bridge, ray_cluster.one)["pid"]
    assert said == {
        "folder": str(ray_cluster.one.folder / "data"),
        "session": False,  # of its own, and led by nobody: it never has a terminal
        "nice": 0,
        "victim": 0,
        "blocked": [],
        "secrets": [],
    }
    assert who(bridge, ray_cluster.two)["folder"] == str(ray_cluster.two.folder / "data")


def test_calls_do_not_wait_for_each_other(bridge: Bridge, ray_cluster: RayCluster) -> None:
    node = node_of(bridge, ray_cluster.one).id
    large = os.urandom(3 * MB)
    with ThreadPoolExecutor(24) as threads:
        slow = threads.submit(bridge.call, node, b"wait 30", 2)
        others = [threads.submit(bridge.call, node, large, 60) for _ in range(3)]
        others += [threads.submit(bridge.call, node, b"wait 0.2", 60) for _ in range(20)]
        assert {one.result() for one in others} == {large, b"wait 0.2"}
        with pytest.raises(CannotReach, match=r"did not answer in 2 s\.$"):
            slow.result()


def test_a_node_that_ray_does_not_know_cannot_be_reached(bridge: Bridge) -> None:
    with pytest.raises(CannotReach):
        bridge.call("ab" * 28, b"there", 20)


def test_the_node_process_outlives_its_agent(bridge: Bridge, ray_cluster: RayCluster) -> None:
    before = who(bridge, ray_cluster.one)["pid"]
    agent = next(one for one in ray_cluster.one.processes() if one.name() == "ray::Agent")
    assert agent.memory_full_info().pss < 60 * MB
    agent.kill()
    wait_for(lambda: answers(bridge, ray_cluster.one))
    assert who(bridge, ray_cluster.one)["pid"] == before


def test_runs_reserve_room(bridge: Bridge, ray_cluster: RayCluster) -> None:
    one, two = (node_of(bridge, machine).id for machine in (ray_cluster.one, ray_cluster.two))
    # What an earlier test had is free as soon as Ray knows it.
    wait_for(lambda: bridge.reserve("r1", 1.5, 100 * MB, [one]) == one)
    assert bridge.reserve("r1", 1.5, 100 * MB, [two, one]) == one
    assert bridge.reserve("r2", 1.5, 100 * MB, [one]) is None
    wait_for(lambda: bridge.reserve("r2", 1.5, 100 * MB, [one, two]) == two)
    assert bridge.reserve("r3", 0.25, 10**15, [one, two]) is None
    assert bridge.reserved() == {"r1": one, "r2": two}
    bridge.release(["r1", "unknown"])
    wait_for(lambda: bridge.reserve("r4", 1.5, 100 * MB, [one, two]) == one)
    bridge.release(["r4"])
    # Room that is only kept for the next run of its size is given to a run of another size.
    wait_for(lambda: bridge.reserve("r5", 2, 100 * MB, [one]) == one)


def test_a_bridge_that_dies_is_started_again_by_the_next_call(
    bridge: Bridge, ray_cluster: RayCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridges, "LONGEST_PAUSE", 1000.0)
    monkeypatch.setattr(bridges, "FIRST_PAUSE", 1000.0)
    node = node_of(bridge, ray_cluster.one).id
    wait_for(lambda: bridge.reserve("r1", 2, 100 * MB, [node]) == node)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(bridge.call, node, b"wait 30", 60)
        wait_for(lambda: bridge.call(node, b"there", 20) == b"there")
        process_of(bridge).kill()
        with pytest.raises(CannotReach, match="has ended"):
            waiting.result()
    assert "cannot be reached" in (bridge.trouble() or "")
    with pytest.raises(CannotReach, match="cannot be reached"):
        bridge.nodes()  # not at once
    monkeypatch.setattr(bridge, "_not_before", 0.0)
    wait_for(lambda: answers(bridge, ray_cluster.one))
    assert bridge.trouble() is None
    assert bridge.reserved() == {}
    wait_for(lambda: bridge.reserve("r1", 2, 100 * MB, [node]) == node)


def process_of(bridge: Bridge) -> psutil.Process:
    children = psutil.Process().children()
    return next(one for one in children if bridges.PROGRAM in one.cmdline())


@pytest.mark.usefixtures("bridge")
def test_the_bridge_ends_with_its_server(ray_cluster: RayCluster, tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from threading import Thread\n"
        "from tapeline.runs.cluster import bridge\n"
        "from tapeline.runs.cluster.bridge import Bridge\n"
        "bridge.SECONDS = 120.0\n"
        "one = Bridge(sys.argv[1], Path(sys.argv[2]))\n"
        "asks = Thread(target=one.nodes); asks.start(); asks.join()\n"
        "time.sleep(1); one.nodes(); print(one._process.pid, flush=True); time.sleep(1000)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, ray_cluster.rays.address, tmp_path], stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        process = psutil.Process(int(server.stdout.readline()))
        assert process.ppid() == server.pid, "it did not end with the thread that started it"
        server.send_signal(signal.SIGKILL)
    wait_for(lambda: not process.is_running())


def test_ray_that_is_not_there_or_does_not_know_us_is_named(
    bridge: Bridge, ray_cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = Bridge(f"{ray_cluster.network.here}:9", tmp_path)
    with pytest.raises(CannotReach):
        absent.nodes()
    assert absent.trouble() == (
        f"Ray at {ray_cluster.network.here}:9 cannot be reached: [Errno 111] Connection refused"
    )
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
    stranger = Bridge(ray_cluster.rays.address, tmp_path)
    with pytest.raises(CannotReach, match="does not have the token of that cluster"):
        stranger.nodes()
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(CannotReach, match=r"^Ray is not installed: pip install 'tapeline\[cluster"):
        Bridge("10.0.0.1:6379", tmp_path).nodes()


def test_a_ray_that_lets_anybody_in_is_refused(bridge: Bridge, ray_cluster: RayCluster) -> None:
    careless = Rays(ray_cluster.network.machine("careless"), mode="disabled")
    careless.start_head()
    code = "import sys; from tapeline.runs.cluster.ray_bridge import lets_anybody_in as open\n"
    code += "print([open(one) for one in sys.argv[1:]])"
    asked = [careless.address, ray_cluster.rays.address]
    said = subprocess.check_output([sys.executable, "-c", code, *asked], text=True)
    careless.head.kill()
    assert said == "[True, False]\n"


def test_the_node_process_outlives_ray(bridge: Bridge, ray_cluster: RayCluster) -> None:
    before, node = who(bridge, ray_cluster.two)["pid"], node_of(bridge, ray_cluster.two).id
    wait_for(lambda: bridge.reserve("r1", 1, 100 * MB, [node]) == node)
    raylet_of(ray_cluster.two).kill()
    wait_for(lambda: not any(one.alive for one in bridge.nodes() if one.id == node))
    wait_for(lambda: bridge.reserved() == {})
    with pytest.raises(CannotReach):
        bridge.call(node, b"there", 20)
    wait_for(lambda: ray_cluster.two.started[-1].poll() is not None)
    ray_cluster.rays.start(ray_cluster.two)
    wait_for(lambda: answers(bridge, ray_cluster.two))
    assert who(bridge, ray_cluster.two)["pid"] == before
    assert node_of(bridge, ray_cluster.two).id != node
