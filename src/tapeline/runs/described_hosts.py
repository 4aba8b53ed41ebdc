"""The hosts of an installation: how each describes itself, and what operators decided about it.

The rows of its runs carry its name. Whether its server is there is not in the table: `heartbeat`
knows that.
"""

import time
from collections.abc import Collection, Iterable

import msgspec
from sqlalchemy import Connection, select, update

from tapeline.errors import Missing
from tapeline.store import upsert
from tapeline.store.rows import record
from tapeline.store.tables.runs import hosts

DECLARED_GONE = "was declared gone by"
"""In the reason for which a run ended that nobody can say more about."""


NOT_IN_RAY = "Ray does not reach it; start Ray there again if it has ended"
"""Its models live on if it renews their leases, which is not known here: see `heartbeat`."""


class NoSuchHost(Missing):
    """No host of this installation has this name. `tapeline hosts` lists them."""


class Description(msgspec.Struct, frozen=True):
    """What a server says of its host."""

    name: str
    machine: str
    version: str
    trouble: str = ""
    """Why nothing can be done about its runs at the moment."""
    key_digests: str = ""
    """See `one_installation.digests`."""
    pythons: str = ""
    """See `pythons_of_hosts.described`; empty if it did not say, as an earlier version does."""
    node: str = ""
    """A `Node` as JSON, of a node of a cluster; empty for a server."""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """What is only known of a node of a cluster."""

    address: str
    cores: float
    cores_free: float
    """Not taken by the plans of models."""
    memory: int
    memory_free: int
    confinement: str


class Host(Description, frozen=True, kw_only=True):
    started_at: float = 0.0
    drained_at: float | None = None
    drained_by: str | None = None
    forgotten_at: float | None = None
    forgotten_by: str | None = None


def describe(connection: Connection, said: Description) -> None:
    """Its server has started, or something has changed. One that was forgotten is back: what ran
    there was taken from it, and it runs what it is given from now on."""
    values = {**msgspec.structs.asdict(said), "started_at": time.time()}
    row = upsert.insert(connection, hosts).values(values)
    changed = {
        name: row.excluded[name]
        for name in ("machine", "version", "trouble", "key_digests", "pythons", "node")
    }
    again = {"forgotten_at": None, "forgotten_by": None}
    connection.execute(
        row.on_conflict_do_update(index_elements=["name"], set_={**changed, **again})
    )


def unmet(connection: Connection, met: Collection[str]) -> list[str]:
    """Nodes that the leading server does not reach, and nobody has been told."""
    query = select(hosts.c.name).where(
        hosts.c.node != "",
        hosts.c.name.not_in(met),
        hosts.c.trouble != NOT_IN_RAY,
        hosts.c.forgotten_at.is_(None),
    )
    return list(connection.scalars(query))


def tell_of_unmet(connection: Connection, names: Collection[str]) -> None:
    """Until it describes itself again. It may live and renew its leases all the same."""
    which = update(hosts).where(hosts.c.name.in_(names))
    connection.execute(which.values(trouble=NOT_IN_RAY))


def get(connection: Connection, name: str) -> Host:
    row = connection.execute(select(hosts).where(hosts.c.name == name)).first()
    if row is None:
        raise NoSuchHost
    return record(Host, row)


def node_of(host: Host) -> Node | None:
    """None for a server."""
    return msgspec.json.decode(host.node, type=Node) if host.node else None


def takers(found: Iterable[Host]) -> list[Host]:
    """Those that run models, if they can. Beside nodes, a server says nothing of its Pythons unless
    it runs models itself, as after a cluster was given up."""
    every = list(found)
    has_nodes = any(one.node for one in every)
    return [one for one in every if one.node or one.pythons or not has_nodes]


def drained(connection: Connection) -> set[str]:
    """The names of those that take no run."""
    return set(connection.scalars(select(hosts.c.name).where(hosts.c.drained_at.is_not(None))))


def drain(connection: Connection, name: str, by: str) -> None:
    """From now on it takes no run, and its live models move to other hosts."""
    get(connection, name)
    is_first = (hosts.c.name == name, hosts.c.drained_at.is_(None))
    connection.execute(update(hosts).where(*is_first).values(drained_at=time.time(), drained_by=by))


def undrain(connection: Connection, name: str) -> None:
    get(connection, name)
    which = update(hosts).where(hosts.c.name == name)
    connection.execute(which.values(drained_at=None, drained_by=None))


def forget(connection: Connection, name: str, by: str) -> None:
    """Somebody says that the machine is gone. The server that leads takes its runs from it."""
    get(connection, name)
    which = update(hosts).where(hosts.c.name == name)
    connection.execute(which.values(forgotten_at=time.time(), forgotten_by=by))
