"""`tapeline cluster`: the nodes of a cluster, as the rows in the database have them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection

from tapeline import compose
from tapeline.runs import described_hosts, heartbeat
from tapeline.runs.cluster import one_engine
from tapeline.runs.described_hosts import Description, Node
from tapeline.runs.pythons_of_hosts import Python
from tapeline.settings import Settings
from tapeline.store import facts
from tapeline.store.backends import common_time
from tapeline.store.store import Store
from tests.acceptance.conftest import Home

pytestmark = pytest.mark.heavy

NODE = Node(
    address="10.0.0.2", cores=4.0, cores_free=2.5, memory=8_000_000_000,
    memory_free=6_900_000_000, confinement="bubblewrap",
)  # fmt: skip
PYTHONS = msgspec.json.encode([Python(one, f"{one}.1", "uv") for one in ("3.13", "3.9")]).decode()


@pytest.fixture
def database(tmp_path: Path, empty: Callable[[str, Path], Settings]) -> str:
    """Nodes are only there with PostgreSQL."""
    return empty("postgresql", tmp_path / "other").database


@pytest.fixture
def store(database: str, tmp_path: Path) -> Iterator[Store]:
    with compose.open_store(Settings(data=tmp_path / "other", database=database)) as made:
        yield made


def describe(store: Store, name: str, node: Node | None, trouble: str = "") -> None:
    said = "" if node is None else msgspec.json.encode(node).decode()
    described = Description(name, f"machine-of-{name}", "1.2.3", trouble, "", PYTHONS, said)
    store.write_now(described_hosts.describe, described)


def beat_for_long(connection: Connection, name: str) -> None:
    """Longer than a slow machine takes to start a command."""
    facts.put(connection, heartbeat.BEAT + name, repr(common_time.now(connection) + 600))


def test_nodes_are_listed_with_what_they_have_left(
    used_home: Home, store: Store, database: str
) -> None:
    describe(store, "here", NODE)
    describe(store, "broken", NODE, trouble="no sandbox")
    describe(store, "lost", NODE)
    describe(store, "server", None)
    for name in ("here", "broken"):
        store.write_now(beat_for_long, name)
    shown = used_home.run("cluster", "--database", database)
    lines = {line.split()[0]: line for line in shown.stdout.splitlines()}
    assert set(lines) == {"NODE", "here", "broken", "lost"}, "a server is not a node"
    assert "1.5 of 4" in lines["here"]
    assert "1.1 GB of 8.0 GB" in lines["here"]
    assert "3.13 3.9" in lines["here"]
    assert "1.2.3" in lines["here"]
    assert "unwell" in lines["broken"]
    assert "broken: No sandbox." in shown.stderr
    assert "lost: It does not answer." in shown.stderr
    assert "unreachable" in lines["lost"]
    assert "- of 4" in lines["lost"], "what it said is not true any more"
    listed = gets(used_home, "cluster", "--database", database, "--json")
    first = next(one for one in listed if one["host"] == "here")
    assert (first["state"], first["node"]["cores_free"], first["running"]) == ("well", 2.5, 0)
    assert first["pythons"] == ["3.13", "3.9"]
    assert first["seen_at"] is not None


def test_a_node_is_drained_and_undrained(used_home: Home, store: Store, database: str) -> None:
    at = ("--database", database, "--json")
    describe(store, "here", NODE)
    describe(store, "server", None)
    dead = used_home.run("cluster", "drain", "here", *at[:2]).stdout
    assert dead == "here takes no more runs. It does not answer, and has no runs.\n"
    assert gets(used_home, "cluster", "drain", "here", *at)["drained"] is True
    assert store.read_now(described_hosts.drained) == {"here"}
    assert gets(used_home, "cluster", "undrain", "here", *at)["drained"] is False
    assert store.read_now(described_hosts.drained) == set()
    said = used_home.refused("cluster", "drain", "server", "--database", database, exit_code=1)
    assert "server is a server, not a node" in said
    said = used_home.refused("cluster", "drain", "nobody", "--database", database, exit_code=1)
    assert "No host of this installation has this name" in said


def test_an_installation_without_nodes_says_how_to_get_some(used_home: Home) -> None:
    asked = used_home.run("cluster", "--data", str(used_home.data))
    assert (asked.returncode, asked.stdout) == (0, "")
    assert "This installation has no nodes" in asked.stderr
    assert "ray start --address=" in asked.stderr


def test_a_cluster_whose_nodes_have_not_answered_says_where_the_reason_is(
    used_home: Home, store: Store, database: str
) -> None:
    assert store.database.claim("server")
    one_engine.require(store, "server", "ray", is_named=True)
    store.write_now(beat_for_long, "server")
    asked = used_home.run("cluster", "--database", database)
    assert (asked.returncode, asked.stdout) == (0, "")
    assert "No node has answered yet." in asked.stderr
    assert "work_failed" in asked.stderr


def gets(home: Home, *words: str) -> Any:
    asked = home.run(*words)
    assert asked.returncode == 0, asked.stderr
    return json.loads(asked.stdout)
