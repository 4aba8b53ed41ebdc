"""The health of this server, for its operator."""

from typing import Annotated

import msgspec
from sqlalchemy import Connection
from starlette.responses import Response

from tapeline import __version__
from tapeline.accounts import audit
from tapeline.background import State as Work
from tapeline.errors import Unavailable
from tapeline.health.examination import Row
from tapeline.health.verdict import State
from tapeline.http.core.answers import Gives
from tapeline.http.core.endpoint import Call
from tapeline.http.core.services import Services
from tapeline.runs import described_hosts, hosts, pythons_of_hosts
from tapeline.runs.described_hosts import Node
from tapeline.store.backends.slowest import Slow


class ShownWork(msgspec.Struct):
    """A loop or a kind of task beside the requests."""

    name: str
    state: State
    turns: int
    failures: int
    silent: float
    """Seconds since its last progress."""
    last_error: str
    """Of its last failure, however long ago; empty if it never failed."""


class ShownHealth(msgspec.Struct):
    version: str
    at: float
    """When this was found out."""
    state: State
    """The worst of all rows."""
    rows: list[Row]
    work: list[ShownWork]
    slowest: list[Slow]
    """Statements of the last hour, without their values; the slowest first."""
    hosts: list["ShownHost"]
    """The machines that run models; those with most runs first."""
    host: str
    """By which name `tapeline hosts` lists this server; empty if it runs no models."""
    data: str
    """Its data directory, for `--data` of commands on its machine."""


class ShownHost(msgspec.Struct, kw_only=True):
    """A machine that runs models of this installation."""

    name: str
    machine: str
    version: str
    """Of Tapeline; empty for one that has not said it."""
    state: hosts.State
    trouble: str
    """Why it is unwell."""
    seen_at: float | None
    """When its server was last heard of, where several share a database."""
    running: int
    """Runs that have not ended."""
    drained_at: float | None
    forgotten_by: str | None
    pythons: list[str]
    """Versions, such as 3.13; empty for one that has not said them."""
    node: Node | None
    """What is only known of a node of a cluster; null for a server."""


class Drained(msgspec.Struct):
    host: str
    drained: bool


async def show_health(call: Call) -> Annotated[Response, Gives(ShownHealth)]:
    """The state of every part of this server, with what to do; for its operator."""
    services = call.services
    found = await services.health.examine()
    shown = ShownHealth(
        __version__,
        found.at,
        found.state,
        found.rows,
        [_shown(one) for one in services.background.states()],
        services.store.database.slowest.list(),
        await _hosts(services),
        services.runner.host_name,
        str(services.settings.data),
    )
    headers = {"Cache-Control": "no-store"}
    return Response(msgspec.json.encode(shown), media_type="application/json", headers=headers)


def drain_host(connection: Connection, call: Call) -> Drained:
    """From now on a host takes no runs, and its live models move to other hosts one by one."""
    name = call.path("host")
    described_hosts.drain(connection, name, f"the operator {call.actor.label}")
    audit.record(connection, call.actor, "host_drained", f"host:{name}")
    return Drained(name, True)


def undrain_host(connection: Connection, call: Call) -> Drained:
    """Let a host take runs again."""
    name = call.path("host")
    described_hosts.undrain(connection, name)
    audit.record(connection, call.actor, "host_undrained", f"host:{name}")
    return Drained(name, False)


async def _hosts(services: Services) -> list[ShownHost]:
    """None while the database is away: the rows say that."""
    database, here = services.store.database, services.runner.host_name
    try:
        found = await services.store.read(hosts.all_of, database, here)
    except Unavailable:
        return []
    return [
        ShownHost(
            name=one.host.name,
            machine=one.host.machine,
            version=one.host.version,
            state=one.state,
            trouble=one.host.trouble,
            seen_at=one.seen_at,
            running=one.running,
            drained_at=one.host.drained_at,
            forgotten_by=one.host.forgotten_by,
            pythons=[python.version for python in pythons_of_hosts.of(one.host)],
            node=described_hosts.node_of(one.host),
        )
        for one in found
    ]


def _shown(work: Work) -> ShownWork:
    late: State = "red" if work.essential else "yellow"
    state: State = late if work.overdue else "yellow" if work.in_a_row else "green"
    return ShownWork(
        work.name, state, work.turns, work.failures, round(work.silent, 1), work.last_error
    )
