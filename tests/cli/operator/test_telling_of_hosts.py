"""What is said of hosts is true, and no terminal cuts what matters."""

from collections.abc import Callable
from io import StringIO

import msgspec
import pytest
from rich.console import Console

from tapeline.cli.operator import cluster, hosts
from tapeline.cli.operator import telling_of_hosts as telling
from tapeline.cli.terminal.screen import Screen
from tapeline.runs.described_hosts import NOT_IN_RAY, Host, Node
from tapeline.runs.hosts import Standing, State
from tapeline.runs.run import Run

NODE = msgspec.json.encode(
    Node(
        address="10.0.0.2", cores=64, cores_free=2.5, memory=128 * 10**9,
        memory_free=10**9, confinement="bubblewrap",
    )
).decode()  # fmt: skip
LONG = "k3vx8qhmw2td5rfy"
RUN = Run(
    id="r", model_id="m", version_id="v", kind="live", state="running", desired="running",
    reason="", plan="small", memory_mb=1024, cpu_milli=1000, python_version="3.11",
    created_at=1.0, created_by="ada",
)  # fmt: skip

Shows = Callable[[Screen, list[Standing]], None]


def host(
    name: str, state: State, running: int = 0, *, drained: bool = False, node: str = NODE
) -> Standing:
    trouble = NOT_IN_RAY if state in ("unwell", "unreachable") else ""
    made = Host(
        name=name, machine="ip-10-0-0-2.eu-central-1.compute.internal", version="1.2.3",
        trouble=trouble, node=node, drained_at=1.0 if drained else None,
    )  # fmt: skip
    return Standing(made, state, 5.0, running, 5.0)


def drained(*every: Standing) -> str:
    return telling.drained("n", list(every))


def test_a_drained_host_is_said_to_do_what_it_does() -> None:
    other, taken = host("o", "well"), host("o", "well", drained=True)
    assert drained(host("n", "well", 2, drained=True), other).endswith("one by one.")
    alone = drained(host("n", "well", 2, drained=True), taken)
    assert "move" not in alone
    assert "its live models stay there until one does" in alone
    assert drained(host("n", "well", drained=True), other).endswith("It has none now.")
    dead = drained(host("n", "unreachable", 1, drained=True), other)
    assert dead.endswith("its models start elsewhere when their leases have run out.")
    dead = drained(host("n", "unreachable", 1, drained=True), taken)
    assert dead.endswith("run out and another host takes runs.")
    server = drained(host("n", "unreachable", 1, drained=True, node=""), other)
    assert "its 1 run cannot move until its server is back" in server


def test_a_forgotten_host_is_said_to_have_had_the_runs_that_it_had() -> None:
    every = [host("o", "well")]
    assert telling.before_forgetting("n", []) == "n has no runs."
    assert telling.forgotten("n", [], every, is_done=True) == "n is forgotten."
    one = telling.forgotten("n", [RUN], every, is_done=True)
    assert one == "n is forgotten. Its 1 run has ended, live models start elsewhere."
    assert telling.forgotten("n", [RUN], [], is_done=True).endswith("when another host takes runs.")
    tested = msgspec.structs.replace(RUN, kind="backtest")
    assert telling.forgotten("n", [tested], every, is_done=True).endswith("Its 1 run has ended.")
    assert "ends its 1 run when it can" in telling.forgotten("n", [RUN], every, is_done=False)


def test_only_models_of_a_node_that_answers_are_said_to_live_on() -> None:
    assert telling.trouble(host("n", "well"), []) == ""
    assert telling.trouble(host("n", "unwell", 1), []) == f"{NOT_IN_RAY}. Its models live on."
    assert telling.trouble(host("n", "unwell"), []) == f"{NOT_IN_RAY}."
    lost = telling.trouble(host("n", "unreachable"), [])
    assert lost == f"It does not answer, silent since 1970-01-01 00:00:05 UTC. {NOT_IN_RAY}."


@pytest.mark.parametrize("show", [hosts.show, cluster.show])
def test_names_states_and_troubles_are_whole_in_a_narrow_terminal(show: Shows) -> None:
    every = [
        host(LONG, "unreachable", drained=True),
        host(LONG[::-1], "unwell", 1),
        host("n", "well", 12),
    ]
    out = Screen()
    shown, noted = StringIO(), StringIO()
    out.out = Console(file=shown, width=80)
    out.err = Console(file=noted, width=80)
    show(out, every)
    lines = shown.getvalue().splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert f"{LONG} " in lines[1]
    assert "unreachable, drained " in lines[1]
    assert f"{LONG[::-1]} " in lines[2]
    told = " ".join(noted.getvalue().split())
    assert f"{LONG}: It does not answer, silent since" in told
    assert f"{LONG[::-1]}: {NOT_IN_RAY}. Its models live on." in told
