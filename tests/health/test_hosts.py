"""The row `hosts` of a cluster: nodes that are lost or unwell, and runs that wait for them."""

import msgspec
import pytest
from sqlalchemy import Connection

from tapeline.health.running import hosts
from tapeline.health.running.hosts import Found, judged
from tapeline.runs import described_hosts, heartbeat
from tapeline.runs.described_hosts import NOT_IN_RAY, Description, Host, Node
from tapeline.runs.hosts import Standing, State
from tapeline.runs.pythons_of_hosts import Python
from tapeline.store import facts
from tapeline.store.backends import common_time
from tests.conftest import Service
from tests.health.test_checks import add_run

NODE = Node(
    address="10.0.0.2", cores=4, cores_free=4, memory=10**10, memory_free=10**10, confinement=""
)
AS_JSON = msgspec.json.encode(NODE).decode()
PYTHONS = msgspec.json.encode([Python("3.12", "3.12.2", "system")]).decode()


def standing(
    name: str, state: State, running: int = 0, node: str = AS_JSON, version: str = "1"
) -> Standing:
    trouble = "the disk is full" if state == "unwell" else ""
    host = Host(name=name, machine="m", version=version, trouble=trouble, node=node)
    return Standing(host, state, 5.0, running, None)


def found(*others: Standing, takers: int = 1, waits: tuple[str, ...] = ()) -> Found:
    has_nodes = any(one.host.node for one in others)
    return Found(list(others), takers, has_nodes, list(waits))


@pytest.mark.parametrize(
    ("what", "state"),
    [
        (found(standing("a", "well", 2)), "green"),
        (found(standing("a", "well"), standing("b", "unreachable")), "yellow"),
        (found(standing("a", "well"), standing("b", "unwell")), "yellow"),
        (found(standing("a", "well"), waits=("It waits for room.",)), "yellow"),
        (found(standing("a", "well"), takers=0), "red"),
        (found(standing("a", "unreachable"), takers=0), "red"),
        (found(standing("old", "unreachable", node="")), "green"),
        (found(standing("old", "unreachable", 1, node="")), "yellow"),
        (found(standing("a", "well"), standing("old", "unreachable", node="")), "yellow"),
        (found(standing("a", "well"), standing("x", "unreachable", node="", version="")), "green"),
        (found(), "green"),
    ],
)
def test_hosts_decide_the_colour(what: Found, state: str) -> None:
    verdict = judged("This host is h.", what)
    assert (verdict.state, bool(verdict.fix)) == (state, state != "green"), verdict
    assert verdict.says.endswith(".")


def test_of_many_lost_nodes_a_few_are_named() -> None:
    lost = [standing(f"n{number}", "unreachable") for number in range(9)]
    says = judged("This host is h.", found(*lost)).says
    assert "Node n4 does not answer and has been silent since 1970-01-01" in says
    assert "4 more are not well." in says
    assert "n5" not in says


def join(connection: Connection, name: str, trouble: str = "") -> None:
    described = Description(name, name, "1", trouble, "", PYTHONS, AS_JSON)
    described_hosts.describe(connection, described)
    facts.put(connection, heartbeat.BEAT + name, repr(common_time.now(connection) + 600))


@pytest.mark.parametrize("settings", ["postgresql"], indirect=True)
def test_a_cluster_that_is_not_well_is_not_green(own_service: Service) -> None:
    parts, write = own_service.services.health.parts, own_service.store.write_now

    write(join, "one")
    write(join, "two")
    write(add_run, "taken", host="one", fence=1)
    fine = hosts.look(parts)
    assert (fine.state, "1 other has runs." in fine.says) == ("green", True), fine

    write(facts.put, heartbeat.BEAT + "two", "5.0")  # its runs were taken over
    lost = hosts.look(parts)
    assert (lost.state, "Node two does not answer" in lost.says) == ("yellow", True)
    assert "tapeline hosts forget" in lost.fix
    write(described_hosts.forget, "two", "an operator")
    assert hosts.look(parts).state == "green"

    write(described_hosts.tell_of_unmet, ["one"])
    write(add_run, "waiting", state="pending")
    alone = hosts.look(parts)
    assert (alone.state, "No host takes runs now." in alone.says) == ("red", True)
    assert f"Node one is unwell: {NOT_IN_RAY}." in alone.says
    assert "1 run waits. It waits for a host" in alone.says
