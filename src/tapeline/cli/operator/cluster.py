"""`tapeline cluster`: the nodes of a Ray cluster, what each has and what is left of it."""

from typing import Annotated, Any

import msgspec
import typer

from tapeline.cli.operator import hosts
from tapeline.cli.server.options import Config, Data, Database
from tapeline.cli.terminal import screen
from tapeline.cli.terminal.command import JSON, command
from tapeline.cli.terminal.failures import Failure
from tapeline.cli.terminal.screen import Screen
from tapeline.runs import described_hosts, pythons_of_hosts
from tapeline.runs.cluster import one_engine
from tapeline.runs.described_hosts import Node
from tapeline.runs.hosts import Standing
from tapeline.store.store import Store

Name = Annotated[
    str, typer.Argument(metavar="NODE", help="Its name, as `tapeline cluster` has it.")
]

NO_NODES = (
    "This installation has no nodes: they come with `tapeline up --engine ray --ray-address"
    " HOST:6379` on the servers and `ray start --address=HOST:6379` on each machine for models."
)
NO_ANSWER = (
    "No node has answered yet. If that does not change within a minute, the log of the server that"
    " leads says why: look for `work_failed`. /readyz says whether the server reaches Ray."
)


@command(
    "tapeline cluster",
    "tapeline cluster list --database postgresql://… --json",
    options=JSON,
)
def list_nodes(
    context: typer.Context, data: Data = None, database: Database = None, config: Config = None
) -> None:
    """List the nodes of the cluster: how each is, and what it has left."""
    out = Screen(as_json=context.obj.as_json)
    with hosts.opened(data, database, config) as (chosen, store):
        every = hosts.all_of(chosen, store)
        is_of_cluster = store.read_now(one_engine.is_of_cluster, store.database)
    if out.as_json:
        out.json([_fields(one, node) for one, node in _nodes(every)])
        return
    show(out, every, NO_ANSWER if is_of_cluster else NO_NODES)


@command("tapeline cluster drain k3vx8qhmw2td5rfy", options=JSON)
def drain(
    context: typer.Context,
    node: Name,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Move a node's live models to other nodes, one by one.

    Each goes on until another node has prepared it, stops, and starts there. The node takes no new
    runs until `tapeline cluster undrain`.
    """
    with hosts.opened(data, database, config) as (chosen, store):
        _require_node(store, node)
        hosts.drain_one(chosen, store, node, Screen(as_json=context.obj.as_json))


@command("tapeline cluster undrain k3vx8qhmw2td5rfy", options=JSON)
def undrain(
    context: typer.Context,
    node: Name,
    data: Data = None,
    database: Database = None,
    config: Config = None,
) -> None:
    """Let a node take runs again."""
    with hosts.opened(data, database, config) as (_, store):
        _require_node(store, node)
        hosts.undrain_one(store, node, Screen(as_json=context.obj.as_json))


def show(out: Screen, every: list[Standing], empty: str = NO_NODES) -> None:
    found = _nodes(every)
    out.table(
        [
            *("node", "~machine", "state", ">models", "?cores taken", "?memory taken"),
            *("?pythons", "?version", "?last seen"),
        ],
        [
            [
                one.host.name,
                one.host.machine,
                hosts.state(one),
                one.running,
                *_taken(one, node),
                _pythons(one),
                one.host.version,
                screen.ago(one.seen_at),
            ]
            for one, node in found
        ],
        empty=empty,
    )
    hosts.note_troubles(out, [one for one, _ in found], every)


def _nodes(every: list[Standing]) -> list[tuple[Standing, Node]]:
    both = [(one, described_hosts.node_of(one.host)) for one in every]
    return [(one, node) for one, node in both if node is not None]


def _require_node(store: Store, name: str) -> None:
    if described_hosts.node_of(store.read_now(described_hosts.get, name)) is None:
        raise Failure(f"{name} is a server, not a node. Servers are drained with: tapeline hosts")


def _fields(one: Standing, node: Node) -> dict[str, Any]:
    return {
        **hosts.fields(one),
        "pythons": [python.version for python in pythons_of_hosts.of(one.host)],
        "node": msgspec.structs.asdict(node),
        "seen_at": one.seen_at,
    }


def _taken(one: Standing, node: Node) -> tuple[str, str]:
    """Of cores and of memory. What a node said before it was lost is not true any more."""
    if one.state in ("unreachable", "forgotten"):
        return f"- of {node.cores:g}", f"- of {screen.size(node.memory)}"
    cores, memory = node.cores - node.cores_free, node.memory - node.memory_free
    return (
        f"{round(cores, 3):g} of {node.cores:g}",
        f"{screen.size(memory)} of {screen.size(node.memory)}",
    )


def _pythons(one: Standing) -> str:
    return " ".join(python.version for python in pythons_of_hosts.of(one.host))
