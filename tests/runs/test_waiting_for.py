"""What a run of a cluster waits for: nodes alone can take it, and one of them needs room."""

import re

import msgspec
import pytest
from sqlalchemy import Connection

from tapeline.cli.operator import telling_of_hosts
from tapeline.runs import described_hosts, heartbeat, waiting_for
from tapeline.runs.described_hosts import Description, Node
from tapeline.runs.hosts import Standing
from tapeline.runs.pythons_of_hosts import Python
from tapeline.runs.run import Run
from tapeline.store import facts
from tapeline.store.backends import common_time
from tapeline.store.store import Store

pytestmark = pytest.mark.databases("postgresql")

PYTHONS = msgspec.json.encode([Python("3.11", "3.11.2", "system")]).decode()
RUN = Run(
    id="r", model_id="m", version_id="v", kind="live", state="pending", desired="running",
    reason="", plan="small", memory_mb=1024, cpu_milli=1000, python_version="3.11",
    created_at=1.0, created_by="ada",
)  # fmt: skip


def there(connection: Connection, name: str, node: Node | None) -> None:
    said = "" if node is None else msgspec.json.encode(node).decode()
    pythons = "" if node is None else PYTHONS  # a server of a cluster says nothing of its own
    described = Description(name, name, "1", "", "", pythons, said)
    described_hosts.describe(connection, described)
    facts.put(connection, heartbeat.BEAT + name, repr(common_time.now(connection) + 600))


def node(cores_free: float, memory_free: int = 10**10) -> Node:
    return Node(
        address="10.0.0.2", cores=4, cores_free=cores_free, memory=10**10,
        memory_free=memory_free, confinement="",
    )  # fmt: skip


def said(store: Store, run: Run = RUN) -> str | None:
    return store.read_now(waiting_for.reasons, store.database, "server", [run]).get(run.id)


def test_a_run_waits_for_room_on_nodes_and_says_so(store: Store) -> None:
    store.write_now(there, "server", None)
    store.write_now(there, "one", node(0.5))
    store.write_now(there, "two", node(4, memory_free=1_000_000))
    assert "waits for room: its plan takes 1 core and 1024 MB" in (said(store) or "")
    waiting = msgspec.structs.replace(RUN, kind="backtest")
    assert said(store, waiting) is None, "it is in the queue"
    larger = msgspec.structs.replace(waiting, cpu_milli=5000)
    assert "more than any node has" in (said(store, larger) or "")
    larger = msgspec.structs.replace(RUN, cpu_milli=5000)
    assert "more than any node has" in (said(store, larger) or ""), "stopping others is no help"
    store.write_now(there, "two", node(1))
    assert said(store) is None


def test_a_stop_that_its_node_is_not_told_is_carried_out_by_the_lease(store: Store) -> None:
    def ends(run: Run) -> str | None:
        return store.read_now(waiting_for.ends, [run]).get(run.id)

    store.write_now(there, "one", node(4))
    until = store.read_now(common_time.now) + 600.0
    going = msgspec.structs.replace(RUN, host="one", fence=1, state="running", lease_until=until)
    stopped = msgspec.structs.replace(going, state="stopping", desired="stopped")
    assert (said(store, stopped), ends(stopped)) == (None, None), "it is told"
    store.write_now(described_hosts.tell_of_unmet, ["one"])
    assert "It lives on at its node one" in (said(store, going) or "")
    assert ends(going) is None
    assert said(store, stopped) is None, "it ends, whatever happens"
    told = re.search(r"It ends with its lease, within (\d+) seconds", ends(stopped) or "")
    assert told is not None
    assert 500 < int(told[1]) <= 601
    without = msgspec.structs.replace(stopped, lease_until=None, fence=None)
    assert "It waits for its host one" in (said(store, without) or "")


def test_what_a_node_lacks_for_new_runs_is_no_trouble_of_those_it_has(store: Store) -> None:
    store.write_now(there, "one", node(4))
    other = Description("one", "m", "1", "it runs Tapeline 1", "", PYTHONS, "{}")
    store.write_now(described_hosts.describe, other)
    going = msgspec.structs.replace(RUN, host="one", fence=1, state="running", lease_until=5.0)
    assert said(store, going) is None


def test_a_server_beside_nodes_is_none_that_could_take_it(store: Store) -> None:
    store.write_now(there, "server", None)
    store.write_now(there, "one", node(4))
    other = msgspec.structs.replace(RUN, python_version="3.7")
    assert "no host has it any more" in (said(store, other) or "")
    store.write_now(described_hosts.drain, "one", "an operator")
    assert "these are drained: one" in (said(store) or "")


def test_after_a_cluster_was_given_up_its_server_takes_runs(store: Store) -> None:
    store.write_now(there, "one", node(4))
    store.write_now(facts.put, heartbeat.BEAT + "one", "5.0")
    gone = said(store) or ""
    assert "one, which does not answer and has been silent since 1970" in gone
    own = Description("server", "server", "1", pythons=PYTHONS)
    store.write_now(described_hosts.describe, own)
    assert said(store) is None


def test_servers_beside_nodes_take_no_runs_for_another(store: Store) -> None:
    def takes() -> bool:
        return store.read_now(waiting_for.others_take, store.database, "server")

    store.database.claim("other")
    store.write_now(there, "server", None)
    store.write_now(there, "other", None)
    assert takes(), "there are only servers"
    store.write_now(there, "one", node(4))
    assert not takes()


def test_a_sole_node_that_is_drained_says_that_it_waits(store: Store) -> None:
    for name, one in (("server", None), ("one", node(4))):
        store.write_now(there, name, one)
    store.write_now(described_hosts.drain, "one", "an operator")
    found = [
        Standing(store.read_now(described_hosts.get, name), "well", None, running, None)
        for name, running in (("server", 0), ("one", 2))
    ]
    said = telling_of_hosts.trouble(found[1], found)
    assert said == "It is drained, and waits for another host to take its 2 runs."
