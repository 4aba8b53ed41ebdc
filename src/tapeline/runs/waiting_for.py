"""What a run waits for that no host takes, or whose host cannot do anything about it now.

Of runs on silent hosts, see `silent_hosts`. A queued backtest, a run whose time has not come and
one that is being installed wait for nothing that anybody has to mend.
"""

import math
from collections.abc import Sequence

from sqlalchemy import Connection, select

from tapeline.runs import described_hosts, heartbeat, leases, pythons_of_hosts
from tapeline.runs.described_hosts import NOT_IN_RAY, Host, node_of
from tapeline.runs.run import Run
from tapeline.runs.silent_hosts import Silence
from tapeline.store.backends import common_time
from tapeline.store.backends.database import Database
from tapeline.store.rows import record
from tapeline.store.tables.runs import hosts

MEGABYTE = 1024 * 1024


def reasons(
    connection: Connection, database: Database, here: str, found: Sequence[Run]
) -> dict[str, str]:
    """A sentence for each of these runs that waits for a host, by its id."""
    there = [one for one in found if one.ended_at is None]
    if not there:
        return {}
    known = {row.name: record(Host, row) for row in connection.execute(select(hosts))}
    answering = heartbeat.up(connection, database, known) | {here}
    up = {name: one for name, one in known.items() if name in answering}
    takers = {one.name: one for one in described_hosts.takers(known.values())}
    answer, now = {}, common_time.now(connection)
    for run in there:
        if run.host is not None:
            said = unwell(up.get(run.host), run)
        else:
            is_ready = run.desired == "running" and (run.due_at is None or run.due_at < now)
            said = _nobody_takes(connection, takers, up, run) if is_ready and known else None
        if said is not None:
            answer[run.id] = said
    return answer


def others_take(connection: Connection, database: Database, here: str) -> bool:
    """Whether another host takes runs now, so that this one need not be able to. Nodes take what
    the server that leads gives them, so they do not count."""
    if database.file is not None:
        return False
    known = [record(Host, row) for row in connection.execute(select(hosts))]
    names = [
        one.name
        for one in described_hosts.takers(known)
        if one.name != here and not (one.node or one.trouble) and one.drained_at is None
    ]
    return bool(heartbeat.up(connection, database, names))


def ends(connection: Connection, found: Sequence[Run]) -> dict[str, str]:
    """A sentence for each of these runs that is to stop and ends by itself, by its id: its node
    cannot be told, and its lease is not renewed any more."""
    leased = [one for one in found if one.ended_at is None and _ends_with_its_lease(one)]
    if not leased:
        return {}
    cut_off = set(connection.scalars(select(hosts.c.name).where(hosts.c.trouble == NOT_IN_RAY)))
    now = common_time.now(connection)
    return {one.id: _ending(one, now) for one in leased if one.host in cut_off}


def _ends_with_its_lease(run: Run) -> bool:
    """If its node is one that Ray does not reach; see `leases.renew`."""
    return run.desired == "stopped" and run.lease_until is not None


def _ending(run: Run, now: float) -> str:
    left = math.ceil(max(0.0, (run.lease_until or 0.0) - now) + leases.MARGIN)
    within = "1 second" if left == 1 else f"{left} seconds"
    return f"It ends with its lease, within {within}: Ray does not reach its node {run.host}."


def unwell(host: Host | None, run: Run) -> str | None:
    """Whatever else a node lacks, it goes on with the runs that it has, and stops them."""
    if host is None or not host.trouble:
        return None
    if run.is_launched and host.node:
        if host.trouble != NOT_IN_RAY or _ends_with_its_lease(run):
            return None
        return (
            f"It lives on at its node {host.name}, which cannot be told anything now:"
            f" {host.trouble}. `tapeline hosts` lists all."
        )
    return (
        f"It waits for its host {host.name}, which can do nothing about its runs now:"
        f" {host.trouble}. It goes on when that is mended; `tapeline hosts` lists all."
    )


def _nobody_takes(
    connection: Connection, known: dict[str, Host], up: dict[str, Host], run: Run
) -> str | None:
    able = {name: one for name, one in known.items() if _may_have(one, run)}
    if not able:
        return (
            f"It waits for a host with Python {run.python_version}: no host has it any more."
            " Install it on one of them, or deploy the model with another Python."
        )
    here = {name: one for name, one in up.items() if name in able}
    if not here:
        silent = [Silence(one, heartbeat.last_of(connection, one)) for one in sorted(able)]
        said = ", ".join(f"{one.host}, which does not answer and {one.since()}" for one in silent)
        return (
            f"It waits for a host with Python {run.python_version}. Only these have it: {said}."
            " Start one of them again, or install that Python on another host."
        )
    taking = [one for one in here.values() if one.drained_at is None]
    if not taking:
        return (
            "It waits for a host that takes runs: these are drained:"
            f" {', '.join(sorted(here))}. To let one take runs again: tapeline hosts undrain"
        )
    if all(one.trouble for one in taking):
        said = "; ".join(f"{one.name}: {one.trouble}" for one in taking)
        return f"It waits for a host. Those that could run it can start nothing now: {said}."
    well = [one for one in taking if not one.trouble]
    return None if any(_has_room(one, run) for one in well) else _no_room(well, run)


def _no_room(nodes: list[Host], run: Run) -> str:
    cores = "1 core" if run.cpu_milli == 1000 else f"{run.cpu_milli / 1000:g} cores"
    its_plan = f"It waits for room: its plan takes {cores} and {run.memory_mb} MB,"
    again = "run" if run.kind == "backtest" else "deploy"
    if not any(_is_large_enough(one, run) for one in nodes):
        return (
            f"{its_plan} more than any node has that could run it."
            f" Add a larger node, or {again} it with a smaller plan."
        )
    return (
        f"{its_plan} and no node that could run it has both free."
        f" Stop another model, add a node, or {again} it with a smaller plan."
    )


def _has_room(host: Host, run: Run) -> bool:
    """A host that is not a node takes whatever it is given. A backtest may wait for those
    before it; only what a node has at all says that there will never be room."""
    node = node_of(host)
    if node is None or run.kind == "backtest":
        return _is_large_enough(host, run)
    return _fits(run, node.cores_free, node.memory_free)


def _is_large_enough(host: Host, run: Run) -> bool:
    node = node_of(host)
    return node is None or _fits(run, node.cores, node.memory)


def _fits(run: Run, cores: float, memory: int) -> bool:
    return cores * 1000 >= run.cpu_milli and memory >= run.memory_mb * MEGABYTE


def _may_have(host: Host, run: Run) -> bool:
    return host.forgotten_at is None and pythons_of_hosts.has(host, run.python_version)
