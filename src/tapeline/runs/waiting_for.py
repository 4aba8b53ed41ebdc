"""What a run waits for that no host takes, or whose host cannot do anything about it now.

Of runs on silent hosts, see `silent_hosts`. A queued backtest, a run whose time has not come and
one that is being installed wait for nothing that anybody has to mend.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from tapeline.runs import described_hosts, heartbeat, pythons_of_hosts
from tapeline.runs.described_hosts import Host, node_of
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
            said = unwell(up.get(run.host))
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


def unwell(host: Host | None) -> str | None:
    if host is None or not host.trouble:
        return None
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
    return None if any(_has_room(one, run) for one in taking) else _no_room(run)


def _no_room(run: Run) -> str:
    cores = "1 core" if run.cpu_milli == 1000 else f"{run.cpu_milli / 1000:g} cores"
    its_plan = f"It waits for room: its plan takes {cores} and {run.memory_mb} MB,"
    if run.kind == "backtest":
        return (
            f"{its_plan} more than any node has that could run it."
            " Add a larger node, or run it with a smaller plan."
        )
    return (
        f"{its_plan} and no node that could run it has both free."
        " Stop another model, add a node, or deploy it with a smaller plan."
    )


def _has_room(host: Host, run: Run) -> bool:
    """A host that is not a node takes whatever it is given. A backtest may wait for those
    before it; only what a node has at all says that there will never be room."""
    if host.trouble:
        return False
    if (node := node_of(host)) is None:
        return True
    cores, memory = node.cores_free, node.memory_free
    if run.kind == "backtest":
        cores, memory = node.cores, node.memory
    return cores * 1000 >= run.cpu_milli and memory >= run.memory_mb * MEGABYTE


def _may_have(host: Host, run: Run) -> bool:
    return host.forgotten_at is None and pythons_of_hosts.has(host, run.python_version)
